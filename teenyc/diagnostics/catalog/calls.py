"""E032x to E036x: what single intrinsics ask of their arguments, but for shapes. (Roles, counts and names: `types`.)"""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic, Label
from teenyc.record import record
from teenyc.source import Span


@record(kw_only=True)
class WrongElement(Diagnostic):
    """An argument has an element type that the function has no meaning for.

    Functions such as `exp` are for floats; integers and masks are converted on purpose. A `D: Num` may turn out an
    integer, so it counts as a float only under the bound `D: Float`.

        let y = exp(n);             // n: i32
        let y = exp(n as f32);
    """

    code = "E0320"
    function: str
    name: str
    need: str
    found: str
    advice: str | None = None

    def message(self) -> str:
        return f"the argument `{self.name}` of `{self.function}` must be {self.need}"

    def label(self) -> str:
        return f"this is `{self.found}`"

    def help(self) -> str | None:
        return self.advice


@record(kw_only=True)
class MismatchedArguments(Diagnostic):
    """Two arguments of a function must have one element type, and nothing converts by itself.

    An `f32` scalar may meet a float tensor of `D`; all else is converted by `as` or `cast`.

        let y = maximum(x, n);              // x: f32, n: i32
        let y = maximum(x, n as f32);
    """

    code = "E0321"
    function: str
    name: str
    found: str
    other: str
    expected: str
    other_span: Span

    def message(self) -> str:
        return f"the arguments `{self.other}` and `{self.name}` of `{self.function}` must have one element type"

    def label(self) -> str:
        return f"this is `{self.found}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.other_span, f"this is `{self.expected}`"),)

    def help(self) -> str:
        return f"convert one of them, for example with `as {self.expected}`"


@record(kw_only=True)
class NotAScalar(Diagnostic):
    """A function needs one number where a tensor is given.

    let y = full(&[N], x);              // x: a tensor
    let y = broadcast_to(x, &[N]);
    """

    code = "E0322"
    function: str
    name: str
    found: str
    advice: str | None = None

    def message(self) -> str:
        return f"the argument `{self.name}` of `{self.function}` must be a scalar"

    def label(self) -> str:
        return f"this is `{self.found}`"

    def help(self) -> str | None:
        return self.advice


@record(kw_only=True)
class MissingDtype(Diagnostic):
    """Nothing says what the elements of a new tensor are.

    let x = zeros(&[N]);
    let x = zeros::<f32>(&[N]);
    """

    code = "E0333"
    function: str

    def message(self) -> str:
        return f"`{self.function}` needs an element type"

    def help(self) -> str:
        return f"state it: `{self.function}::<f32>(…)`"


@record(kw_only=True)
class NotAGridAxis(Diagnostic):
    """A launch grid has three axes: 0, 1 and 2, or `Axis::X`, `Axis::Y` and `Axis::Z`.

    let p = program_id(3);
    let p = program_id(2);
    """

    code = "E0334"
    function: str
    axis: int

    def message(self) -> str:
        return f"axis {self.axis} of `{self.function}` does not exist"

    def help(self) -> str:
        return "a grid has the axes 0, 1 and 2"


@record(kw_only=True)
class StaticAssertion(Diagnostic):
    """What `static_assert` states is false whatever the constants are.

    static_assert(1 + 1 == 3, "arithmetic");
    """

    code = "E0337"
    text: str

    def message(self) -> str:
        return f"static assertion failed: {self.text}" if self.text else "static assertion failed"


@record(kw_only=True)
class UnprintableText(Diagnostic):
    """A text that is printed from the device may only hold printable ASCII characters.

    device_print("größe", n);
    device_print("size", n);
    """

    code = "E0338"
    function: str
    character: str

    def message(self) -> str:
        return f"`{self.function}` prints ASCII text only, found `{self.character}`"


@record(kw_only=True)
class UselessOption(Diagnostic):
    """An option is given to a call for which it has no meaning.

    let y = maximum(a, b, propagate_nan = "all");       // integers have no NaN
    let y = maximum(a, b);
    """

    code = "E0339"
    function: str
    name: str
    why: str

    def message(self) -> str:
        return f"`{self.name}` has no meaning for this `{self.function}`"

    def label(self) -> str:
        return self.why

    def help(self) -> str:
        return f"leave `{self.name}` out"


