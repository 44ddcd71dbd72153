"""E03xx: arguments, type parameters and receivers of calls."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic, Label
from teenyc.record import record
from teenyc.source import Span


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
