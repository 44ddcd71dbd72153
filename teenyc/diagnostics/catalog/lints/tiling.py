"""W014x: kernels that ask for blocks and do not get all that they ask for."""

from __future__ import annotations

from teenyc.diagnostics.catalog.lints.lint import Lint
from teenyc.diagnostics.model import Label
from teenyc.record import record
from teenyc.source import Span


@record(kw_only=True)
class TilingRefused(Lint):
    """A kernel asks for blocks with `tile`, and is compiled as it is written, because blocks would change what it
    computes, or because the compiler cannot make them. What a loop carries must obey a law that holds for a block of
    iterations at once: a sum, a maximum, or a sum that is brought to a running maximum.

    for t in 0..n { h = tanh(w * h + load(x + t)); }    // each `h` needs the one before
    for t in 0..n { h = h + tanh(w * load(x + t)); }    // a sum

    `teenyc build --explain-tiling` says of every kernel what becomes of it.
    """

    code = "W0140"
    kernel: str
    kernel_span: Span
    why: str
    instead: str = ""

    def message(self) -> str:
        return f"kernel `{self.kernel}` asks for blocks and stays as it is"

    def label(self) -> str:
        return self.why

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.kernel_span, "this kernel says `tile`"),) if self.span != self.kernel_span else ()

    def help(self) -> str | None:
        return self.instead or None


@record(kw_only=True)
class AxisNotTiled(Lint):
    """`tile(row, k)` names an axis that stays as it is, while others of the kernel are blocked.

    #[kernel(tile(row, t))]         // for t in 0..n { h = tanh(w * h + load(x + t)); }
    #[kernel(tile(row))]
    """

    code = "W0141"
    kernel: str
    name: str
    why: str
    instead: str = ""

    def message(self) -> str:
        return f"`{self.name}` of `{self.kernel}` is to be blocked and stays as it is"

    def label(self) -> str:
        return self.why

    def help(self) -> str | None:
        return self.instead or None
