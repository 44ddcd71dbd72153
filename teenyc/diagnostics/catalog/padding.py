"""Reports on `pad(NAME)`: constants that cannot be padded, and places where padding would be seen."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic, Label
from teenyc.record import record
from teenyc.source import Span


@record(kw_only=True)
class UnknownPad(Diagnostic):
    """`pad(...)` names something that is no `i32` constant of the kernel.

    It names constants that are extents, which then need not be powers of two.

        #[kernel(pad(n))]
        fn scale<const N: i32>(x: Pointer<f32>) {}

        #[kernel(pad(N))]
        fn scale<const N: i32>(x: Pointer<f32>) {}
    """

    code = "E0390"
    name: str | None
    similar: str | None = None

    def message(self) -> str:
        if self.name is None:
            return "`pad` takes names of constants"
        return f"`pad` names `{self.name}`, which is no `i32` constant of this kernel"

    def help(self) -> str | None:
        if self.name is None:
            return "write `pad(NAME)`, or `pad(NAME, OTHER)`"
        return f"a similar constant exists: `{self.similar}`" if self.similar else None


@record(kw_only=True)
class CannotPad(Diagnostic):
    """Here the lanes that `pad(NAME)` adds to an axis would be seen, or the axis cannot be padded at all.

    Padding goes at the end of an axis, and every operation must be able to leave it out. A range is padded if its
    length is a product with the constant, or a quotient by a power of two. Elements of a padded axis keep their places:
    `flip`, `cat` and most reshapes along it cannot.

        let x = load(p + arange(0, N));             // N is padded
        store(p + arange(0, N), flip(x, 0));
        store(p + (N - 1 - arange(0, N)), x);       // the same without moving the padding
    """

    code = "E0391"
    why: str
    names: tuple[str, ...]
    kernel_span: Span

    def message(self) -> str:
        listed = ", ".join(f"`{name}`" for name in self.names)
        return f"{listed} cannot be padded here: {self.why}"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.kernel_span, "this kernel asks for padding"),)

    def help(self) -> str:
        return (
            "write it without moving or mixing elements of the padded axis, or leave `pad` out and give a power of two"
        )
