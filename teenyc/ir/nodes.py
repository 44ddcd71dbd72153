"""The typed IR: what the checker makes, every pass rewrites, and the emitter and the CPU runner read.

The IR is structured (loops and ifs stay), in A-normal form (an operation takes operands, never operations) and in
static single assignment: each `Value` is defined once, and what a loop carries is explicit. Its meaning:

- Integers are exact in their width and wrap; `div` and `rem` truncate; casts saturate, as in Rust.
- Element-wise operations broadcast like NumPy: shapes align at the last axis, extent 1 stretches.
- Both operands of `Binary` and `Compare` have the same element type. There are no implicit conversions.
- A tuple is several values: operations, ifs and functions have any number of results.
- Values over a dtype parameter `D` are stored in `D`; pass `widen-floats` moves arithmetic to `D::Compute`.

All nodes stand in this one file, however long: what a program may consist of is read from the top to the bottom.
"""

from __future__ import annotations

from typing import TypeAlias

from teenyc.record import field, record
from teenyc.source import NO_COMMENTS, Comments, Span
from teenyc.types import Element, Extent, Shape, TensorType, Type, TypeVar

Number: TypeAlias = "int | float | bool"


@record
class Value:
    """What one operation, parameter or loop defines. `name` is the author's, or empty for a temporary."""

    id: int
    type: Type
    name: str = ""


@record
class Literal:
    """A number known here, of a scalar type. Floats keep the digits of the source; they round when they are used.

    `name` is that of the `const` of the source that it is, if any.
    """

    value: Number
    type: TensorType
    name: str = field(default="", compare=False, repr=False)


@record
class Constant:
    """A constant parameter of the kernel (`const HEAD_DIM: i32`), known at compile time but not yet here."""

    name: str
    type: TensorType


Operand: TypeAlias = "Value | Literal | Constant"


# ---- operations -----------------------------------------------------------------------------------------------------
# The result types of an operation stand on the values that its `Let` defines.

UNARY = ("neg", "not")
BINARY = ("add", "sub", "mul", "div", "rem", "and", "or", "xor", "shl", "shr")
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")


@record(kw_only=True)
class Copy:
    """`let x = y`: another name for an operand; also what gives a constant a name.

    `constant` is the name of the `const` of the source whose value this is.
    """

    operand: Operand
    constant: str = field(default="", compare=False, repr=False)


@record(kw_only=True)
class Unary:
    """`-x`, or `!x` (logical on bool, bitwise on integers). `operator` is one of `UNARY`."""

    operator: str
    operand: Operand


@record(kw_only=True)
class Binary:
    """An arithmetic or bitwise operator of `BINARY` on two operands of one element type, broadcast."""

    operator: str
    left: Operand
    right: Operand


@record(kw_only=True)
class Compare:
    """A comparison of `COMPARE`; the result is bool, broadcast. With NaN only `ne` is true."""

    operator: str
    left: Operand
    right: Operand


@record(kw_only=True)
class Cast:
    """Conversion to the element type of the result, as Rust's `as`: float to int saturates and NaN gives 0.

    To a named 8- or 16-bit float it rounds there, also from that same type, whose values hold f32 until then; an
    `implicit` cast, of an f32 scalar that meets such floats, does not. To `D` no cast rounds: the next store does.
    """

    operand: Operand
    implicit: bool = False


@record(kw_only=True)
class Offset:
    """`pointer + offset`, in elements; pointer and integer offset broadcast."""

    pointer: Operand
    offset: Operand


@record(kw_only=True)
class ExpandDims:
    """`x[(.., None)]`: inserts axes of extent 1 at the positions `axes` of the result, ascending."""

    operand: Operand
    axes: tuple[int, ...]


Attribute: TypeAlias = "int | float | bool | str | None | Shape | Extent | Element | tuple[int, ...]"


@record(kw_only=True)
class Call:
    """A call of an intrinsic, by the name of its record.

    `operands` holds the run-time arguments that are present, `attributes` those fixed at compile time; both are by
    parameter name, in the order of the record, and leave out what is absent or has its default.
    """

    intrinsic: str
    operands: tuple[tuple[str, Operand], ...] = ()
    attributes: tuple[tuple[str, Attribute], ...] = ()

    def operand(self, name: str) -> Operand | None:
        return next((o for n, o in self.operands if n == name), None)

    def attribute(self, name: str, default: Attribute = None) -> Attribute:
        return next((a for n, a in self.attributes if n == name), default)


