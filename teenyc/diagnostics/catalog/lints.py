"""W0xxx: what compiles but is probably not meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from teenyc.diagnostics.model import Diagnostic, Fix, Label, Severity
from teenyc.record import record
from teenyc.source import Span


@record(kw_only=True)
class Lint(Diagnostic):
    """A report that does not stop the build unless `--deny-warnings` is given. Each kind has its own code and text.

    `lint` is the name by which `#[allow(…)]` silences it, Rust's own where Rust has that lint; what states none is
    called as its class, in words.
    """

    severity = Severity.LINT
    lint: ClassVar[str] = ""

    @classmethod
    def lint_name(cls) -> str:
        """`same_address`."""
        return cls.lint or "".join(f"_{c.lower()}" if c.isupper() else c for c in cls.__name__).lstrip("_")


def lint_names() -> Mapping[str, str]:
    """The code of each lint by its name; of several lints of one name the first."""
    found: dict[str, str] = {}
    for kind in globals().values():
        if isinstance(kind, type) and issubclass(kind, Lint) and kind.code:
            found.setdefault(kind.lint_name(), kind.code)
    return found


@record(kw_only=True)
class UnusedVariable(Lint):
    """A `let` gives a name to a value that nothing reads. Its line does not appear in the generated kernel.

    let scale = 1.0;        // never used
    let _scale = 1.0;       // says that this is meant
    """

    code = "W0101"
    lint = "unused_variables"
    name: str

    def message(self) -> str:
        return f"unused variable `{self.name}`"

    def help(self) -> str:
        return f"remove it, or call it `_{self.name}` if that is meant"

    def fix(self) -> Fix | None:
        return Fix(self.span, f"_{self.name}") if self.span else None


@record(kw_only=True)
class UnusedMutable(Lint):
    """A variable is declared `mut` but never assigned again. Readers will look for the assignment.

    let mut n = 4;      // never changes
    let n = 4;
    """

    code = "W0102"
    lint = "unused_mut"
    name: str

    def message(self) -> str:
        return f"variable `{self.name}` need not be mutable"

    def help(self) -> str:
        return "remove `mut`"


@record(kw_only=True)
class UnusedParameter(Lint):
    """A parameter of a kernel is never read. Callers pass it for nothing.

    fn scale(x: Pointer<f32>, n: i32) { store(x, 1.0); }        // `n` is unused
    fn scale(x: Pointer<f32>, _n: i32) { store(x, 1.0); }       // says that this is meant
    """

    code = "W0103"
    lint = "unused_variables"
    name: str

    def message(self) -> str:
        return f"unused parameter `{self.name}`"

    def help(self) -> str:
        return f"remove it, or call it `_{self.name}` if that is meant"


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
class SameAddress(Lint):
    """A store writes to addresses that do not tell programs apart, so several of them write the same place.

        store(out, v);                                  // all programs write `out`
        store(out + program_id(Axis::X), v);            // each its own
        store(out + program_id(Axis::X) % n, v);        // every n-th program writes the same place

    Which of them stays is not defined, and where each loads, adds and stores, some of the sums are lost. Sums over
    programs need `atomic_add`, or a second kernel that adds up. A kernel that is launched with one program only may
    write where it likes, and so may programs that write the same value along an axis.
    """

    code = "W0106"
    pointer: str
    axis: int | None = None
    is_partly: bool = False

    def message(self) -> str:
        if self.axis is None:
            return "every program writes to the same address"
        if self.is_partly:
            return "several programs write to the same address"
        return f"every program along axis {self.axis} writes to the same address"

    def label(self) -> str:
        where = f" in `{self.pointer}`" if self.pointer else ""
        if self.is_partly:
            return f"the address{where} depends on a part of `program_id({self.axis})` only"
        index = "program_id" if self.axis is None else f"program_id({self.axis})"
        return f"the address{where} does not depend on `{index}`"

    def help(self) -> str:
        index = "program_id" if self.axis is None else f"program_id({self.axis})"
        whole = f"all of `{index}`" if self.is_partly else f"`{index}`"
        return f"add an offset that depends on {whole}, add up with `atomic_add`, or launch one program only"


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
class FloatAtomic(Lint):
    """Programs add floats to one element in an order that differs from run to run, and so does the rounded result.

    atomic_add(out + bin, x);               // f32: the last digits differ between runs
    store(partial + program_id(0), x);      // one element a program, summed by a second kernel

    Integers, `atomic_max` and `atomic_min` give the same in every order.
    """

    code = "W0110"
    function: str
    variable: str | None = None

    def message(self) -> str:
        return f"`{self.function}` of floats gives another result in another order"

    def label(self) -> str:
        return "the order in which programs get here is not defined"

    def notes(self) -> tuple[str, ...]:
        if self.variable is None:
            return ()
        return (f"each step rounds to `{self.variable}` as it is in memory, so that with 16 bits small terms are lost",)

    def help(self) -> str:
        return "to get the same result each time, store one part a program and add the parts in a second kernel"


@record(kw_only=True)
class NarrowSum(Lint):
    """A sum is rounded to 16 or 8 bits at every step, so that terms below a 256th (`bf16`) of it are lost.

    Arithmetic on 16-bit floats is done in f32 between a load and a store. An atomic works in memory's type, and a cast
    to a named type rounds.

        acc = (acc + x) as bf16;        // in a loop: stops growing at 256 times x
        acc += x;                       // f32 until it is stored
    """

    code = "W0111"
    element: str
    function: str | None = None
    name: str = ""

    def message(self) -> str:
        if self.function is not None:
            return f"`{self.function}` adds in `{self.element}`"
        return f"a sum{_of(self.name)} is rounded to `{self.element}` in every iteration"

    def label(self) -> str:
        return "small terms are lost"

    def help(self) -> str:
        if self.function is not None:
            return "add to memory of `f32`, and convert at the end"
        return "add in `f32`, and convert behind the loop"


def _of(name: str) -> str:
    return f" in `{name}`" if name else ""


@record(kw_only=True)
class PaddedLanes(Lint):
    """A sum adds up lanes that a mask left out, which do not hold 0: `other` went through work that made more of it.

    let x = load(p + off, mask = off < n, other = 0.0);
    let total = sum(exp(x - top));                                      // each padded lane adds exp(-top)
    let total = sum(where_(off < n, exp(x - top), 0.0));
    let x = load(p + off, mask = off < n, other = f32::NEG_INFINITY);   // or so: exp(-inf) is 0
    """

    code = "W0112"
    load: Span
    number: str | None

    def message(self) -> str:
        return "this sum counts lanes that a mask left out"

    def label(self) -> str:
        holds = f"{self.number} in each" if self.number is not None else "what is made of `other` in each"
        return f"adds {holds}"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.load, "the mask of this load left them out"),)

    def help(self) -> str:
        return "put `where_(mask, …, 0.0)` before the sum, or load an `other` of which 0 is made"


@record(kw_only=True)
class HollowRow(Lint):
    """A mask that depends on memory may leave out a whole row: its maximum is then -inf, and `-inf - -inf` is NaN.

    let s = where_(flags, scores, f32::NEG_INFINITY);
    let p = exp(s - max(s));                            // NaN in a row without a flag
    let top = max(s);
    let p = exp(s - if top > f32::NEG_INFINITY { top } else { 0.0 });

    Masks that compare places with a parameter are not reported: they leave a lane in each row of a tensor that has any.
    """

    code = "W0113"
    mask: Span

    def message(self) -> str:
        return "a row that is masked as a whole gives NaN here"

    def label(self) -> str:
        return "`-inf - -inf` where no lane is left"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.mask, "puts -inf where loaded values say so, perhaps in every lane"),)

    def help(self) -> str:
        return "subtract 0 where the maximum is `f32::NEG_INFINITY`, or mask with a finite number"


@record(kw_only=True)
class LanesShareAddress(Lint):
    """Lanes of a store have different values and one address: which of them stays is not defined.

    let p = x + full(&[N], 0);
    store(p, v);                                // v: [N], one element of memory
    store(x, max(v));                           // one value
    store(p, v, mask = arange(0, N) == 0);      // one lane
    """

    code = "W0114"
    name: str

    def message(self) -> str:
        return f"several lanes write different values to one address{_of(self.name)}"

    def label(self) -> str:
        return "the value varies along an axis along which the address does not"

    def help(self) -> str:
        return "reduce the value, or let a mask choose one lane"


@record(kw_only=True)
class InPlaceTiles(Lint):
    """A kernel writes a tile of a tensor of which other programs read: some see the old numbers, some the new ones.

    let a = load(x + row * n + k);                      // all of row `row`,
    store(x + row * n + column, a * b);                 // of which this program writes one element

    An update in place is right where each program reads only what it writes itself. Write to another tensor, or let one
    program do all of a row.
    """

    code = "W0115"
    name: str
    store: Span

    def message(self) -> str:
        return f"this reads what other programs write{_of(self.name)}"

    def label(self) -> str:
        return "not only the tile that this program writes"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.store, "written in place, a tile a program"),)

    def help(self) -> str:
        return "write to another tensor, or launch one program"


@record(kw_only=True)
class UnmaskedTile(Lint):
    """A store writes whole tiles along an axis, and the last one runs into the next row or batch if it does not fit.

    let c = tile * BLOCK + arange(0, BLOCK);
    store(out + batch * channels + c, x);                           // `channels` need not be a multiple of `BLOCK`
    store(out + batch * channels + c, x, mask = c < channels);

    A tensor descriptor keeps a tile inside of its own extents only: give it the batch as an axis of its own.
    """

    code = "W0116"
    name: str

    def message(self) -> str:
        return f"the last tile along an axis may be written into the next row or batch{_of(self.name)}"

    def label(self) -> str:
        return "no mask mentions the index of the tile's elements"

    def help(self) -> str:
        return "add a mask that compares the index with the extent, or make the axis one of the descriptor's"


@record(kw_only=True)
class ArithmeticOverflow(Lint):
    """An integer operation overflows whatever the arguments are, and wraps; or a shift count is not below the width.

    let big = 70_000 * 70_000;              // i32: 605032704
    let big = 70_000_i64 * 70_000;
    let high = 1 << 40;                     // the count is taken modulo 32: 256
    let hash = x.wrapping_mul(40503);       // says that wrapping is meant

    Constants that `--set` fixes count as known. Integers that reach an address do not wrap.
    """

    code = "W0117"
    operator: str
    type: str
    number: str | None

    def message(self) -> str:
        if self.operator in ("<<", ">>"):
            return f"`{self.operator}` shifts `{self.type}` by its width or more"
        return f"`{self.operator}` overflows `{self.type}`"

    def label(self) -> str:
        if self.number is None:
            return "for all values of the operands"
        return f"a count of {self.number}" if self.operator in ("<<", ">>") else f"{self.number} does not fit"

    def help(self) -> str:
        if self.operator in ("<<", ">>"):
            return "the count is taken modulo the width: write the count that is meant"
        return "compute in `i64`, or say that wrapping is meant with `wrapping_add`, `wrapping_sub` or `wrapping_mul`"


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


@record(kw_only=True)
class UnusedFunction(Lint):
    """No kernel uses a function, not even through others.

    fn half(x: f32) -> f32 { x * 0.5 }      // nobody calls it: remove it, or call it `_half`
    """

    code = "W0120"
    lint = "dead_code"
    name: str

    def message(self) -> str:
        return f"unused function `{self.name}`"

    def help(self) -> str:
        return f"remove it, or call it `_{self.name}` if that is meant"


@record(kw_only=True)
class TilingRefused(Lint):
    """A kernel asks for blocks with `tile`, and is compiled as it is written, because blocks would change what it
    computes, or because the compiler cannot make them. What a loop carries must obey a law that holds for a block of
    iterations at once: a sum, a maximum, or a sum that is brought to a running maximum.

    for t in 0..n { h = tanh(w * h + load(x + t)); }    // each `h` needs the one before
    for t in 0..n { h = h + tanh(w * load(x + t)); }    // a sum

    `teenyc build --explain-tiling` says of every kernel what becomes of it.
    """

    code = "W0140"
    kernel: str
    kernel_span: Span
    why: str
    instead: str = ""

    def message(self) -> str:
        return f"kernel `{self.kernel}` asks for blocks and stays as it is"

    def label(self) -> str:
        return self.why

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.kernel_span, "this kernel says `tile`"),) if self.span != self.kernel_span else ()

    def help(self) -> str | None:
        return self.instead or None


@record(kw_only=True)
class AxisNotTiled(Lint):
    """`tile(row, k)` names an axis that stays as it is, while others of the kernel are blocked.

    #[kernel(tile(row, t))]         // for t in 0..n { h = tanh(w * h + load(x + t)); }
    #[kernel(tile(row))]
    """

    code = "W0141"
    kernel: str
    name: str
    why: str
    instead: str = ""

    def message(self) -> str:
        return f"`{self.name}` of `{self.kernel}` is to be blocked and stays as it is"

    def label(self) -> str:
        return self.why

    def help(self) -> str | None:
        return self.instead or None
