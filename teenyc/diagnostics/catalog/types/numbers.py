"""E03xx: numbers out of range, casts, indices and steps."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic
from teenyc.record import record


@record(kw_only=True)
class LiteralRange(Diagnostic):
    """A literal does not fit its type.

    let n: i32 = 3_000_000_000;     // over 2147483647
    let n: i64 = 3_000_000_000;
    """

    code = "E0312"
    value: float
    type: str
    limits: tuple[int, int] | None = None
    wider: str = ""

    def message(self) -> str:
        return f"the literal {self.value} does not fit `{self.type}`"

    def notes(self) -> tuple[str, ...]:
        return (f"`{self.type}` holds {self.limits[0]} to {self.limits[1]}",) if self.limits else ()

    def help(self) -> str | None:
        return f"it fits `{self.wider}`: write `{self.value}{self.wider}`, or state that type" if self.wider else None


@record(kw_only=True)
class DivisionByZero(Diagnostic):
    """An integer is divided by a constant zero.

    let q = n / 0;      // error
    """

    code = "E0313"
    operator: str

    def message(self) -> str:
        return "division by zero" if self.operator == "/" else "remainder of a division by zero"


@record(kw_only=True)
class InvalidCast(Diagnostic):
    """`as` converts between numbers, and from `bool` to integers; nothing else.

    let m = n as bool;      // error
    let m = n != 0;
    """

    code = "E0314"
    source: str
    target: str

    def message(self) -> str:
        return f"`{self.source}` cannot be cast to `{self.target}`"

    def help(self) -> str | None:
        if self.target == "bool":
            return "compare instead: `x != 0`"
        if "Pointer" in self.source:
            return "addresses are no numbers: `load` what they point to"
        return f"convert to an integer first: `as i32 as {self.target}`" if "bool" in self.source else None


@record(kw_only=True)
class BadIndex(Diagnostic):
    """Square brackets on a tensor only add axes of extent 1: `x[(.., None)]`, `x[(None, ..)]`.

    let a = x[0];                       // error: elements are not picked out
    let a = load(p + 0);
    """

    code = "E0315"
    reason: str

    def message(self) -> str:
        return self.reason

    def help(self) -> str:
        return "write `x[(.., None)]` for a last axis, `x[(None, ..)]` for a first one"


@record(kw_only=True)
class StepNotPositive(Diagnostic):
    """The step of a range is zero or below. Down is counted by `rev`, or by `range` with a step that is written `-2`.

    for i in (0..8).step_by(-2) {}          // error
    for i in (0..8).rev().step_by(2) {}     // 7, 5, 3, 1
    for i in range(8, 0, -2) {}             // 8, 6, 4, 2
    """

    code = "E0373"
    step: int

    def message(self) -> str:
        return f"the step of a range must be positive, this is {self.step}"

    def help(self) -> str:
        return "count down with `(a..b).rev()`, before `step_by`"
