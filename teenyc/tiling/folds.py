"""Folds: what a carried value is after a block of iterations that an extremum, a product or bits are taken of."""

from __future__ import annotations

from teenyc.intrinsics.reduce import summed
from teenyc.ir.nodes import Cast, Compare, Let, Literal, Value
from teenyc.source import Span
from teenyc.tiling import refusals, sums
from teenyc.tiling.identities import FOLDS, identity_of, worst_of
from teenyc.tiling.plan import BlockedAxis, Extremum, Fold
from teenyc.tiling.state import Blocking, RefusedError, Tile, element_of, shape_of
from teenyc.types import BOOL, I32, DType, Element, Extent, is_float, scalar


def extremum(b: Blocking, law: Extremum, inside: Tile, axis: BlockedAxis, let: Let) -> Tile:
    """The extremum of the block, met with that before; of equal numbers each is the extremum."""
    (result,) = let.results
    element, span, tile = element_of(result), let.span, b.tile(law.operand, let.span)
    if axis in tile.lead:
        if not isinstance(element, DType) and not is_float(element):
            raise RefusedError(refusals.unknown_identity(law.intrinsic, str(element), span))
        if b.iterations is not None:
            tile = b.masked(tile, b.iterations, Literal(worst_of(element, law.intrinsic), scalar(element)), span)
        of_block = reduced(b, tile, "max" if law.intrinsic == "maximum" else "min", element, axis, span)
        tile = _with_nan(b, tile, of_block, axis, span) if law.propagates_nan and is_float(element) else of_block
    (first, second), lead, rank, shape = b.met([inside, tile], span)
    attributes = (("propagate_nan", "all"),) if law.propagates_nan else ()
    value = b.call(law.intrinsic, (("x", first), ("y", second)), attributes, element, shape, span, result.name)
    return Tile(value, lead, rank)


def _with_nan(b: Blocking, tile: Tile, extremum: Tile, axis: BlockedAxis, span: Span) -> Tile:
    """The extremum of a block, which is NaN where one of the block is."""
    different = Compare(operator="ne", left=tile.operand, right=tile.operand)
    is_nan = Tile(b.let(different, BOOL, shape_of(tile.operand), span), tile.lead, tile.rank)
    any_nan = reduced(b, is_nan, "reduce_or", BOOL, axis, span)
    element, shape = element_of(extremum.operand), shape_of(extremum.operand)
    nan = Literal(float("nan"), scalar(element))
    chosen = (("condition", any_nan.operand), ("x", nan), ("y", extremum.operand))
    return Tile(b.call("where", chosen, (), element, shape, span), extremum.lead, extremum.rank)


def fold(b: Blocking, law: Fold, inside: Tile, axis: BlockedAxis, let: Let) -> Tile:
    """What the operator makes of the block, joined to what there was before."""
    (result,) = let.results
    element, span = element_of(result), let.span
    tile, *others = (b.tile(o, span) for o in law.operands)
    for other in others:
        tile = b.binary(law.operator, tile, other, element, span)
    is_counted = axis in tile.lead or law.operator in ("mul", "xor")  # of equal bits one tells what all do
    if is_counted and b.iterations is not None:
        tile = _where_valid(b, tile, b.iterations, law.operator, element, span)
    elif is_counted and axis not in tile.lead:
        tile = _repeated(b, tile, axis, element, span)
    if axis in tile.lead:
        tile = _folded(b, tile, law.operator, element, axis, span)
    return b.binary(law.operator, inside, tile, element, span, result.name)


def _where_valid(b: Blocking, tile: Tile, valid: Tile, operator: str, element: Element, span: Span) -> Tile:
    """A tile with what changes nothing in the iterations that do not count."""
    if element == BOOL and operator != "and":
        return b.binary("and", valid, tile, BOOL, span)
    if operator in ("or", "xor") and sums.has_zeros(b, tile):
        return tile
    return b.masked(tile, valid, Literal(identity_of(element, operator), scalar(element)), span)


def _repeated(b: Blocking, tile: Tile, axis: BlockedAxis, element: Element, span: Span) -> Tile:
    """A tile along an axis of the loop along which it does not vary."""
    lead = tuple(a for a in b.order if a in tile.lead or a == axis)
    own = shape_of(tile.operand)[len(tile.lead) :]
    return b.filled(tile, lead, tile.rank, (*(Extent.of(a.block) for a in lead), *own), element, span)


def _folded(b: Blocking, tile: Tile, operator: str, element: Element, axis: BlockedAxis, span: Span) -> Tile:
    """A tile folded along an axis, in the type of its elements."""
    if operator == "xor" and element == BOOL:  # of which there is no sum
        bits = Tile(b.let(Cast(operand=tile.operand), I32, shape_of(tile.operand), span), tile.lead, tile.rank)
        folded = reduced(b, bits, FOLDS[operator], I32, axis, span)
        is_odd = Compare(operator="ne", left=folded.operand, right=Literal(0, scalar(I32)))
        return Tile(b.let(is_odd, BOOL, shape_of(folded.operand), span), folded.lead, folded.rank)
    wide = summed(element) if operator == "mul" else element
    folded = reduced(b, tile, FOLDS[operator], wide, axis, span)
    if wide == element:
        return folded
    value = b.let(Cast(operand=folded.operand), element, shape_of(folded.operand), span)
    return Tile(value, folded.lead, folded.rank)


def reduced(b: Blocking, tile: Tile, intrinsic: str, element: Element, axis: BlockedAxis, span: Span) -> Tile:
    """A tile reduced along a blocked axis."""
    place, shape = tile.lead.index(axis), list(shape_of(tile.operand))
    del shape[place]
    operands = (("input", tile.operand),)
    value: Value = b.call(intrinsic, operands, (("axis", place),), element, tuple(shape), span)
    return Tile(value, tuple(a for a in tile.lead if a != axis), tile.rank)
