"""The plan of a tiling as a value: which axes are blocked, and by what law each carried value takes a block at once."""

from __future__ import annotations

from typing import TypeAlias

from teenyc.ir.nodes import Apart, Configuration, Operand
from teenyc.record import field, record
from teenyc.source import Span
from teenyc.types import Element, Extent, Shape


@record
class BlockedAxis:
    """A program axis or the counter of a loop, of which one program or iteration takes a block.

    `id` is the number of the program axis, or the id of the counter; `block` the constant that holds the extent. The
    parts of an index that is taken apart are axes of their own, with numbers behind those of the grid.
    """

    kind: str  # "program" or "loop"
    id: int
    block: str
    name: str
    span: Span = field(default=Span(0, 0), compare=False, repr=False)

    @property
    def grid_axis(self) -> int:
        """The axis of the grid that a program axis is, or is a part of."""
        return self.id if self.id < AXES else (self.id - AXES) // 2

    @property
    def is_part(self) -> bool:
        """Whether it is a part of an index that is taken apart."""
        return self.kind == "program" and self.id >= AXES


AXES = 3
"""So many axes a grid has."""


def outer_of(axis: int) -> int:
    """The number of the axis that the quotient of an index is."""
    return AXES + 2 * axis


def inner_of(axis: int) -> int:
    """The number of the axis that the remainder of an index is."""
    return AXES + 2 * axis + 1


@record
class Sum:
    """`c' = c ± S`, or with a coefficient that brings `c` to a new extremum: a plain or a rescaled sum."""

    terms: tuple[Term, ...]
    kept: Term
    extremum: int | None = None
    """which carried value of the loop rescales this one"""


@record
class Extremum:
    """`c' = max(c, S)` or `min(c, S)`; NaN passes on where the source says so, and is left aside elsewhere."""

    intrinsic: str
    operand: Operand
    propagates_nan: bool = False


@record
class Fold:
    """`c' = c ∘ S` by an operator of the IR whose order is free, `S` being the operands joined by it too."""

    operator: str
    operands: tuple[Operand, ...]


@record
class Unchanged:
    """The loop hands the value on."""


Key: TypeAlias = "BlockedAxis | int"
"""An axis of a sum: a blocked one, or an axis of the value's own by its place counted from the last."""

Law: TypeAlias = "Sum | Extremum | Fold | Unchanged"


