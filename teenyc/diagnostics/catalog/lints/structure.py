"""W: names, code and attributes that do not do what they seem to."""

from __future__ import annotations

from teenyc.diagnostics.catalog.lints.lint import Lint
from teenyc.diagnostics.model import Fix, Label
from teenyc.record import field, record
from teenyc.source import Span


@record(kw_only=True)
class HidesIntrinsic(Lint):
    """A function of the file has the name of an intrinsic and hides it in every call.

    fn sum(a: f32, b: f32) -> f32 { a + b }     // `sum(x, axis = 0)` no longer reduces
    fn add_both(a: f32, b: f32) -> f32 { a + b }
    """

    code = "W0104"
    lint = "hidden_intrinsic"
    name: str

    def message(self) -> str:
        return f"the function `{self.name}` hides the intrinsic of that name"

    def help(self) -> str:
        return "give it another name"


@record(kw_only=True)
class OpaqueOp(Lint):
    """The `new` of an Op struct computes a kernel's constants in host code, so there is no class for it in Python.

    Followed are parameters of `new`, integers, and sums, products and quotients of them.

        forward: RowForward::<D>::new(tiles.pick(n))        // the struct is left out
        forward: RowForward::<D>::new(n * 2)

    The kernels of the file are there all the same.
    """

    code = "W0108"
    name: str
    field: str

    def message(self) -> str:
        return f"the Op `{self.name}` is left out: host code computes the constants of `{self.field}`"

    def help(self) -> str:
        return "bind the kernels in Python, or pass the constants to `new`"


@record(kw_only=True)
class UnreachableCode(Lint):
    """Statements stand behind a `return`, a `break` or a `continue` and never run.

    return;
    store(x, 1.0);      // never runs
    """

    code = "W0107"
    jump: Span

    def message(self) -> str:
        return "unreachable statement"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.jump, "any code behind this is unreachable"),)

    def help(self) -> str:
        return "remove it"


@record(kw_only=True)
class UnknownLint(Lint):
    """`#[allow(teenyc::…)]` names a lint that teenyc does not have, so it allows nothing.

    #[allow(teenyc::same_adress)]
    #[allow(teenyc::same_address)]
    """

    code = "W0119"
    name: str
    similar: str | None = None

    def message(self) -> str:
        return f"no lint is called `{self.name}`"

    def help(self) -> str:
        if self.similar is not None:
            return f"a similar name exists: `teenyc::{self.similar}`"
        return "`teenyc explain` of the code that a report shows says what its lint is called"

    def fix(self) -> Fix | None:
        return Fix(self.span, f"teenyc::{self.similar}") if self.span and self.similar else None


@record(kw_only=True)
class UnusedAllow(Lint):
    """An `#[allow(…)]` or `#[expect(…)]` names a lint that has nothing to say there. It would hide the next mistake.

        #[allow(same_address, reason = "launched once")]
        store(x + program_id(0), 1.0);      // each program writes to its own address
        store(x + program_id(0), 1.0);

    Not reported are lints that only a run or fixed constants bring, and, where host code stands beside the kernels,
    names that Rust's compiler knows too.
    """

    code = "W0121"
    name: str
    cut: Span = field(compare=False)

    def message(self) -> str:
        return f"`{self.name}` is allowed here and would not be reported"

    def label(self) -> str:
        return "silences nothing"

    def help(self) -> str:
        return "remove it"

    def fix(self) -> Fix:
        return Fix(self.cut, "")


@record(kw_only=True)
class WrongReason(Lint):
    """The `reason` of an `#[allow(…)]` is a string.

    #[allow(float_atomic, reason = bins)]
    #[allow(float_atomic, reason = "the bins are compared within a tolerance")]
    """

    code = "W0122"

    def message(self) -> str:
        return "the reason of an attribute is a string"

    def label(self) -> str:
        return "no string"

    def help(self) -> str:
        return "write what is meant between quotes"


@record(kw_only=True)
class UnreachablePattern(Lint):
    """An arm of a `match`, or one of its alternatives, that no value reaches: what stands before it takes them all.

    match n { 0 => 1, _ => 2, 5 => 3 }              // 5 is taken by `_`
    match n { 0 => 1, 5 => 3, 0 | 6 => 4, _ => 2 }  // the first arm takes 0
    match n { 0 => 1, 5 => 3, 6 => 4, _ => 2 }
    """

    code = "W0132"
    lint = "unreachable_patterns"
    is_alternative: bool = False

    def message(self) -> str:
        return "unreachable pattern" if self.is_alternative else "unreachable arm"

    def label(self) -> str:
        return "what stands before it takes its values" if self.is_alternative else "the arms before it take its values"

    def help(self) -> str:
        if self.is_alternative:
            return "remove it, or take its values out of what stands before"
        return "remove it, or put it before the arm that takes its values"
