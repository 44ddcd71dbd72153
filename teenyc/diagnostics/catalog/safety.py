"""E045x: accesses of which a kernel asks that they are proven."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic, Label
from teenyc.record import record
from teenyc.source import Span


@record(kw_only=True)
class UnprovenAccess(Diagnostic):
    """A kernel says `deny(unproven)`, and an access is proven neither for all sizes nor by what a launch can check.

    What is proven follows from the attributes `grid` and `shape`, from the bounds of loops, from masks and from
    conditions. `teenyc check --safety` shows the same of every access.

        #[kernel(grid = [rows], shape(x = [rows, N], y = [rows]), deny(unproven))]
        fn firsts<const N: i32>(x: Pointer<f32>, y: Pointer<f32>, rows: i32) {
            let row = program_id(0);
            store(y + row, load(x + row * N + N));            // of the last row, beyond the end
        }

        #[kernel(grid = [rows], shape(x = [rows, N], y = [rows]), deny(unproven))]
        fn firsts<const N: i32>(x: Pointer<f32>, y: Pointer<f32>, rows: i32) {
            let row = program_id(0);
            store(y + row, load(x + row * N));
        }
    """

    code = "E0450"
    kind: str
    tensor: str
    what: str
    reason: str
    advice: str = ""
    place: Span | None = None

    def message(self) -> str:
        of = f" of `{self.tensor}`" if self.tensor else ""
        return f"this `{self.kind}`{of} is not proven {self.what}"

    def label(self) -> str:
        return self.reason

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.place, "this"),) if self.place is not None else ()

    def help(self) -> str | None:
        return self.advice or None
