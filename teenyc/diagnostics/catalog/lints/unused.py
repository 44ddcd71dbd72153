"""W: what nothing reads, calls or uses."""

from __future__ import annotations

from teenyc.diagnostics.catalog.lints.lint import Lint
from teenyc.diagnostics.model import Fix
from teenyc.record import field, record
from teenyc.source import Span


@record(kw_only=True)
class _UnusedName(Lint):
    """A name that nothing reads. It `is_free` if it stands nowhere else, so that another one may take its place."""

    name: str
    is_free: bool = True

    def help(self) -> str:
        return f"remove it, or call it `_{self.name}` if that is meant"

    def fix(self) -> Fix | None:
        return Fix(self.span, f"_{self.name}") if self.span and self.is_free else None


@record(kw_only=True)
class UnusedVariable(_UnusedName):
    """A `let` gives a name to a value that nothing reads. Its line does not appear in the generated kernel.

    let scale = 1.0;        // never used
    let _scale = 1.0;       // says that this is meant
    """

    code = "W0101"
    lint = "unused_variables"

    def message(self) -> str:
        return f"unused variable `{self.name}`"


@record(kw_only=True)
class UnusedMutable(Lint):
    """A variable is declared `mut` but never assigned again. Readers will look for the assignment.

    let mut n = 4;      // never changes
    let n = 4;
    """

    code = "W0102"
    lint = "unused_mut"
    name: str
    mut: Span | None = field(default=None, compare=False)

    def message(self) -> str:
        return f"variable `{self.name}` need not be mutable"

    def help(self) -> str:
        return "remove `mut`"

    def fix(self) -> Fix | None:
        return Fix(self.mut, "") if self.mut else None


@record(kw_only=True)
class UnusedParameter(_UnusedName):
    """A parameter is never read. Callers pass it for nothing.

        fn scale(x: Pointer<f32>, n: i32) { store(x, 1.0); }        // `n` is unused
        fn scale(x: Pointer<f32>, _n: i32) { store(x, 1.0); }       // says that this is meant

    `--fix` renames no parameter of a kernel: launches in other files may name it.
    """

    code = "W0103"
    lint = "unused_variables"

    def message(self) -> str:
        return f"unused parameter `{self.name}`"


@record(kw_only=True)
class UnusedResult(Lint):
    """A call gives a value that nothing takes, and does nothing else.

    advance(block, &[0, BLOCK]);            // gives a pointer that is further, and moves nothing
    block = advance(block, &[0, BLOCK]);
    """

    code = "W0124"
    lint = "unused_must_use"
    function: str | None

    def message(self) -> str:
        return "the result of this call is not used"

    def label(self) -> str:
        return f"`{self.function}` has no other effect" if self.function else "it has no other effect"

    def help(self) -> str:
        return "assign it to a variable, or remove the call"


@record(kw_only=True)
class UnusedOperation(Lint):
    """A statement computes a value that nothing takes, and does nothing else.

    n == 5;         // compares
    n = 5;          // assigns
    --n;            // negates twice
    n -= 1;
    """

    code = "W0133"
    lint = "unused_must_use"
    kind: str
    instead: str | None

    def message(self) -> str:
        return f"{self.kind} without effect"

    def label(self) -> str:
        return "its value is not used"

    def help(self) -> str:
        return self.instead or "give it a name with `let`, or remove it"


@record(kw_only=True)
class ValueNeverRead(Lint):
    """A value is assigned to a variable and overwritten, or the kernel ends, before anything reads it.

    let mut acc = 0.0;
    acc = load(x);      // the 0.0 is never read
    store(y, acc);
    """

    code = "W0105"
    lint = "unused_assignments"
    name: str

    def message(self) -> str:
        return f"the value assigned to `{self.name}` is never read"

    def help(self) -> str:
        return "remove the assignment, or read the value"


@record(kw_only=True)
class UnusedComparison(Lint):
    """A comparison always gives the same because of the type of its operands.

    if count >= 0 { … }         // count: u32
    if count > 0 { … }
    """

    code = "W0118"
    lint = "unused_comparisons"
    type: str
    outcome: bool

    def message(self) -> str:
        return f"this comparison is always {str(self.outcome).lower()}"

    def label(self) -> str:
        return f"no `{self.type}` is beyond this number"

    def help(self) -> str:
        return "remove it, or compare with another number"


@record(kw_only=True)
class UnusedFunction(_UnusedName):
    """Nothing calls a function or names it.

    fn half(x: f32) -> f32 { x * 0.5 }      // nobody calls it: remove it, or call it `_half`
    """

    code = "W0120"
    lint = "dead_code"

    def message(self) -> str:
        return f"unused function `{self.name}`"
