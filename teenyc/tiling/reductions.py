"""Reductions over axes of the source: sums and extrema of tiles."""

from __future__ import annotations

from teenyc.ir.nodes import Binary, Call, Cast, Constant, Let, Literal, Operand, Value
from teenyc.record import replace
from teenyc.source import Span
from teenyc.tiling import sums
from teenyc.tiling.state import Blocking, RefusedError, Tile, element_of, shape_of
from teenyc.types import I32, ONE, Element, Extent, is_float, scalar


def reduction(b: Blocking, let: Let, call: Call) -> None:
    """A reduction over an axis of the source: of a product over blocked axes, a product of matrices."""
    (result,) = let.results
    source = call.operands[0][1]
    rank = len(shape_of(source))
    axis = call.attribute("axis")
    if axis is None and rank == 1:
        axis = 0
    if not isinstance(axis, int) or len(let.results) != 1 or not isinstance(source, Value):
        raise RefusedError(f"`{call.intrinsic}` over several axes", let.span)
    place = rank - 1 - axis % rank  # counted from the last
    keeps = len(shape_of(result)) == rank
    if not b.infos[source.id].lanes[axis % rank]:
        uniform_reduction(b, let, call, source, axis % rank)
    elif call.intrinsic == "sum" and b.width(source) > 2:
        if rank != 1:
            raise RefusedError("a sum of products over one of several axes", let.span)
        b.tiles[result.id] = sums.contracted(b, sums.terms(b, source), place, None, let.span, result)
    else:
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


def uniform_reduction(b: Blocking, let: Let, call: Call, source: Value, axis: int) -> None:
    """Of equal elements, the extremum is each of them, and the sum their number times one."""
    (result,) = let.results
    tile = b.tile(source, let.span)
    if tile.rank:
        raise RefusedError(f"`{call.intrinsic}` over equal elements of several axes", let.span)
    if call.intrinsic == "sum" and shape_of(source)[axis] != ONE:
        count = extent(b, shape_of(source)[axis], element_of(result), let.span)
        product = Binary(operator="mul", left=tile.operand, right=count)
        value = b.let(product, element_of(result), shape_of(tile.operand), let.span, result.name)
        tile = replace(tile, operand=value)
    b.tiles[result.id] = tile


def extent(b: Blocking, extent: Extent, element: Element, span: Span) -> Operand:
    """An extent as a number of a type."""
    if extent.known is not None:
        return Literal(float(extent.known) if is_float(element) else extent.known, scalar(element))
    names = sorted(extent.names)
    if extent != Extent.of(names[0]):
        raise RefusedError("a sum over equal elements whose number is computed", span)
    return b.let(Cast(operand=Constant(names[0], scalar(I32))), element, (), span)