@record(kw_only=True)
class Apply:
    """A call of a device function of the program, with its dtype and constant arguments.

    An integer that is known at compile time is an extent.
    """

    function: str
    operands: tuple[Operand, ...]
    elements: tuple[Element, ...] = ()
    constants: tuple[tuple[str, Operand | Extent], ...] = ()


Operation: TypeAlias = "Copy | Unary | Binary | Compare | Cast | Offset | ExpandDims | Call | Apply"


# ---- statements -----------------------------------------------------------------------------------------------------


@record(kw_only=True)
class Let:
    """Defines `results` by an operation; none for a store."""

    results: tuple[Value, ...]
    operation: Operation
    span: Span = field(compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)


@record(kw_only=True)
class Block:
    """Statements and the operands that they yield to the construct around them."""

    statements: tuple[Statement, ...] = ()
    yields: tuple[Operand, ...] = ()


@record(kw_only=True)
class Carried:
    """One loop-carried value: `initial` before, `inside` at the start of an iteration, `result` after the loop.

    The loop's body yields the next value at the same index. All have one type.
    """

    initial: Operand
    inside: Value
    result: Value


@record(kw_only=True)
class For:
    """`for counter in start..stop` with a step; zero trips where `start >= stop`.

    `inclusive` is `start..=stop`, which pass `widen-counters` turns into the other. `unroll` is `static_range`.
    `options` are `tl.range`'s (`num_stages`, `flatten`, …), by name.
    """

    counter: Value
    start: Operand
    stop: Operand
    step: Operand
    carried: tuple[Carried, ...]
    body: Block
    inclusive: bool = False
    unroll: bool = False
    options: tuple[tuple[str, Attribute], ...] = ()
    span: Span = field(compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)


@record(kw_only=True)
class While:
    """`while condition`: `condition` is a block that yields one bool scalar and reads the `inside` values.

    `options` are `tl.condition`'s, by name.
    """

    condition: Block
    carried: tuple[Carried, ...]
    body: Block
    options: tuple[tuple[str, Attribute], ...] = ()
    span: Span = field(compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)


@record(kw_only=True)
class If:
    """Two branches under a bool scalar; each yields the operands that become `results`."""

    condition: Operand
    then: Block
    otherwise: Block
    results: tuple[Value, ...]
    span: Span = field(compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)


@record(kw_only=True)
class Return:
    """Leaves the kernel or device function: the last statement of its block, never inside a loop."""

    values: tuple[Operand, ...] = ()
    span: Span = field(compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)


Statement: TypeAlias = "Let | For | While | If | Return"


# ---- programs -------------------------------------------------------------------------------------------------------


@record(kw_only=True)
class Parameter:
    """A run-time parameter: a scalar or a pointer to the first element of a tensor."""

    value: Value
    span: Span = field(compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)

    @property
    def name(self) -> str:
        return self.value.name


@record(kw_only=True)
class ConstantParameter:
    """A compile-time parameter, `const NAME: i32` or `bool`; `known` once `--set` fixed it."""

    name: str
    type: TensorType
    known: int | bool | None = None
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class PaddedConstant:
    """A number that a kernel makes of a constant when it is compiled: a power of two for extents to name.

    It is the least one that is neither below the constant `of` nor below `minimum`, itself a power of two. One that
    `is_part` is the greatest that is not above the constant; with the name of a part, `beyond`, only what the constant
    is more than that part is padded.
    """

    name: str
    of: str
    minimum: int = 1
    is_part: bool = False
    beyond: str = ""


@record(kw_only=True)
class Requirement:
    """What a constant must satisfy for the kernel to compile: `extent` obeys `rule`.

    `rule` is `power-of-two`, `positive`, or `at-least:N`; `what` says for what it is needed, in words.
    """

    extent: Extent
    rule: str
    what: str
    span: Span = field(compare=False, repr=False)


OPTIONS = ("num_warps", "num_stages")
"""Launch options that a source may state."""