@record(kw_only=True)
class OutOfBounds(Diagnostic):
    """A number that is fixed at compile time is outside of what the function takes.

    let r = rand(seed, off, n_rounds = 0);
    let r = rand(seed, off);
    """

    code = "E0340"
    function: str
    name: str
    need: str
    found: str

    def message(self) -> str:
        return f"`{self.name}` of `{self.function}` must be {self.need}, found {self.found}"


@record(kw_only=True)
class DotElement(Diagnostic):
    """`dot` multiplies floats, or `i8` into an `i32` accumulator.

    let c = dot(a, b);                              // a, b: i32
    let c = dot(a as f32, b as f32);
    """

    code = "E0341"
    function: str
    name: str
    found: str
    need: str

    def message(self) -> str:
        return f"the argument `{self.name}` of `{self.function}` must hold {self.need}"

    def label(self) -> str:
        return f"this is `{self.found}`"


@record(kw_only=True)
class DotAccumulator(Diagnostic):
    """The accumulator of a `dot` has the shape of the product, `[M, N]`, and its element type.

    let acc = dot(a, b, zeros::<f32>(&[N, M]));     // a: [M, K], b: [K, N]
    let acc = dot(a, b, zeros::<f32>(&[M, N]));
    """

    code = "E0344"
    function: str
    found: str
    need: str

    def message(self) -> str:
        return f"the accumulator of this `{self.function}` must be {self.need}"

    def label(self) -> str:
        return f"this is `{self.found}`"


@record(kw_only=True)
class ContradictsTurbofish(Diagnostic):
    """The type stated in `::<…>` is not that of the argument.

    let s = sum::<f32>(x);          // x: f64
    let s = sum(x);
    """

    code = "E0345"
    function: str
    stated: str
    found: str

    def message(self) -> str:
        return f"`{self.function}::<{self.stated}>` is given `{self.found}`"

    def help(self) -> str:
        return "leave the type out: it follows from the argument"


@record(kw_only=True)
class NotAValue(Diagnostic):
    """A function computes with numbers, and is given something else.

    let y = exp(p);             // p: a pointer
    let y = exp(load(p));
    """

    code = "E0346"
    function: str
    name: str
    found: str
    advice: str | None = None

    def message(self) -> str:
        return f"the argument `{self.name}` of `{self.function}` must be a number or a tensor of numbers"

    def label(self) -> str:
        return f"this is `{self.found}`"

    def help(self) -> str | None:
        return self.advice


@record(kw_only=True)
class ScaledElement(Diagnostic):
    """The elements of an operand of `dot_scaled` are not those that its format is held in.

    let c = dot_scaled(a, a_scale, "e2m1", b, b_scale, "e4m3");         // a: i8
    let c = dot_scaled(bitcast::<i8, u8>(a), a_scale, "e2m1", b, b_scale, "e4m3");
    """

    code = "E0352"
    format: str
    need: str
    found: str
    format_span: Span

    def message(self) -> str:
        return f"elements of the format `{self.format}` of `dot_scaled` must be held in {self.need}"

    def label(self) -> str:
        return f"this is `{self.found}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.format_span, "the format"),)

    def help(self) -> str:
        return "read bits as another type of their width with `bitcast`"


@record(kw_only=True)
class WrongScale(Diagnostic):
    """The scales of `dot_scaled` are one for each group of elements along K, in each row.

    The scales of the right operand stand as those of the left do, one row for each of the N columns.

        let c = dot_scaled(a, a_scale, "e4m3", b, trans(b_scale), "e4m3");  // b: [K, N], b_scale: [N, K / 32]
        let c = dot_scaled(a, a_scale, "e4m3", b, b_scale, "e4m3");
    """

    code = "E0353"
    name: str
    need: str
    found: str

    def message(self) -> str:
        return f"`{self.name}` of `dot_scaled` must be {self.need}"

    def label(self) -> str:
        return f"this is `{self.found}`"
