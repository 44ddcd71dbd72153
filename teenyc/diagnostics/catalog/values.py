"""E0375 to E0389: what operators, conditions and branches ask of values."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic, Label
from teenyc.record import record
from teenyc.source import Span


@record(kw_only=True)
class DifferentWidths(Diagnostic):
    """`bitcast` reads the bits of a value as another type, which must have as many.

    let y = bitcast::<i32>(x);          // x: f64
    let y = bitcast::<i64>(x);
    """

    code = "E0376"
    source: str
    target: str
    widths: tuple[int, int]

    def message(self) -> str:
        return f"`bitcast` needs types of the same width, found `{self.source}` and `{self.target}`"

    def label(self) -> str:
        return f"this has {self.widths[0]} bits, `{self.target}` has {self.widths[1]}"

    def help(self) -> str:
        return f"take a type of {self.widths[0]} bits, or convert the value with `as {self.target}`"


@record(kw_only=True)
class NotAnOffset(Diagnostic):
    """A pointer is moved by whole elements: by an integer, or a tensor of integers.

    let q = p + x;              // x: f32
    let q = p + x as i32;
    """

    code = "E0377"
    found: str
    pointer: str
    pointer_span: Span

    def message(self) -> str:
        return f"a pointer is moved by an integer, found `{self.found}`"

    def label(self) -> str:
        return f"this is `{self.found}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.pointer_span, f"this is `{self.pointer}`"),)

    def help(self) -> str | None:
        if "Pointer" in self.found:
            return "pointers are not added or subtracted; move one of them by an integer"
        return "offsets count elements: write an integer, or convert with `as i32`"
