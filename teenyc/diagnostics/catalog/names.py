"""E02xx: names that mean nothing, mean two things, or may not be used so."""

from __future__ import annotations

from typing import Literal

from teenyc.diagnostics.model import Diagnostic, Label
from teenyc.record import record
from teenyc.source import Span
from teenyc.types import DTYPES


@record(kw_only=True)
class UnknownName(Diagnostic):
    """A value is used under a name that nothing in scope has.

    Names come from the kernel's parameters and constants, from `let` above the use in the same or an enclosing block,
    and from `const` items of the file.

        let a = scal + 1.0;     // the parameter is called `scale`
        let a = scale + 1.0;
    """

    code = "E0201"
    name: str
    similar: str | None = None
    advice: str = ""
    ended: Span | None = None

    def message(self) -> str:
        return f"unknown name `{self.name}`"

    def label(self) -> str:
        return "not found in this kernel"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.ended, "declared here, in a block that has ended"),) if self.ended else ()

    def help(self) -> str | None:
        if self.advice:
            return self.advice
        if self.ended:
            return f"declare `{self.name}` before the block, with `let mut`"
        return f"a similar name is in scope: `{self.similar}`" if self.similar else None


@record(kw_only=True)
class OuterVariable(Diagnostic):
    """A function inside another uses a variable of what is around it. As in Rust, it sees its own parameters only.

    fn f(x: Pointer<f32>, n: i32) {
        fn next(a: i32) -> i32 { a + n }                // error: `n` is the kernel's
        fn next(a: i32, n: i32) -> i32 { a + n }        // called as `next(1, n)`
    }
    """

    code = "E0213"
    name: str
    function: str
    declared: Span
    type: str = ""
    is_constant: bool = False

    def message(self) -> str:
        return f"the inner `fn {self.function}` does not see `{self.name}` of what is around it"

    def label(self) -> str:
        return "not found in this function"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.declared, "declared outside of it"),)

    def help(self) -> str:
        if self.is_constant:
            return f"pass it at the call: `fn {self.function}<const {self.name}: {self.type or 'i32'}>(…)`"
        shown = f": `fn {self.function}(…, {self.name}: {self.type})`" if self.type else ""
        return f"pass it as an argument{shown}"


@record(kw_only=True)
class UnknownFunction(Diagnostic):
    """A call names a function that is neither an intrinsic nor an `fn` of the file.

    `teenyc` knows the functions of the `Triton` trait with or without `T::`, and those of `triton.language`.

        let s = summ(x, axis = 0);      // `sum`
        let s = sum(x, axis = 0);
    """

    code = "E0202"
    name: str
    similar: str | None = None
    advice: str = ""

    def message(self) -> str:
        return f"unknown function `{self.name}`"

    def label(self) -> str:
        return "no intrinsic and no `fn` of this file has that name"

    def help(self) -> str | None:
        if self.advice:
            return self.advice
        return f"there is a function with a similar name: `{self.similar}`" if self.similar else None


@record(kw_only=True)
class UnknownMethod(Diagnostic):
    """A method is called that values of this type do not have.

    Methods are the trait's (`p.add_offsets(off)`, `x.lt(y)`) and the intrinsics, with the value as first argument.

        let m = off.less(n);    // `lt`
        let m = off.lt(n);      // or: off < n
    """

    code = "E0203"
    name: str
    type: str
    similar: str | None = None
    advice: str = ""

    def message(self) -> str:
        return f"no method `{self.name}` on a value of type `{self.type}`"

    def help(self) -> str | None:
        if self.advice:
            return self.advice
        return f"there is a method with a similar name: `{self.similar}`" if self.similar else None


