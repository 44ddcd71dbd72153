"""E030x to E031x: types, shapes and constants that do not fit. (What a single intrinsic asks for is in `calls`.)"""

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
class WrongCount(Diagnostic):
    """A call has more or fewer arguments than the function has parameters.

    let x = maximum(a);         // missing `y`
    let x = maximum(a, b);
    """

    code = "E0307"
    function: str
    expected: str
    found: int
    missing: tuple[str, ...] = ()
    signature: tuple[str, ...] = ()
    advice: str = ""

    def message(self) -> str:
        if self.missing:
            return f"`{self.function}` misses its argument {', '.join(f'`{n}`' for n in self.missing)}"
        plural = "" if self.expected == "1" else "s"
        return f"`{self.function}` takes {self.expected} argument{plural}, {self.found} given"

    def label(self) -> str:
        return "" if self.missing else "not expected"

    def notes(self) -> tuple[str, ...]:
        return (f"it is called as `{self.function}({', '.join(self.signature)})`",)

    def help(self) -> str | None:
        return self.advice or None


@record(kw_only=True)
class GivenTwice(Diagnostic):
    """One argument is given twice, by position and by name or twice by name.

    let x = load(p, m, mask = m);       // error
    let x = load(p, mask = m);
    """

    code = "E0308"
    function: str
    name: str
    first: Span

    def message(self) -> str:
        return f"the argument `{self.name}` of `{self.function}` is given twice"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "first given here"),)


_OF_TWO = {"max": "`maximum(a, b)` is the greater of two", "min": "`minimum(a, b)` is the less of two"}
"""Reductions that other languages have for two values."""


def of_two(function: str) -> str | None:
    """What to call where a reduction is given two values; None for functions that nobody gives two."""
    return _OF_TWO.get(function)


@record(kw_only=True)
class WrongArgument(Diagnostic):
    """An argument is not the kind of thing that the parameter takes.

    Shapes are `&[N, 4]`, axes are integers known at compile time, flags are `true` or `false`.

        let x = zeros::<f32>(N);        // a shape is needed
        let x = zeros::<f32>(&[N]);
    """

    code = "E0309"
    function: str
    name: str
    needs: str
    found: str
    advice: str = ""

    def message(self) -> str:
        return f"the argument `{self.name}` of `{self.function}` needs {self.needs}"

    def label(self) -> str:
        return f"this is {self.found}"

    def help(self) -> str | None:
        return self.advice or (of_two(self.function) if self.name == "axis" else None)


@record(kw_only=True)
class NotConstant(Diagnostic):
    """A value that the compiler must know depends on something known only at run time.

    Extents, axes and flags are made from literals, `const` items and `const NAME: i32` parameters.

        fn f(x: Pointer<f32>, n: i32) { let i = arange(0, n); }                 // error
        fn f<const N: i32>(x: Pointer<f32>) { let i = arange(0, N); }
    """

    code = "E0310"
    what: str

    def message(self) -> str:
        return f"{self.what} must be known at compile time"

    def label(self) -> str:
        return "known only at run time"

    def help(self) -> str:
        return "use a `const` parameter of the kernel"


@record(kw_only=True)
class BrokenRequirement(Diagnostic):
    """A constant has a value with which the kernel cannot work.

    `arange` and tensor extents must be powers of two on a GPU; the report names the next one. A kernel with `pad(H)`
    takes any number and masks what is beyond it.

        teenyc build --set H=96 row_sum.tk      // `arange(0, H)`
        teenyc build --set H=128 row_sum.tk
    """

    code = "E0311"
    what: str
    extent: str
    value: int
    need: str

    def message(self) -> str:
        shown = f"`{self.extent}` = {self.value}" if self.extent != str(self.value) else f"{self.value}"
        return f"{self.what} must be {self.need}, found {shown}"

    def help(self) -> str | None:
        if self.need == "a power of two" and self.value > 0:
            pad = f"; or pad it: `#[kernel(pad({self.extent}))]`" if self.extent.isidentifier() else ""
            return f"the next power of two is {1 << self.value.bit_length()}{pad}"
        return None


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


def _given(type: str) -> str:
    return type if type.startswith("no ") or type.endswith(" values") else f"`{type}`"


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
class WrongGenerics(Diagnostic):
    """A call has more or fewer generic arguments, types and constants, than the function takes.

        let x = zeros::<f32, i32>(&[N]);        // error
        let x = zeros::<f32>(&[N]);

    Types follow from the arguments and may be left out. The constants of a function must all be stated.

        fn half<const N: i32>(x: Pointer<f32>) {}
        half(x);                                // error: which `N`?
        half::<64>(x);
    """

    code = "E0319"
    function: str
    expected: int
    found: int
    parameters: tuple[str, ...] = ()
    """The generic parameters of a function of the file."""
    constants: tuple[str, ...] = ()
    """The constants among them."""

    def message(self) -> str:
        types = self.expected - len(self.constants)
        counts = [(types, "type"), (len(self.constants), "constant")]
        kinds = [f"{n} {kind} argument{'' if n == 1 else 's'}" for n, kind in counts if n]
        takes = " and ".join(kinds) or "0 type arguments"
        return f"`{self.function}` takes {takes}, {self.found} given"

    def help(self) -> str | None:
        if not self.parameters:
            return None
        every = f"`{self.function}::<{', '.join(self.parameters)}>(…)`"
        short = f"`{self.function}::<{', '.join(self.constants)}>(…)`"
        return f"write {every}" + (f", or {short}" if self.constants and self.constants != self.parameters else "")


@record(kw_only=True)
class UnboundDtype(Diagnostic):
    """A dtype parameter that no pointer of the kernel is over: nothing tells the compiler what it is at the launch.

    fn f<D: Float>(n: i32) {}                       // error
    fn f<D: Float>(x: Pointer<D>, n: i32) {}
    """

    code = "E0370"
    name: str

    def message(self) -> str:
        return f"nothing binds the dtype parameter `{self.name}`"

    def help(self) -> str:
        return f"use it in a parameter: `Pointer<{self.name}>`"


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


@record(kw_only=True)
class MissingMethod(Diagnostic):
    """A method of Rust is called that has no meaning for values of a kernel: it gives an `Option`, bytes, an ordering.

    let z = x.checked_add(y).unwrap_or(0);
    let z = x.wrapping_add(y);
    """

    code = "E0357"
    name: str
    instead: str

    def message(self) -> str:
        return f"kernels have no method `{self.name}`"

    def help(self) -> str:
        return self.instead


@record(kw_only=True)
class WrongReceiver(Diagnostic):
    """A method is called on a value of a type that does not have it, as in Rust.

    let n = x.count_ones();             // x: f32
    let n = x.to_bits().count_ones();
    """

    code = "E0358"
    name: str
    needs: str
    found: str

    def message(self) -> str:
        return f"`{self.name}` needs {'an' if self.needs[0] in 'aeiou' else 'a'} {self.needs}, found `{self.found}`"

    def help(self) -> str | None:
        if "Pointer" in self.found:
            return "load what it points to: `load(…)`"
        return f"convert it on purpose: `as {'f32' if self.needs == 'float' else 'i32'}`"
