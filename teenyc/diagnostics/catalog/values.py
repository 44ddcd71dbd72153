"""E0375 to E0389: what operators, conditions and branches ask of values."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic, Fix, Label
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


@record(kw_only=True)
class LogicalOnMasks(Diagnostic):
    """`&&` and `||` join two conditions, each one bool. Masks, which are tensors, are joined by `&` and `|`.

    These bind tighter than comparisons, which therefore need parentheses.

        let m = rows < n && columns < k;
        let m = (rows < n) & (columns < k);
    """

    code = "E0375"
    operator: str
    operands: tuple[tuple[str, Span], ...]
    is_replaceable: bool

    def message(self) -> str:
        return f"`{self.operator}` joins two bools, not masks"

    def secondary(self) -> tuple[Label, ...]:
        return tuple(Label(span, f"this is `{found}`") for found, span in self.operands if found)

    def help(self) -> str:
        advice = f"write `{self.operator[0]}` between masks"
        return advice if self.is_replaceable else f"{advice}, with parentheses around comparisons"

    def fix(self) -> Fix | None:
        return Fix(self.span, self.operator[0]) if self.is_replaceable and self.span else None


@record(kw_only=True)
class NotACondition(Diagnostic):
    """A condition is one bool: a program takes one branch. For each element of a tensor `where_` chooses.

    if x > 0.0 { y = x; }               // x: a tensor
    y = where_(x > 0.0, x, y);

    if n { y = x; }                     // n: i32
    if n != 0 { y = x; }
    """

    code = "E0378"
    found: str

    def message(self) -> str:
        return f"expected `bool`, found `{self.found}`"

    def label(self) -> str:
        return "a condition is one bool"

    def help(self) -> str:
        if "Tensor" in self.found:
            return "choose element by element with `where_(mask, a, b)`, or make one bool with `max(mask as i32) > 0`"
        return "compare it: `x != 0`"


@record(kw_only=True)
class MatchedTensor(Diagnostic):
    """A `match` compares one value with its patterns, since a program takes one arm. A tensor has many values.

    let y = match x { 0 => 1.0, _ => 2.0 };         // x: a tensor
    let y = where_(x == 0, 1.0, 2.0);
    """

    code = "E0380"
    found: str
    pattern: Span

    def message(self) -> str:
        return f"`match` needs a scalar, found `{self.found}`"

    def label(self) -> str:
        return "a value for each element"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.pattern, "compared with one value"),)

    def help(self) -> str:
        return "choose element by element with `where_(x == …, a, b)`"


@record(kw_only=True)
class LoopPattern(Diagnostic):
    """A `for` counts: it gives one number an iteration, which has one name.

    for (i, x) in 0..n {}
    for i in 0..n {}
    """

    code = "E0379"

    def message(self) -> str:
        return "a range gives one number, not a tuple"

    def help(self) -> str:
        return "write one name: `for i in a..b`"
