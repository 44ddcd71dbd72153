"""E03xx: what has no value, and patterns that do not cover one."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic
from teenyc.record import record


@record(kw_only=True)
class NoValue(Diagnostic):
    """A value is needed, but the expression gives none, or several.

    let y = store(p, x);        // a store gives nothing
    let (a, b) = x;             // x is one value
    """

    code = "E0317"
    found: str
    needed: str = "a value"

    def message(self) -> str:
        return f"{self.needed} is needed, but this gives {self.found}"

    def help(self) -> str | None:
        if self.found == "no value":
            return "only a last expression without `;` gives a value; what writes to memory gives none"
        return "name each: `let (a, b) = …`" if self.found.endswith(" values") and self.needed == "a value" else None


@record(kw_only=True)
class NeverInitialised(Diagnostic):
    """A `let` without a value; kernels give every variable a value when they declare it.

    let acc;                                // error
    let mut acc = zeros::<f32>(&[N]);
    """

    code = "E0318"
    name: str

    def message(self) -> str:
        return f"`{self.name}` is declared without a value"

    def help(self) -> str:
        return f"give it one: `let mut {self.name} = …`"


@record(kw_only=True)
class NotExhaustive(Diagnostic):
    """The arms of a `match` leave out values, and a `match` takes every value.

    match n { 0 => 1, 1 => 2 }              // error: what of 2?
    match n { 0 => 1, 1 => 2, _ => 0 }
    """

    code = "E0371"
    missing: str

    def message(self) -> str:
        return f"the arms of this `match` leave out `{self.missing}`"

    def help(self) -> str:
        return "add an arm for all other values: `_ => …`"


@record(kw_only=True)
class WrongPattern(Diagnostic):
    """A pattern that has another form than what it is compared with.

    match (a, b) { (0, 0) => 1, 1 => 2, _ => 3 }        // error: `1` is no pair
    match (a, b) { (0, 0) => 1, (1, _) => 2, _ => 3 }
    """

    code = "E0372"
    reason: str

    def message(self) -> str:
        return f"this pattern can never match: {self.reason}"
