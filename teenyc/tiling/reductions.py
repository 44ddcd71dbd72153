"""Reductions over axes of the source: sums and extrema of tiles."""

from __future__ import annotations

from teenyc.ir.nodes import Binary, Call, Cast, ExpandDims, Let, Value
from teenyc.record import replace
from teenyc.tiling import extents, refusals, sums
from teenyc.tiling.plan import Contraction, Side, Term
from teenyc.tiling.state import Blocking, RefusedError, Tile, element_of, shape_of
from teenyc.tiling.wording import Wording
from teenyc.types import ONE


def reduction(b: Blocking, let: Let, call: Call) -> None:
    """A reduction over an axis of the source: of a product over blocked axes, a product of matrices."""
    (result,) = let.results
    source = call.operands[0][1]
    rank = len(shape_of(source))
    axis = call.attribute("axis")
    if axis is None and rank == 1:
        axis = 0
    if not isinstance(axis, int) or len(let.results) != 1 or not isinstance(source, Value):
        raise RefusedError(refusals.all_at_once(call.intrinsic, Wording.of(b.lets).text(source), let.span))
    place = rank - 1 - axis % rank  # counted from the last
    keeps = len(shape_of(result)) == rank
    if not b.infos[source.id].lanes[axis % rank]:
        uniform_reduction(b, let, call, source, axis % rank, keeps)
    elif call.intrinsic == "sum" and b.width(source) > 2:
        count = shape_of(source)[axis % rank]
        tile = sums.contracted(b, sums.terms(b, source), place, None, let.span, result, count)
        b.tiles[result.id] = kept(b, tile, place, let) if keeps else tile
    else:
        if call.intrinsic == "sum":
            side = Side((source,), element_of(source))
            b.decide(Contraction(result.id, 0, place, (side,), (), Term((source,)), span=let.span))
        b.tiles[result.id] = reduced(b, let, call, b.tile(source, let.span), place, keeps)


def reduced(b: Blocking, let: Let, call: Call, tile: Tile, place: int, keeps: bool) -> Tile:
    (result,) = let.results
    shape = list(shape_of(tile.operand))
    axis = len(shape) - 1 - place
    is_first = place == tile.rank - 1
    shape[axis : axis + 1] = [ONE] if keeps and not is_first else []
    attributes = (("axis", axis), *((("keep_dims", True),) if keeps and not is_first else ()))
    operands = (("input", tile.operand),)
    name = call.intrinsic
    value = b.call(name, operands, attributes, element_of(result), tuple(shape), let.span, result.name)
    rank = tile.rank if keeps and not is_first else tile.rank - 1
    return Tile(value, tile.lead, rank)


def kept(b: Blocking, tile: Tile, place: int, let: Let) -> Tile:
    """A tile with an axis of extent 1 in the place of one that was summed, if there are axes to the left of it."""
    if tile.rank <= place:
        return tile
    axis = len(shape_of(tile.operand)) - place
    shape = list(shape_of(tile.operand))
    shape.insert(axis, ONE)
    expanded = ExpandDims(operand=tile.operand, axes=(axis,))
    value = b.let(expanded, element_of(tile.operand), tuple(shape), let.span)
    return Tile(value, tile.lead, tile.rank + 1)


def uniform_reduction(b: Blocking, let: Let, call: Call, source: Value, axis: int, keeps: bool) -> None:
    """Of equal elements, the extremum is each of them, and the sum their number times one."""
    (result,) = let.results
    tile = b.tile(source, let.span)
    place = len(shape_of(source)) - 1 - axis
    if place < tile.rank:  # an axis of extent 1 between others
        tile = reduced(b, let, call, tile, place, keeps)
    count = shape_of(source)[axis]
    if element_of(tile.operand) != element_of(result):
        cast = Cast(operand=tile.operand)
        tile = replace(tile, operand=b.let(cast, element_of(result), shape_of(tile.operand), let.span))
    if call.intrinsic == "sum" and count != ONE:
        right = extents.number(b, count, element_of(result), let.span)
        product = Binary(operator="mul", left=tile.operand, right=right)
        value = b.let(product, element_of(result), shape_of(tile.operand), let.span, result.name)
        b.multiples[value.id] = (tile, count)
        tile = replace(tile, operand=value)
    b.tiles[result.id] = tile
