"""What the sanitizer finds that may be meant: integers that wrap, the first NaN, elements that nobody writes."""

from __future__ import annotations

from teenyc.diagnostics.catalog.lints.lint import Lint
from teenyc.diagnostics.catalog.running import along, first_of
from teenyc.record import record


@record(kw_only=True)
class _AtLane(Lint):
    """Something that happens in programs and lanes; the first of them is shown."""

    depends = True
    program: tuple[int, ...]
    lane: tuple[int, ...]
    count: int

    def notes(self) -> tuple[str, ...]:
        return (first_of(self.program, self.lane, self.count),)


@record(kw_only=True)
class IntegerWrapped(_AtLane):
    """A sum, difference or product of signed integers is beyond what the type holds, so that its upper bits are lost.
    Found by `teenyc run --sanitize`; `wrapping_add` and kin say that it is meant.

        let n = rows * columns;
        let n = rows as i64 * columns as i64;
    """

    code = "W0701"
    operator: str
    operands: tuple[int, ...]
    type: str

    def message(self) -> str:
        return f"this {_NOUNS.get(self.operator, 'sum')} does not fit `{self.type}`"

    def label(self) -> str:
        first, *others = (f"{n:,}" for n in self.operands)
        return f"{first} {_SIGNS[self.operator]} {others[0]}" if others else f"of {first}"

    def help(self) -> str:
        return "compute in `i64`, or with a method of `wrapping_*` if it is meant"


_NOUNS = {
    "sub": "difference",
    "mul": "product",
    "div": "quotient",
    "neg": "negative",
    "abs": "absolute value",
    "prod": "product",
    "cumprod": "product",
}
_SIGNS = {"add": "+", "atomic_add": "+", "sub": "-", "mul": "*", "div": "/"}


@record(kw_only=True)
class IntegerDividedByZero(_AtLane):
    """An integer is divided by zero, or its remainder taken: a GPU makes anything of that, and this runner 0.
    Found by `teenyc run --sanitize`.

        let mean = total / count;
        let mean = if count == 0 { 0 } else { total / count };
    """

    code = "W0704"
    left: int

    def message(self) -> str:
        return "an integer is divided by zero"

    def label(self) -> str:
        return f"{self.left:,} by 0"

    def help(self) -> str:
        return "divide by something else where this is zero: `where_(d == 0, 1, d)`"


@record(kw_only=True)
class FirstNan(_AtLane):
    """The first result that is not a number although all that it is made of are. Found by `teenyc run --sanitize`.

    let m = f32::NEG_INFINITY;
    let p = exp(m - m);                 // of a row without elements
    let p = where_(n > 0, exp(m - m), 0.0);
    """

    code = "W0702"
    what: str
    given: tuple[str, ...]

    def message(self) -> str:
        return "here is the first result that is not a number"

    def label(self) -> str:
        made = f"`{self.what}`" if self.what != "this" else "made"
        return f"{made} of {' and '.join(self.given)}" if self.given else made


@record(kw_only=True)
class NotWritten(Lint):
    """A tensor that the kernel only writes has elements that no program wrote. Found by `teenyc run --sanitize`.

    Mostly the grid is too small, or a mask covers too much.

        teenyc run scale.tk scale --sanitize --grid 3 --arg 'y=empty(1024)' …
        teenyc run scale.tk scale --sanitize --grid 4 --arg 'y=empty(1024)' …
    """

    code = "W0703"
    depends = True
    tensor: str
    index: int
    count: int
    size: int
    place: tuple[int, ...] = ()

    def message(self) -> str:
        return f"{self.count:,} of the {self.size:,} elements of `{self.tensor}` were not written"

    def label(self) -> str:
        return f"the first is element {self.index:,}{along(self.tensor, self.place)}"
