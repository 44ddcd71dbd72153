"""E054x: what `tile(...)` names."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic
from teenyc.record import record


@record(kw_only=True)
class UnknownTileAxis(Diagnostic):
    """`tile(...)` names what the kernel does not have. It takes the names of the axes to block: those of the program's
    index, or of what that is taken apart into, and of counters of loops.

        #[kernel(tile(rows, k))]
        fn product(a: Pointer<f32>, c: Pointer<f32>, n: i32) { let row = program_id(0); }

        #[kernel(tile(row, k))]
        fn product(a: Pointer<f32>, c: Pointer<f32>, n: i32) { let row = program_id(0); }

    A bare `tile` leaves the choice to the compiler.
    """

    code = "E0540"
    name: str | None
    known: tuple[str, ...]
    similar: str | None = None

    def message(self) -> str:
        if self.name is None:
            return "`tile` takes names of axes"
        return f"`tile` names `{self.name}`, which this kernel does not have"

    def label(self) -> str:
        return "no program index and no counter has this name" if self.name is not None else "this is no name"

    def notes(self) -> tuple[str, ...]:
        return _known(self.known)

    def help(self) -> str | None:
        return f"there is an axis with a similar name: `{self.similar}`" if self.similar else None


@record(kw_only=True)
class NotAnAxis(Diagnostic):
    """`tile(...)` names a value of the kernel that no axis can be. Blocks are taken of programs, by the index of the
    program, and of iterations, by the counter of their loop.

        #[kernel(tile(n))]          // `n` is how many there are
        #[kernel(tile(row, k))]     // `let row = program_id(0);`, `for k in 0..n`
    """

    code = "E0541"
    name: str
    known: tuple[str, ...]

    def message(self) -> str:
        return f"`tile` names `{self.name}`, which is no axis"

    def label(self) -> str:
        return "neither an index of the program nor the counter of a loop"

    def notes(self) -> tuple[str, ...]:
        return _known(self.known)


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    listed = ", ".join(f"`{name}`" for name in names)
    return (f"axes of this kernel are {listed}" if listed else "this kernel has no axis with a name",)
