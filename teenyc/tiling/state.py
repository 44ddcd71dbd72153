"""The state of a blocking: what values have become, and what is written so far; tiles that meet, and small operations.

Every value of the source becomes a tile: the blocked axes along which it varies, in the plan's order, and behind them
the axes of its own. Axes along which all elements are equal are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from teenyc.ir.axes import Axes, Axis, AxisInfo
from teenyc.ir.nodes import (
    Attribute,
    Binary,
    Call,
    ExpandDims,
    Let,
    Literal,
    Operand,
    Operation,
    Statement,
    Value,
)
from teenyc.ir.walk import results_of
from teenyc.record import field, record, state
from teenyc.source import NO_COMMENTS, Comments, Span
from teenyc.tiling import refusals
from teenyc.tiling.plan import BlockedAxis, Contraction, Guard, LoopPlan, Refusal, Staged
from teenyc.types import BOOL, ONE, Element, Extent, Shape, TensorType, broadcast, clash, is_float

FEW = 8
"""So many lanes beside two blocked axes are held: 64 by 64 elements are then as many as the registers of a program."""


class RefusedError(Exception):
    """The plan cannot be carried out, and why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal, self.span = refusal, refusal.span


@record
class Tile:
    """What a value has become: `lead` are its blocked axes, the first of its axes; `rank` counts those behind them."""

    operand: Operand
    lead: tuple[BlockedAxis, ...] = ()
    rank: int = 0


@record
class Bounds:
    """The bounds of a loop that differ from row to row, and the condition that an iteration is within them.

    `after` says whether it is not before the start, `before` whether it is before the stop, where that is in question.
    """

    counter: Value
    start: Operand
    stop: Operand
    valid: Value
    after: Value | None
    before: Value | None


@record
class Rows:
    """A blocked program axis and the operand that holds how many programs the source has along it."""

    axis: BlockedAxis
    count: Operand


