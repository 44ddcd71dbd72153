"""E03xx: types and shapes that do not meet."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic, Fix, Label
from teenyc.record import record
from teenyc.source import Span


@record(kw_only=True)
class MismatchedOperands(Diagnostic):
    """The two sides of an operator have different element types, and nothing converts by itself.

    An `f32` scalar may meet a float tensor of `D`; all else is converted by `as` or `cast`.

        let y = n * x;              // n: i32, x: f32
        let y = n as f32 * x;
    """

    code = "E0301"
    operator: str
    left: str
    right: str
    left_span: Span
    right_span: Span
    convert: str = ""

    def message(self) -> str:
        return f"`{self.operator}` needs two values of one type, found `{self.left}` and `{self.right}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.left_span, f"this is `{self.left}`"), Label(self.right_span, f"this is `{self.right}`"))

    def help(self) -> str | None:
        if "Descriptor" in self.left + self.right:
            return None
        if "bool" in (self.left, self.right) or "<bool" in self.left + self.right:
            return "masks are no numbers: choose with `where_(mask, a, b)`, or convert on purpose with `as i32`"
        return f"convert one side, for example with `as {self.convert or self.left}`"


@record(kw_only=True)
class MismatchedShapes(Diagnostic):
    """The shapes of two values do not broadcast for every value of the constants.

    Shapes align at the last axis, and an extent of 1 meets any other. `[M]` meets `[N]` only where
    `static_assert(M == N)` comes before.

        let s = row + col;                                  // [M] and [N]
        let s = row[(.., None)] + col[(None, ..)];          // [M, N]
    """

    code = "E0302"
    left: str
    right: str
    left_span: Span
    right_span: Span
    extents: tuple[str, str]
    function: str = ""

    def message(self) -> str:
        place = f" in `{self.function}`" if self.function else ""
        return f"shapes `{self.left}` and `{self.right}` do not fit together{place}"

    def label(self) -> str:
        return f"shape `{self.right}`" if self.span == self.right_span else ""

    def secondary(self) -> tuple[Label, ...]:
        right = () if self.span == self.right_span else (Label(self.right_span, f"shape `{self.right}`"),)
        return (Label(self.left_span, f"shape `{self.left}`"), *right)

    def notes(self) -> tuple[str, ...]:
        return (f"shapes align at the last axis, and there `{self.extents[0]}` meets `{self.extents[1]}`",)

    def help(self) -> str:
        axes = "add axes of extent 1 with `x[(.., None)]` or `x[(None, ..)]`"
        if all(extent.isidentifier() for extent in self.extents):
            return f'{axes}; if the two are equal, `static_assert({" == ".join(self.extents)}, "…")` says so'
        return axes


@record(kw_only=True)
class MismatchedTypes(Diagnostic):
    """A value has another type than its place needs.

    let n: i32 = 1.5;           // expected `i32`, found `f32`
    let n: f32 = 1.5;
    """

    code = "E0303"
    expected: str
    found: str
    why: str = ""
    convert: str | None = None
    advice: str | None = None

    def message(self) -> str:
        expected = self.expected if self.expected.startswith(("a ", "an ")) else f"`{self.expected}`"
        return f"expected {expected}, found `{self.found}`"

    def label(self) -> str:
        return self.why

    def help(self) -> str | None:
        return f"convert it with `as {self.convert}`" if self.convert else self.advice


@record(kw_only=True)
class ChangedType(Diagnostic):
    """An assignment would change the type or the shape of a variable.

    A variable keeps the type and shape of its declaration, since a loop carries it from one iteration to the next.

        let mut acc = 0.0;                  // a scalar
        acc = acc + load(p + arange(0, 128));       // [128]: error
        let mut acc = zeros::<f32>(&[128]);
    """

    code = "E0304"
    name: str
    declared: str
    found: str
    declared_span: Span
    advice: str | None

    def message(self) -> str:
        return f"`{self.name}` is {self.declared} where it is declared and {self.found} here"

    def label(self) -> str:
        return f"this is {self.found}"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.declared_span, f"declared as {self.declared} here"),)

    def help(self) -> str | None:
        return self.advice


@record(kw_only=True)
class LiteralKind(Diagnostic):
    """A float literal meets integers, or an integer literal meets floats.

    Rust does not convert literals, and a kernel that did would hide a rounding.

        let y = x * 2;      // x: f32
        let y = x * 2.0;
    """

    code = "E0305"
    literal: str
    other: str
    is_float: bool
    place: str = ""

    def message(self) -> str:
        kind = "float" if self.is_float else "integer"
        return f"the {kind} literal `{self.literal}` meets a value of type `{self.other}`{self.place}"

    def help(self) -> str:
        if not self.is_float:
            return f"write `{self.literal}.0`"
        whole = self.literal.removesuffix(".0")
        return (
            f"write `{whole}`, or convert the other side with `as f32`"
            if whole.isdigit()
            else ("convert the other side with `as f32`")
        )

    def fix(self) -> Fix | None:
        return None if self.is_float or self.span is None else Fix(self.span, f"{self.literal}.0")


@record(kw_only=True)
class UndefinedOperator(Diagnostic):
    """An operator is used on a type that it has no meaning for.

    Masks are `bool`: no arithmetic on them. Integers have no `!` of floats, floats no `&` and no shifts.

        let n = mask + mask;                    // error
        let n = mask as i32 + mask as i32;
    """

    code = "E0306"
    operator: str
    type: str
    operand: Span | None = None

    def message(self) -> str:
        return f"`{self.operator}` has no meaning for `{self.type}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.operand, f"this is `{self.type}`"),) if self.operand else ()

    def help(self) -> str | None:
        if "Pointer" in self.type:
            return "pointers are only moved, by integers: `p + off`; compare and compute with the offsets"
        if "bool" in self.type:
            return "convert masks with `as i32` on purpose"
        if self.operator == "^":
            return "`^` is the exclusive or of integers; a square is `x * x`"
        if self.operator == "!":
            return "`!` inverts bools and integers; a number is compared: `x == 0.0`"
        if self.operator in ("&", "|", "<<", ">>"):
            return "convert to an integer first: `as i32`"
        return "convert to a signed integer first: `as i32`" if self.operator == "-" else None


@record(kw_only=True)
class MismatchedBranches(Diagnostic):
    """The branches of an `if` or `match` give values of different types or shapes.

    let y = if c { 1.0 } else { zeros::<f32>(&[N]) };       // error
    let y = if c { full(&[N], 1.0) } else { zeros::<f32>(&[N]) };
    """

    code = "E0316"
    first: str
    second: str
    first_span: Span

    def message(self) -> str:
        return f"the branches give {_given(self.first)} and {_given(self.second)}"

    def label(self) -> str:
        return f"this is {_given(self.second)}"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first_span, f"this is {_given(self.first)}"),)

    def help(self) -> str:
        if "no value" in (self.first, self.second):
            return "every branch gives a value, without a `;` behind it; add `else { … }`, or `_ => …` to a `match`"
        if ("Tensor" in self.first) != ("Tensor" in self.second):
            return "make a tensor of the number with `full(&[…], x)`, or choose element by element with `where_`"
        return "make both the same: convert one with `as`, or give it the other's shape"


def _given(type: str) -> str:
    return type if type.startswith("no ") or type.endswith(" values") else f"`{type}`"
