"""Forms: the axes and the shape that a value has wherever it comes from, such as what a loop carries."""

from __future__ import annotations

from collections.abc import Sequence

from teenyc.ir.nodes import Operand, Value
from teenyc.record import record
from teenyc.source import Span
from teenyc.tiling.plan import BlockedAxis
from teenyc.tiling.state import Blocking, Tile, element_of, shape_of
from teenyc.types import ONE, Element, Extent, Shape, TensorType


@record
class Form:
    """The blocked axes of a tile, the number of its own, its shape, and its element type."""

    lead: tuple[BlockedAxis, ...]
    rank: int
    shape: Shape
    element: Element


def form_of(b: Blocking, value: Value, span: Span, without: BlockedAxis | None = None) -> Form:
    """The form in which every block of a kernel gives a value, but for the axis of a loop around."""
    assert isinstance(value.type, TensorType), "descriptors are lowered before"
    info = b.infos[value.id]
    lead = tuple(a for a in b.lead_of(info) if a != without)
    lanes = [n for n, a in enumerate(info.lanes) if a]
    rank = len(info.lanes) - min(lanes, default=len(info.lanes))
    first = len(info.lanes) - rank
    own = tuple(e if info.lanes[first + n] else ONE for n, e in enumerate(shape_of(value)[first:]))
    return Form(lead, rank, (*(Extent.of(a.block) for a in lead), *own), element_of(value))


def formed(b: Blocking, operand: Operand, form: Form, span: Span) -> Tile:
    """An operand of the source as a tile of a form."""
    return b.filled(b.tile(operand, span), form.lead, form.rank, form.shape, form.element, span)


def fresh(b: Blocking, form: Form, name: str) -> Tile:
    """A new value of a form."""
    return Tile(b.fresh(form.element, form.shape, name), form.lead, form.rank)


def operands_of(tiles: Sequence[Tile]) -> tuple[Operand, ...]:
    return tuple(tile.operand for tile in tiles)
