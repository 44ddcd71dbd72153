"""E061x: device functions, what they may be passed to and what stands in their place."""

from __future__ import annotations

from types import MappingProxyType

from teenyc.diagnostics.model import Diagnostic, Label
from teenyc.record import record
from teenyc.source import Span


@record(kw_only=True)
class NoStandIn(Diagnostic):
    """A function that may return early from inside another branch gives a value that cannot be made up for the others.

    teenyc turns early returns into branches; where a branch did not return yet, its result needs a stand-in.

        fn f(a: bool, b: bool) -> … { if a { if b { return x; } work(); } y }       // error
        fn f(a: bool, b: bool) -> … { if a && b { x } else { if a { work(); } y } }
    """

    code = "E0610"
    type: str

    def message(self) -> str:
        return f"an early `return` of a `{self.type}` from inside another branch"

    def help(self) -> str:
        return "give the value of one `if … else …` at the end of the function"


@record(kw_only=True)
class ReturnInside(Diagnostic):
    """`return` stands inside an expression whose value is still needed.

    fn f(n: i32) -> i32 { 1 + if n > 0 { return 7; } else { n } }                   // error
    fn f(n: i32) -> i32 { if n > 0 { return 7; } 1 + n }
    """

    code = "E0611"

    def message(self) -> str:
        return "`return` inside an expression"

    def help(self) -> str:
        return "return in an `if` that is a statement of its own, before this one"


@record(kw_only=True)
class UnknownGeneric(Diagnostic):
    """Nothing says which type a generic parameter of a function stands for.

    fn zero<D: Float>() -> D { D::from_f64(0.0) }
    let x = zero();            // error: which `D`?
    let x = zero::<f32>();
    """

    code = "E0612"
    function: str
    name: str
    declared: Span

    def message(self) -> str:
        return f"nothing says what `{self.name}` of `{self.function}` is here"

    def help(self) -> str:
        return f"say it at the call: `{self.function}::<f32>(…)`"


@record(kw_only=True)
class MutableTuple(Diagnostic):
    """A variable that holds a tuple cannot change. Variables that change hold one value each.

    let mut t = (0.0, 1);           // error
    let (mut a, mut b) = (0.0, 1);
    """

    code = "E0613"
    name: str
    count: int

    def message(self) -> str:
        return f"`{self.name}` holds {self.count} values and cannot be `mut`"

    def help(self) -> str:
        parts = ", ".join(f"mut {self.name}_{i}" for i in range(self.count))
        return f"name each value: `let ({parts}) = …`"


@record(kw_only=True)
class BrokenBound(Diagnostic):
    """A function is called with a type that its bound does not allow.

    fn half<T: Triton, D: Float>(x: T::Tensor<D>) -> T::Tensor<D> { x * 0.5 }
    half(arange(0, 16));                    // error: i32 is no float
    half(arange(0, 16) as f32);
    """

    code = "E0614"
    function: str
    name: str
    found: str
    declared: Span

    def message(self) -> str:
        return f"`{self.name}` of `{self.function}` is `{self.found}` here, but it must be a float"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.declared, "bounded by `Float`"),)

    def help(self) -> str:
        return "convert the argument: `as f32`"


@record(kw_only=True)
class NotAFunction(Diagnostic):
    """An argument must be the name of a function of the file, such as the combine function of a reduction.

        fn add(a: f32, b: f32) -> f32 { a + b }
        reduce(x, 0, a + b);        // error
        reduce(x, 0, add);

    Intrinsics are no functions of the file: many reductions are intrinsics themselves, others need a small function.

        reduce(x, 0, maximum);      // error
        max(x, axis = 0);
    """

    code = "E0615"
    function: str
    found: str | None
    known: tuple[str, ...]
    name: str = ""
    is_intrinsic: bool = False
    operands: str = ""
    """The other arguments of the call, as an intrinsic that does the same takes them."""
    example: str = ""
    """A function that calls the intrinsic."""

    def message(self) -> str:
        if self.is_intrinsic:
            return f"`{self.function}` takes a `fn` of this file, and `{self.name}` is an intrinsic"
        return f"`{self.function}` needs the name of a function here"

    def label(self) -> str:
        if self.is_intrinsic:
            return "no `fn` of this file"
        return f"this is {self.found}" if self.found else ""

    def help(self) -> str:
        does = _DONE_BY.get((self.function, self.name))
        if does and self.operands:
            return f"`{does}({self.operands})` does it"
        is_pair = "b: " in self.example
        if self.example and (is_pair or self.function not in ("reduce", "associative_scan")):
            return f"write `{self.example}`, and pass `combine`"
        listed = ", ".join(f"`{n}`" for n in self.known[:5])
        return f"functions of this file: {listed}" if listed else "write a function, and pass its name"


_DONE_BY = MappingProxyType(
    {
        **dict.fromkeys([("reduce", "maximum"), ("reduce", "max")], "max"),
        **dict.fromkeys([("reduce", "minimum"), ("reduce", "min")], "min"),
        **dict.fromkeys([("reduce", "add"), ("reduce", "sum")], "sum"),
        **dict.fromkeys([("reduce", "xor"), ("reduce", "xor_sum")], "xor_sum"),
        **dict.fromkeys([("associative_scan", name) for name in ("add", "sum", "cumsum")], "cumsum"),
        **dict.fromkeys([("associative_scan", name) for name in ("mul", "cumprod")], "cumprod"),
    }
)
"""The intrinsic that does what a combining one is asked to do with an operation, by the names of both."""


@record(kw_only=True)
class WrongCombine(Diagnostic):
    """A function that combines elements takes two of each and gives one of each, in the type of the elements.

    fn add(a: f32, b: f32) -> f32 { a + b }
    fn scaled(a: f32) -> f32 { a * 2.0 }
    reduce(x, 0, scaled);       // error: takes one element
    reduce(x, 0, add);
    """

    code = "E0616"
    function: str
    combine: str
    expected: str
    reason: str
    declared: Span

    def message(self) -> str:
        return f"`{self.combine}` cannot be used by `{self.function}` here: it {self.reason}"

    def label(self) -> str:
        return f"expected `{self.expected}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.declared, "declared here"),)


@record(kw_only=True)
class NotStraight(Diagnostic):
    """A function that combines elements loops, or reads or writes memory. Triton combines with plain arithmetic only.

    Branches are fine: both sides are computed, and one is chosen.

        fn power(a: f32, b: f32) -> f32 { let mut r = a; for i in 0..3 { r = r * b; } r }       // error
        fn power(a: f32, b: f32) -> f32 { a * b * b * b }
    """

    code = "E0617"
    function: str
    combine: str
    declared: Span

    def message(self) -> str:
        return f"`{self.combine}` loops or touches memory, which a function given to `{self.function}` cannot"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.declared, "declared here"),)

    def help(self) -> str:
        return "write out what the loop does; load what is needed before"