@state
class Blocking:
    """The rewriting of one kernel.

    `order` are the blocked axes as all tiles keep them; `leads` those along which values vary, by their outer axes.
    `tiles` holds what each value has become, by id. `edges` are the program axes whose rows beyond the grid loads mask.
    `valid` says which lanes of blocked rows are real, `iterations` which of blocked iterations, where not all are.
    `raw` are the values that loads gave, `loaded` what a converted one was in memory, by the id of the converted.
    `multiples` are sums of equal elements, by id: what one is, and how many they are. `define` writes the definition of
    a value. `names` are those of loaded values whose converted ones the author named. `contractions` records what
    became of each sum, `staged` what is loaded, `guarded` what is masked, `left` what stays as it is. `guards` holds
    the conditions under which loads are made, and `bounds` those of loops that differ from row to row, by the loop's
    counter. `around` are the statements of the blocks around that at hand, `anywhere` what says whether flags hold
    along axes, by the flags and the other axes. `small` are tiles of small numbers; `dot_operands` and `dot_precision`
    are what the kernel says of products. `zeros` are loaded values that are 0 in the iterations that do not count,
    `only_where` the flags outside of which loaded values are 0, by their id. `reaches` has the greatest stop of any
    row of a loop with bounds for each, by its counter, and `ends` the first and the last row of a block.
    """

    order: tuple[BlockedAxis, ...]
    rows: Sequence[Rows]
    loops: Mapping[int, LoopPlan]
    infos: Mapping[int, AxisInfo]
    lets: Mapping[int, Let]
    ids: Iterator[int]
    define: Callable[[Blocking, Let], None]
    names: Mapping[int, str]
    tiles: dict[int, Tile] = field(default_factory=dict)
    leads: dict[Axes, tuple[BlockedAxis, ...]] = field(default_factory=dict)
    edges: frozenset[int] = frozenset()
    valid: tuple[Tile, ...] = ()
    iterations: Tile | None = None
    raw: set[int] = field(default_factory=set)
    zeros: set[int] = field(default_factory=set)
    loaded: dict[int, Tile] = field(default_factory=dict)
    only_where: dict[int, frozenset[Operand]] = field(default_factory=dict)
    multiples: dict[int, tuple[Tile, Extent]] = field(default_factory=dict)
    guards: Mapping[int, Operand] = field(default_factory=dict)
    bounds: Mapping[int, Bounds] = field(default_factory=dict)
    ends: dict[BlockedAxis, tuple[Operand, Operand]] = field(default_factory=dict)
    reaches: dict[int, Operand] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    around: list[list[Statement]] = field(default_factory=list)
    anywhere: dict[tuple[int, tuple[BlockedAxis, ...]], Tile] = field(default_factory=dict)
    contractions: list[Contraction] = field(default_factory=list)
    staged: list[Staged] = field(default_factory=list)
    guarded: list[Guard] = field(default_factory=list)
    left: list[Refusal] = field(default_factory=list)
    small: set[int] = field(default_factory=set)
    dot_operands: str | None = None
    dot_precision: str = "ieee"

    def decide(self, contraction: Contraction) -> None:
        """Records what became of a sum; the masked rest of a loop decides as its full blocks did."""
        if all((c.result, c.term) != (contraction.result, contraction.term) for c in self.contractions):
            self.contractions.append(contraction)

    @contextmanager
    def inner(self) -> Iterator[list[Statement]]:
        """A block inside of what is written: its statements, and its values, which are not known behind it."""
        outer, kept = self.statements, dict(self.tiles)
        self.statements = []
        self.around.append(outer)
        yield self.statements
        self.statements, self.tiles = self.around.pop(), kept

    @contextmanager
    def beside(self, operand: Operand) -> Iterator[None]:
        """Writes behind what defines an operand, in the block that it is in: outside of loops inside of that."""
        here = self.statements
        blocks = [*self.around, here]
        self.statements = next((s for s in blocks if any(operand in results_of(each) for each in s)), here)
        yield
        self.statements = here

    def stage(self, staged: Staged) -> None:
        """Records what a load brings in; the masked rest of a loop loads what its full blocks did."""
        if all(each.value != staged.value for each in self.staged):
            self.staged.append(staged)

    def guard(self, kind: str, axis: BlockedAxis) -> None:
        """Records that rows or iterations are kept from counting."""
        if Guard(kind, axis) not in self.guarded:
            self.guarded.append(Guard(kind, axis))

    def leave(self, refusal: Refusal) -> None:
        """Records that something stays as it is."""
        if all((r, r.span) != (refusal, refusal.span) for r in self.left):
            self.left.append(refusal)

    def fresh(self, element: Element, shape: Shape, name: str = "") -> Value:
        return Value(next(self.ids), TensorType(element, shape), name)

    def let(
        self,
        operation: Operation,
        element: Element,
        shape: Shape,
        span: Span,
        name: str = "",
        comments: Comments = NO_COMMENTS,
    ) -> Value:
        result = self.fresh(element, shape, name)
        self.statements.append(Let(results=(result,), operation=operation, span=span, comments=comments))
        return result

    def call(
        self,
        intrinsic: str,
        operands: Sequence[tuple[str, Operand]],
        attributes: Sequence[tuple[str, Attribute]],
        element: Element,
        shape: Shape,
        span: Span,
        name: str = "",
    ) -> Value:
        call = Call(intrinsic=intrinsic, operands=tuple(operands), attributes=tuple(attributes))
        return self.let(call, element, shape, span, name)

    def tile(self, operand: Operand, span: Span) -> Tile:
        """The tile of an operand of the source."""
        if not isinstance(operand, Value):
            return Tile(operand)
        if operand.id not in self.tiles:
            self.define(self, self.lets[operand.id])
        return self.tiles[operand.id]

    def aligned(self, tile: Tile, lead: Sequence[BlockedAxis], rank: int, span: Span) -> Operand:
        """A tile with an axis of extent 1 for each that it lacks, so that it meets others element by element."""
        if tile.rank == rank and (not tile.lead or tile.lead == lead):
            return tile.operand
        axes = [n for n, axis in enumerate(lead) if axis not in tile.lead]
        axes += range(len(lead), len(lead) + rank - tile.rank)
        if not axes or not shape_of(tile.operand):
            return tile.operand
        if not tile.lead and axes == list(range(len(axes))):
            return tile.operand  # they meet at the last axes
        shape = list(shape_of(tile.operand))
        for n in axes:
            shape.insert(n, ONE)
        expanded = ExpandDims(operand=tile.operand, axes=tuple(axes))
        return self.let(expanded, element_of(tile.operand), tuple(shape), span)

    def met(self, tiles: Sequence[Tile], span: Span) -> tuple[list[Operand], tuple[BlockedAxis, ...], int, Shape]:
        """Tiles aligned to meet: operands, their axes together, and their shape."""
        lead = self.together([t.lead for t in tiles if t.lead])
        rank = max((t.rank for t in tiles), default=0)
        operands = [self.aligned(t, lead, rank, span) for t in tiles]
        shape: Shape = ()
        for operand in operands:
            met = broadcast(shape, shape_of(operand))
            if met is None:
                raise RefusedError(refusals.stated_equal(*clash(shape, shape_of(operand)), span))
            shape = met
        if lead and not is_held(shape):
            raise RefusedError(refusals.too_wide(lead, span))
        return operands, lead, rank, shape

    def together(self, leads: Sequence[tuple[BlockedAxis, ...]]) -> tuple[BlockedAxis, ...]:
        """All axes that some tiles begin with, in order."""
        if all(lead == leads[0] for lead in leads):
            return leads[0] if leads else ()
        return tuple(axis for axis in self.order if any(axis in lead for lead in leads))

    def binary(self, operator: str, left: Tile, right: Tile, element: Element, span: Span, name: str = "") -> Tile:
        (a, b), lead, rank, shape = self.met([left, right], span)
        return Tile(self.let(Binary(operator=operator, left=a, right=b), element, shape, span, name), lead, rank)

    def masked(self, tile: Tile, valid: Tile | None, other: Operand, span: Span) -> Tile:
        """A tile with another number in the lanes that do not count."""
        if valid is None:
            return tile
        (flags, value), lead, rank, shape = self.met([valid, tile], span)
        element = element_of(tile.operand)
        chosen = (("condition", flags), ("x", value), ("y", other))
        return Tile(self.call("where", chosen, (), element, shape, span), lead, rank)

    def filled(
        self, tile: Tile, lead: Sequence[BlockedAxis], rank: int, shape: Shape, element: Element, span: Span
    ) -> Tile:
        """A tile of exactly a shape."""
        operand = self.aligned(tile, lead, rank, span)
        if shape_of(operand) == shape:
            return Tile(operand, tuple(lead), rank)
        if isinstance(operand, Literal):
            given = (("value", operand),)
            is_zero = operand.value == 0
            made = "zeros" if is_zero else "full"
            attributes = (("shape", shape), ("dtype", element))
            value = self.call(made, () if is_zero else given, attributes, element, shape, span)
        else:
            value = self.call("broadcast_to", (("input", operand),), (("shape", shape),), element, shape, span)
        return Tile(value, tuple(lead), rank)

    def lead_of(self, info: AxisInfo) -> tuple[BlockedAxis, ...]:
        """The blocked axes along which a value varies."""
        if info.outer not in self.leads:
            self.leads[info.outer] = tuple(a for a in self.order if Axis(a.kind, a.id) in info.outer)
        return self.leads[info.outer]

    def width(self, value: Value) -> int:
        """Along how many axes a value varies when it is blocked."""
        info = self.infos[value.id]
        return len(self.lead_of(info)) + sum(1 for a in info.lanes if a)


def is_held(shape: Shape) -> bool:
    """Whether a program may hold a tile: along two axes any, along more only where those have few lanes together."""
    few = 1
    for extent in shape:
        if extent.known is not None and extent.known <= FEW:
            few *= extent.known
    many = [extent for extent in shape if extent.known is None or extent.known > FEW]
    return few <= FEW and len(many) <= 2


def element_of(operand: Operand) -> Element:
    """The element type of a number, address, or tensor of them."""
    assert isinstance(operand.type, TensorType), "tiles are of numbers and addresses"
    return operand.type.element


def shape_of(operand: Operand) -> Shape:
    """The shape of an operand."""
    return operand.type.shape if isinstance(operand.type, TensorType) else ()


def zero_of(element: Element) -> int | float | bool:
    """The number that a sum is never changed by."""
    return False if element == BOOL else 0.0 if is_float(element) else 0