DESCRIPTORS = "descriptors"
"""The launch option of a configuration whose kernel loads blocks by tensor descriptors."""

Configuration: TypeAlias = "tuple[tuple[str, int], ...]"
"""Constants and launch options with their values."""


@record(kw_only=True)
class Attributes:
    """What `#[kernel(...)]` states, all optional.

    `grid` gives the extent of each program axis and `shapes` the extents of pointer arguments, as integer polynomials
    over parameters and constants; `options` are launch options (`num_warps`, `num_stages`).
    """

    backward: str | None = None
    grid: tuple[Extent, ...] | None = None
    shapes: tuple[tuple[str, Shape], ...] = ()
    options: tuple[tuple[str, int], ...] = ()
    pad: tuple[str, ...] = ()
    tile: tuple[str, ...] | None = None
    """the axes to block, by the author's names of the program's index and of counters; empty where that is left open"""
    dot_operands: str | None = None
    """`storage`: what a tiled kernel computes is rounded to the 16-bit type of what it multiplies it with, f16 too"""
    dot_precision: str | None = None
    """how a tiled kernel multiplies matrices of f32, as `input_precision` of `dot` says it"""
    deny: tuple[str, ...] = ()
    """what the kernel must not have: `unproven` accesses"""
    configs: tuple[Configuration, ...] = ()
    """what a launch may choose among: blocks of a tiled kernel, constants of another, and launch options"""
    config_spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)
    """where each of these stands"""

    @property
    def chooses(self) -> tuple[str, ...]:
        """The constants of the source that a launch chooses where a caller leaves them out."""
        names = () if self.tile is not None else (name for each in self.configs for name, _ in each)
        return tuple(dict.fromkeys(name for name in names if name not in OPTIONS))


@record(kw_only=True)
class Prologue:
    """What a kernel computes before a blocked one: numbers that all its programs need alike in iterations of a loop.

    Its grid has along `axis` an entry for each of the `extent` iterations, a polynomial over parameters and constants,
    along `axes` what the source's grid has, and 1 elsewhere. The last parameters of both kernels are in front of their
    counts the pointers that `scratch` names, each to one number of a type for each entry of that grid. No caller gives
    these: their memory lasts for one launch.
    """

    axis: int
    axes: tuple[int, ...]
    extent: Extent
    scratch: tuple[tuple[str, Element], ...]


@record(kw_only=True)
class Split:
    """What a launch needs for two kernels in the place of one: programs that make a part of a loop each, and the join.

    Along `axis`, where the source's grid has one program, the first has as many as the constant `count` says; along
    `axes` both have what the source's grid has. `scratch` names the last parameters of both in front of the counts:
    pointers to a value of a type and a shape for each program of the source and each part, in memory that lasts for
    one launch. `is_joined` tells the second kernel.
    """

    axis: int
    axes: tuple[int, ...]
    count: str
    scratch: tuple[tuple[str, Element, Shape], ...]
    is_joined: bool = False


@record(kw_only=True)
class Descriptors:
    """What a blocked kernel that loads blocks by tensor descriptors asks of a launch.

    Each pair of `aligned` is a pointer and an extent: the tensor must begin at a multiple of 16 bytes, and so many of
    its elements be one.
    """

    aligned: tuple[tuple[str, Extent], ...]


@record
class AtLeast:
    """That a number which a launch knows is no less than another."""

    number: Extent
    least: Extent


Apart: TypeAlias = "tuple[tuple[AtLeast, ...], ...]"
"""What keeps addresses apart: all of one of several lists."""