@record(kw_only=True)
class UnknownArgument(Diagnostic):
    """An argument is given under a name that the function has no parameter for.

        let x = load(p, masc = m);      // `mask`
        let x = load(p, mask = m);

    Parameter names are Triton's; the trait's own names are accepted too.
    """

    code = "E0204"
    function: str
    name: str
    known: tuple[str, ...]
    similar: str | None = None

    def message(self) -> str:
        return f"`{self.function}` has no parameter `{self.name}`"

    def notes(self) -> tuple[str, ...]:
        return (f"its parameters are {', '.join(f'`{n}`' for n in self.known)}",)

    def help(self) -> str | None:
        return f"a parameter has a similar name: `{self.similar}`" if self.similar else None


@record(kw_only=True)
class DuplicateName(Diagnostic):
    """Two things that need different names have the same one.

    Parameters and constants of one kernel, the functions and constants of one module, and the kernels of a file must
    differ in name.

        fn scale(x: Pointer<f32>, x: i32) {}        // two parameters `x`
        fn scale(x: Pointer<f32>, n: i32) {}
    """

    code = "E0205"
    what: str
    name: str
    first: Span

    def message(self) -> str:
        return f"the {self.what} `{self.name}` is defined twice"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "first defined here"),)

    def help(self) -> str:
        return "give one of them another name"


@record(kw_only=True)
class UnknownType(Diagnostic):
    """A type is named that kernels do not have.

    Scalars are `bool`, `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32`, `f64`; memory is `Pointer<D>`; `D` stands
    for a dtype parameter of the kernel.

        fn f(x: Pointer<float>) {}      // `f32`
        fn f(x: Pointer<f32>) {}
    """

    code = "E0206"
    name: str
    similar: str | None = None
    advice: str = ""

    def message(self) -> str:
        return f"unknown type `{self.name}`"

    def label(self) -> str:
        return "not a type that a kernel can use here"

    def help(self) -> str | None:
        if self.advice:
            return self.advice
        return f"a similar type exists: `{self.similar}`" if self.similar else None


@record(kw_only=True)
class AssignedImmutable(Diagnostic):
    """A variable is assigned to that was declared without `mut`.

        let acc = zeros::<f32>(&[N]);
        acc = acc + x;                      // error
        let mut acc = zeros::<f32>(&[N]);   // declare it mutable

    Parameters and constants never change, nor does the counter of a `for`; copy them into a `let mut` first.
    """

    code = "E0207"
    name: str
    declared: Span | None
    kind: Literal["variable", "parameter", "counter"] = "variable"

    def message(self) -> str:
        return f"cannot assign twice to immutable variable `{self.name}`"

    def label(self) -> str:
        return "assigned here"

    def secondary(self) -> tuple[Label, ...]:
        words = "declared without `mut` here" if self.kind == "variable" else "declared here"
        return (Label(self.declared, words),) if self.declared else ()

    def help(self) -> str:
        if self.kind == "counter":
            copy = "k" if self.name == "j" else "j"
            return f"the loop gives `{self.name}` its values: copy it first, `let mut {copy} = {self.name};`"
        if self.kind == "parameter":
            return f"parameters and constants keep their values: copy it first, `let mut {self.name} = {self.name};`"
        return f"declare it with `let mut {self.name}`"


@record(kw_only=True)
class NotAssignable(Diagnostic):
    """The left side of an assignment is not a variable.

    Kernels assign to names only; memory is written with `store`.

        x[0] = 1.0;             // error
        store(x, 1.0);
    """

    code = "E0208"

    def message(self) -> str:
        return "only a variable can be assigned to"

    def help(self) -> str:
        return "write to memory with `store(pointer, value)`"


@record(kw_only=True)
class UnknownAttribute(Diagnostic):
    """`#[kernel(...)]` holds something that kernels do not have.

    Known are `grid = [...]`, `shape(p = [...])`, `backward = Name`, `dtypes = [...]`, `num_warps`, `num_stages`,
    `pad(NAME)`, `tile`, `configs = [config(BLOCK = 128), ...]`, `dot_operands`, `dot_precision`.

        #[kernel(gird = [n])]       // `grid`
        #[kernel(grid = [n])]
    """

    code = "E0209"
    name: str
    similar: str | None = None

    def message(self) -> str:
        return f"unknown kernel attribute `{self.name}`"

    def help(self) -> str | None:
        return f"a similar attribute exists: `{self.similar}`" if self.similar else None


