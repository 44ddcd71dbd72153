"""E06xx: constructs where a kernel cannot have them."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic
from teenyc.record import record


@record(kw_only=True)
class JumpOutsideLoop(Diagnostic):
    """`break` or `continue` stands where there is no loop to leave.

    if n == 0 { break; }        // error: not in a loop
    if n == 0 { return; }       // leaves the kernel
    """

    code = "E0601"
    keyword: str
    target: str = ""

    def message(self) -> str:
        if self.target:
            return f"no loop around this `{self.keyword}` is called `{self.target}`"
        return f"`{self.keyword}` outside of a loop"

    def help(self) -> str | None:
        if self.target:
            return f"name the loop: `{self.target}: for …`, or leave the label out"
        return "`return;` leaves a kernel" if self.keyword == "break" else None


@record(kw_only=True)
class ReturnInLoop(Diagnostic):
    """A kernel returns from inside a loop, which a GPU program cannot do.

    Leave the loop with `break` and return behind it, or put the rest under an `if`.

        for i in 0..n { if done { return; } }       // error
        for i in 0..n { if done { break; } }
    """

    code = "E0602"

    def message(self) -> str:
        return "`return` inside a loop"

    def label(self) -> str:
        return "the loop cannot be left by returning"

    def help(self) -> str:
        return "leave the loop with `break` and return behind it"


@record(kw_only=True)
class KernelResult(Diagnostic):
    """A kernel returns a value. Kernels write their results to memory.

    #[kernel] fn f(x: Pointer<f32>) -> f32 { load(x) }                      // error
    #[kernel] fn f(x: Pointer<f32>, y: Pointer<f32>) { store(y, load(x)); }
    """

    code = "E0603"

    def message(self) -> str:
        return "a kernel cannot return a value"

    def help(self) -> str:
        return "write it to memory with `store(pointer, value)`"


@record(kw_only=True)
class Recursion(Diagnostic):
    """A function calls itself, directly or through others, or a `const` needs itself. GPU programs have no stack.

    fn fact(n: i32) -> i32 { if n < 2 { 1 } else { n * fact(n - 1) } }      // error
    // write a loop instead
    """

    code = "E0604"
    path: tuple[str, ...]
    is_constant: bool = False

    def message(self) -> str:
        return f"`{self.path[0]}` {'is defined by itself' if self.is_constant else 'calls itself'}"

    def notes(self) -> tuple[str, ...]:
        if len(self.path) < 3:
            return ()
        return ("through " + " → ".join(f"`{n}`" for n in self.path),)

    def help(self) -> str:
        return "give one of them a number" if self.is_constant else "write it as a loop"


@record(kw_only=True)
class NestedKernel(Diagnostic):
    """A kernel is defined inside a function, or called like one. Kernels are launched from the host.

    #[kernel] fn outer() { #[kernel] fn inner() {} }        // error
    fn inner() {}                                           // a device function may be called
    """

    code = "E0605"
    name: str

    def message(self) -> str:
        return f"the kernel `{self.name}` cannot be used inside another function"

    def help(self) -> str:
        return "move what both need into an `fn` without `#[kernel]`"


@record(kw_only=True)
class NestedTooDeep(Diagnostic):
    """Blocks nest deeper than the generated Python may: 90 levels of indentation, or 19 loops in one another.

    for a in 0..2 { for b in 0..2 { /* … seventeen more … */ } }      // one loop over all combinations instead
    for i in 0..1048576 { let a = i % 2; }
    """

    code = "E0608"
    what: str
    limit: int

    def message(self) -> str:
        return f"{self.what} nest over {self.limit} deep"

    def help(self) -> str:
        return "join conditions, or move the inner part into an `fn`"


@record(kw_only=True)
class Unsupported(Diagnostic):
    """The source uses a part of Rust that kernels do not have.

    Closures, references, structs, strings outside asserts and prints, and trait methods of the host have no meaning on
    a GPU; the report says what to write instead.

        let f = |a| a + 1;          // error
        fn f(a: i32) -> i32 { a + 1 }
    """

    code = "E0606"
    what: str
    instead: str = ""

    def message(self) -> str:
        return f"{self.what} cannot be used in a kernel"

    def help(self) -> str | None:
        return self.instead or None


@record(kw_only=True)
class BadOp(Diagnostic):
    """The `new` of an Op struct binds a kernel's constants in a way that `teenyc` cannot follow.

    Each field is made by `Kernel::<D>::new(arguments)`, the arguments being parameters of `new`, integers, and sums and
    products of them, one for each constant of the kernel.

        pub fn new(n: i32) -> Self { Self { forward: RowForward::<D>::new(n) } }
    """

    code = "E0607"
    name: str
    reason: str

    def message(self) -> str:
        return f"cannot bind the kernel of field `{self.name}`: {self.reason}"