@record(kw_only=True)
class Tiling:
    """How a launch of a blocked kernel differs from one of the source, `of`: the caller's grid stays as it is.

    `blocks` names, for each blocked program axis, the constant by which the launcher divides the grid there, rounding
    up, and `counts` the i32 parameter, one of the last, in which it passes what the grid was. `constants` are those
    that the launcher chooses, among `configurations`, and `defaults` others, with what they are where these do not say.
    A kernel with `descriptors` is another form of the one before it, as is one with `uneven`: it takes the extents that
    are padded from that constant of the source in two parts. The kernel as written runs where a launch does not
    satisfy what `apart` says, or where a count that `whole` names is no multiple of the number beside it.
    """

    of: str
    blocks: tuple[tuple[int, str], ...]
    counts: tuple[tuple[int, str], ...]
    constants: tuple[str, ...]
    defaults: Configuration = ()
    configurations: tuple[Configuration, ...] = ()
    prologue: Prologue | None = None
    descriptors: Descriptors | None = None
    split: Split | None = None
    uneven: str = ""
    apart: tuple[Apart, ...] = ()
    whole: tuple[tuple[str, Extent], ...] = ()

    @property
    def is_main(self) -> bool:
        """Whether the kernel takes the place of the source's by itself, or behind its prologue."""
        return self.prologue is None and self.descriptors is None and self.split is None and not self.uneven


@record
class Remark:
    """One sentence of a certificate, and the place that it speaks of.

    `kind` is `program`, `order`, `loop`, `law`, `product`, `sum`, `prologue`, `split`, `guard`, `uneven`,
    `configurations`, `descriptors`, `left` or `refused`, `depth` that in an outline, `help` what would make it
    otherwise, and `subject` the author's name of what it is about.
    """

    kind: str
    text: str
    span: Span = field(compare=False, repr=False)
    depth: int = 0
    help: str = ""
    subject: str = ""


@record
class Certificate:
    """What tiling did with a kernel and why that is right, or why it did nothing, for people to check."""

    is_tiled: bool
    remarks: tuple[Remark, ...]


@record
class Guard:
    """A condition on the arguments of a launch: `least <= most`.

    Beside parameters, constants and what shapes bind, they name `grid[0]`, how many programs there are along an axis,
    and `len(x)`, how many elements lie from the first to the last of a tensor.
    """

    least: Extent
    most: Extent

    def __str__(self) -> str:
        return f"{self.least} <= {self.most}"


@record(kw_only=True)
class Kernel:
    """One `#[kernel]` function."""

    name: str
    doc: str
    type_variables: tuple[TypeVar, ...]
    constants: tuple[ConstantParameter, ...]
    parameters: tuple[Parameter, ...]
    body: Block
    requirements: tuple[Requirement, ...] = ()
    attributes: Attributes = Attributes()
    elements: tuple[tuple[str, Element], ...] = ()
    """dtype parameters that `--dtype` fixed"""
    tiling: Tiling | None = None
    certificate: Certificate | None = field(default=None, compare=False, repr=False)
    """on a kernel of the source that asks for blocks"""
    padded: tuple[PaddedConstant, ...] = ()
    """numbers that extents may name beside the constants"""
    races: tuple[Remark, ...] = field(default=(), compare=False, repr=False)
    """where programs or lanes meet in memory: of the kind `race`, or `apart` if loaded places must not be one"""
    guards: tuple[Guard, ...] = ()
    """what a launch must check so that all accesses are in bounds"""
    span: Span = field(compare=False, repr=False)
    """the kernel's name in the source"""


@record(kw_only=True)
class Function:
    """One device function, monomorphic in nothing: its generics are bound at each `Apply`."""

    name: str
    doc: str
    type_variables: tuple[TypeVar, ...]
    constants: tuple[ConstantParameter, ...]
    parameters: tuple[Parameter, ...]
    results: tuple[Type, ...]
    body: Block
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class OpField:
    """A kernel of an Op with its constants bound: each argument is a polynomial over the Op's parameters."""

    name: str
    kernel: str
    arguments: tuple[tuple[str, Extent], ...]
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class OpClass:
    """`pub struct …Op` with its `new`: a host class whose fields are kernels with their constants bound."""

    name: str
    doc: str
    parameters: tuple[str, ...]
    fields: tuple[OpField, ...]
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class Program:
    """One source file, checked: every name resolved, every value typed.

    `docs` are the doc comments of constants that have one, by their names. `unchecked` are the places of functions of
    which only names were looked at, since nothing calls them.
    """

    doc: str
    kernels: tuple[Kernel, ...]
    functions: tuple[Function, ...] = ()
    ops: tuple[OpClass, ...] = ()
    docs: tuple[tuple[str, str], ...] = ()
    unchecked: tuple[Span, ...] = field(default=(), compare=False, repr=False)