@record(kw_only=True)
class WrongConfiguration(Diagnostic):
    """`configs = [...]` of a kernel is no list of configurations that a launch could choose among.

    Each configuration names the same constants of the kernel, and launch options; those of a kernel that asks for
    tiling name its blocks, `BLOCK_M`, `BLOCK_N` and `BLOCK_K`, and may say how many are in a group, `GROUP_M` or
    `GROUP_N`. What a caller names is not chosen.

        #[kernel(configs = [config(BLOK = 128)])]      // the constant is called `BLOCK`
        #[kernel(configs = [config(BLOCK = 128, num_warps = 4), config(BLOCK = 256, num_warps = 8)])]
    """

    code = "E0219"
    problem: str
    known: tuple[str, ...]
    similar: str | None = None

    def message(self) -> str:
        return self.problem

    def help(self) -> str | None:
        if self.similar:
            return f"a similar name may be chosen: `{self.similar}`"
        return f"write `configs = [config({self.known[0]} = …, …), …]`; names are {', '.join(self.known)}"


@record(kw_only=True)
class UnknownKernel(Diagnostic):
    """An Op struct or a `backward = Name` speaks of a kernel that the file does not define.

    A kernel `flash_attention2_forward` is known to the host as `FlashAttention2Forward`.

        pub struct RowOp { pub forward: RowForwrd }     // kernel `row_forward` is `RowForward`
        pub struct RowOp { pub forward: RowForward }
    """

    code = "E0210"
    name: str
    known: tuple[str, ...] = ()
    similar: str | None = None

    def message(self) -> str:
        if not self.name:
            return "`backward` needs the name by which the host knows a kernel of this file"
        return f"no kernel of this file is called `{self.name}` on the host"

    def help(self) -> str | None:
        if self.similar:
            return f"a similar kernel exists: `{self.similar}`"
        listed = ", ".join(f"`{name}`" for name in self.known[:5])
        more = len(self.known) - 5
        return f"the kernels are called {listed}" + (f" and {more} more" if more > 0 else "") if listed else None


@record(kw_only=True)
class FunctionAsValue(Diagnostic):
    """The name of a function stands where a value is needed.

    let y = exp * x;        // error: `exp` is a function
    let y = exp(x);
    """

    code = "E0211"
    name: str

    def message(self) -> str:
        return f"`{self.name}` is a function, not a value"

    def help(self) -> str:
        return f"call it: `{self.name}(…)`"


@record(kw_only=True)
class UnknownSymbol(Diagnostic):
    """`grid` or `shape` in `#[kernel(...)]` uses a symbol that nothing binds.

    A symbol is a parameter, a constant, or occurs alone as an extent in a `shape`; one that occurs only in `grid` has
    no value at the launch.

        #[kernel(grid = [rows])]                        // no parameter `rows`
        fn scale(x: Pointer<f32>) {}

        #[kernel(grid = [rows], shape(x = [rows]))]
        fn scale(x: Pointer<f32>) {}
    """

    code = "E0212"
    name: str

    def message(self) -> str:
        return f"nothing binds the symbol `{self.name}`"

    def label(self) -> str:
        return "neither a parameter, nor a constant, nor an extent of a `shape`"


@record(kw_only=True)
class WrongBound(Diagnostic):
    """A dtype parameter has no bound that says what it may be: `Float`, or `Num` for integers too.

    fn scale<D>(x: Pointer<D>) {}
    fn scale<D: Float>(x: Pointer<D>) {}
    """

    code = "E0230"
    name: str
    bound: str

    def message(self) -> str:
        return f"unknown bound `{self.bound}` of `{self.name}`" if self.bound else f"`{self.name}` has no bound"

    def help(self) -> str:
        if self.bound in DTYPES:
            return f"a constant is written `const {self.name}: i32`"
        return f"write `{self.name}: Float`, or `{self.name}: Num` where integers are meant too"