@record
class Term:
    """A product with a sign: `-a * b / c`; 0 where a condition is not met. A factor stands as often as it is used."""

    factors: tuple[Operand, ...]
    is_negative: bool = False
    divisors: tuple[Operand, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @property
    def operands(self) -> tuple[Operand, ...]:
        """All that the term is made of."""
        return (*self.factors, *self.divisors, *(c.operand for c in self.conditions))


@record
class Condition:
    """Where a term counts: in the lanes where a bool is `holds`."""

    operand: Operand
    holds: bool = True


@record
class Stored:
    """A store in a blocked loop, each of whose iterations has addresses of its own, and where it starts.

    `text` is how a person writes it; `constants` are those of its strides, which are taken to be 1 at least. `apart` is
    what must be true of parameters; nothing where the addresses are always apart.
    """

    pointer: str
    text: str
    constants: tuple[str, ...]
    apart: Apart
    span: Span = field(compare=False, repr=False)


@record
class LoopPlan:
    """How one loop is blocked: its axis, the law of each value that it carries, and what it stores.

    `within` is the name of the loop around it where it has been moved inside of that.
    """

    axis: BlockedAxis
    laws: tuple[Law, ...]
    stores: tuple[Stored, ...] = ()
    within: str = ""


@record
class Side:
    """One operand of a contraction: the factors multiplied into it, and what its elements are when they meet.

    `element` is the type that the product of matrices reads, `is_rounded` whether that rounds what was computed, and
    `is_stored` whether memory holds it so.
    """

    factors: tuple[Operand, ...]
    element: Element
    is_rounded: bool = False
    is_stored: bool = False


@record
class Contraction:
    """A sum over one axis: of two sides a product of matrices, of one a plain sum.

    `result` is the id of the value of the source that it is part of, `term` counts the terms of that value, `summand`
    is all of the term, and `outside` are those of its factors that do not vary along the axis.
    """

    result: int
    term: int
    over: Key
    sides: tuple[Side, ...]
    outside: tuple[Operand, ...]
    summand: Term
    precision: str = ""
    """of a product of matrices of f32: `ieee`, `tf32` or `tf32x3`"""
    span: Span = field(default=Span(0, 0), compare=False, repr=False)


@record
class Staged:
    """What a load brings in: a tile along blocked axes, and along the last `rank` axes of the value's own.

    `value` is the id of what the source loads, `pointer` the parameter that the address begins with, and `loop` the
    counter of the blocked loop in whose every iteration it is loaded.
    """

    value: int
    pointer: str
    axes: tuple[BlockedAxis, ...]
    rank: int
    loop: int | None = None


@record
class Guard:
    """What keeps rows and iterations that are not there from counting.

    `rows` are programs beyond the grid, `edge` those whose loads are masked, `rest` the iterations of the last block
    beyond the bound, `bounds` those beyond the bounds that a row has for itself.
    """

    kind: str
    axis: BlockedAxis


@record
class Prologue:
    """What a kernel before the blocked one computes once, for all of its programs along an axis.

    `values` are the ids of numbers that each iteration of a loop, by its counter, makes of that and of the indices of
    programs along `axes` alone; `names` the parameters to their memory, and `loads` the ids of what the loop then no
    longer loads. The iterations begin at `start`, and there are as many as `extent` says, polynomials over parameters
    and constants; `axis` is the program axis along which the kernel has them.
    """

    loop: int
    values: tuple[int, ...]
    names: tuple[str, ...]
    loads: tuple[int, ...]
    axis: int
    axes: tuple[int, ...]
    start: Extent
    extent: Extent


@record
class Parts:
    """How several programs may share the iterations of a loop, by its counter: where a launch has few programs.

    Along `axis`, which the kernel does not use, is a program for each part; the constant `count` says how many there
    are. `values` are the places of what the loop carries and a part hands on, `names` the parameters to their memory,
    `lanes` their shapes, and `axes` the axes of the grid that the kernel does use.
    """

    loop: int
    axis: int
    axes: tuple[int, ...]
    count: str
    values: tuple[int, ...]
    names: tuple[str, ...]
    lanes: tuple[Shape, ...]


@record
class Grouped:
    """Programs take blocks of two axes in groups: `size` blocks of `outer`, for one block of `inner` after another.

    `size` names the constant that says how many; with 1 the order is that of the grid.
    """

    outer: BlockedAxis
    inner: BlockedAxis
    size: str


@record
class LastFirst:
    """Programs take the blocks of an axis from the last to the first: a loop over `loop` is longest in the last."""

    axis: BlockedAxis
    loop: str


@record(kw_only=True)
class Plan:
    """All that was decided of one kernel, before any text: what an emitter needs beside the kernel.

    `left` says what stays as it is inside of the blocked kernel, and why; `order` in which order programs take blocks,
    where that is not the grid's; `turned` the divisor of an index that is taken apart, where blocks are of its quotient
    (of a grid that it divides); `repeated` what all programs compute alike and why no kernel before does; `parts` how
    programs may share a loop, or why they do not; `configurations` are the blocks and launch options to be tried, the
    likeliest first.
    """

    kernel: str
    programs: tuple[BlockedAxis, ...]
    loops: tuple[LoopPlan, ...] = ()
    contractions: tuple[Contraction, ...] = ()
    staged: tuple[Staged, ...] = ()
    guards: tuple[Guard, ...] = ()
    left: tuple[Refusal, ...] = ()
    order: Grouped | LastFirst | None = None
    turned: Extent | None = None
    prologue: Prologue | None = None
    repeated: tuple[Refusal, ...] = ()
    parts: Parts | Refusal | None = None
    configurations: tuple[Configuration, ...] = ()

    @property
    def axes(self) -> tuple[BlockedAxis, ...]:
        """The blocked axes in the order that all tiles keep."""
        return (*self.programs, *(each.axis for each in self.loops))


@record
class Refusal:
    """Why something was left as it is, in words, and where; `help` says what would change that.

    `subject` is the author's name of the axis that is left.
    """

    reason: str
    span: Span = field(compare=False, repr=False)
    help: str = ""
    subject: str = ""
