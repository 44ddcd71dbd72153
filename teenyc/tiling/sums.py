"""Sums of products over one axis: terms go in; products of matrices, sums and what is multiplied outside come out."""

from __future__ import annotations

from collections.abc import Sequence

from teenyc.intrinsics import reduce
from teenyc.ir.nodes import Cast, Literal, Operand, Unary, Value
from teenyc.record import replace
from teenyc.source import Span
from teenyc.tiling import algebra, extents, grouping, precision
from teenyc.tiling.grouping import Parts, keys
from teenyc.tiling.plan import BlockedAxis, Contraction, Key, Side, Term
from teenyc.tiling.products import multiplied, terms_of
from teenyc.tiling.state import Blocking, Tile, element_of, shape_of, zero_of
from teenyc.types import ONE, Element, Extent, scalar


def contracted(
    b: Blocking,
    terms: Sequence[Term],
    key: Key,
    acc: Tile | None,
    span: Span,
    of: Value,
    extent: Extent,
    valid: Tile | None = None,
) -> Tile:
    """The sum of terms over an axis of an extent, added to `acc`: what `of` becomes.

    `valid` says which of its lanes count.
    """
    total = acc
    for n, term in enumerate(terms):
        label = of.name if n == len(terms) - 1 else ""
        total = summed(b, term, key, total, span, label, extent, valid, (of.id, n))
    assert total is not None, "a sum has terms"
    return total


def summed(
    b: Blocking,
    term: Term,
    key: Key,
    acc: Tile | None,
    span: Span,
    name: str,
    extent: Extent,
    valid: Tile | None,
    of: tuple[int, int],
) -> Tile:
    """The sum of one term; `of` is the value that it is part of, and its place among the terms."""
    element = _type_of(term.factors)
    parts = grouping.parts_of(b, term, key, span)
    tiles = [side.tile for side in parts.sides]
    b.decide(contraction(b, of, term, parts, key, span))
    is_whole = not (parts.factors or parts.divisors or parts.conditions)
    label = name if is_whole and acc is None and not term.is_negative else ""
    if len(tiles) == 2:
        if is_whole and acc is not None and not term.is_negative:
            return product(b, tiles, key, element, span, name, valid, acc)
        total = product(b, tiles, key, element, span, label, valid, None)
    elif tiles:
        total = plain_sum(b, tiles[0], key, element, span, label, valid)
    else:
        total = counted(b, key, extent, valid, element, span)
    total = multiplied_outside(b, total, parts, key, element, span)
    if acc is None:
        return negative(b, total, element, span) if term.is_negative else total
    return b.binary("sub" if term.is_negative else "add", acc, total, element, span, name)


def multiplied_outside(b: Blocking, total: Tile, parts: Parts, key: Key, element: Element, span: Span) -> Tile:
    """A sum, times and over what does not vary along its axis, where that counts."""
    for factor in parts.factors:
        total = algebra.times(b, total, grouping.without(b, factor.tile, key, span), element, span)
    for divisor in parts.divisors:
        total = b.binary("div", total, grouping.without(b, divisor, key, span), element, span)
    for condition in parts.conditions:
        flags = grouping.without(b, condition.flags, key, span)
        total = grouping.chosen(b, total, replace(condition, flags=flags), span)
    return total


def contraction(b: Blocking, of: tuple[int, int], term: Term, parts: Parts, key: Key, span: Span) -> Contraction:
    """What a term becomes: which factors make each side, which stay outside, and what the product reads."""
    tiles = [side.tile for side in parts.sides]
    reading = precision.reading(b, tiles) if len(tiles) == 2 else None
    read = reading.elements if reading is not None else tuple(element_of(t.operand) for t in tiles)
    sides = (
        Side(g.operands, e, precision.is_rounded(b, g.tile, e), precision.is_as_stored(b, g.tile, e))
        for g, e in zip(parts.sides, read, strict=True)
    )
    outside = tuple(o for g in parts.factors for o in g.operands)
    how = reading.precision if reading is not None else ""
    return Contraction(*of, key, tuple(sides), outside, term, how, span)


def negative(b: Blocking, tile: Tile, element: Element, span: Span) -> Tile:
    value = b.let(Unary(operator="neg", operand=tile.operand), element, shape_of(tile.operand), span)
    return replace(tile, operand=value)


def counted(b: Blocking, key: Key, extent: Extent, valid: Tile | None, element: Element, span: Span) -> Tile:
    """The sum of as many ones as lanes count along an axis."""
    if valid is None:
        return Tile(extents.number(b, extent, element, span))
    one, zero = grouping.one_of(element), Literal(zero_of(element), scalar(element))
    chosen = (("condition", valid.operand), ("x", one), ("y", zero))
    ones = b.call("where", chosen, (), element, shape_of(valid.operand), span)
    return plain_sum(b, replace(valid, operand=ones), key, element, span, "", None)


def plain_sum(b: Blocking, tile: Tile, key: Key, element: Element, span: Span, name: str, valid: Tile | None) -> Tile:
    """A plain sum over one axis of a tile."""
    if not has_zeros(b, tile):
        tile = b.masked(tile, valid, Literal(zero_of(element), scalar(element)), span)
    shape = list(shape_of(tile.operand))
    axis = tile.lead.index(key) if isinstance(key, BlockedAxis) else len(shape) - 1 - key
    del shape[axis]
    operands, wide = (("input", tile.operand),), reduce.summed(element)
    value = b.call("sum", operands, (("axis", axis),), wide, tuple(shape), span, name if wide == element else "")
    if wide != element:
        value = b.let(Cast(operand=value), element, tuple(shape), span, name)
    if isinstance(key, BlockedAxis):
        return Tile(value, tuple(a for a in tile.lead if a != key), tile.rank)
    return Tile(value, tile.lead, tile.rank - 1)


def product(
    b: Blocking,
    groups: Sequence[Tile],
    key: Key,
    element: Element,
    span: Span,
    name: str,
    valid: Tile | None,
    acc: Tile | None,
) -> Tile:
    """The product of two matrices, its axes in the order of all tiles."""
    zero = Literal(zero_of(element), scalar(element))
    if valid is not None:
        groups = [g if has_zeros(b, g) else precision.masked(b, g, valid, zero, span) for g in groups]
    others = [next(iter(keys(g) - {key})) for g in groups]
    if place(b, others[1]) < place(b, others[0]):
        groups, others = groups[::-1], others[::-1]
    chosen = precision.reading(b, groups)
    left, right = (precision.read(b, g, e, span) for g, e in zip(groups, chosen.elements, strict=True))
    first = matrix(b, left, (others[0], key), span)
    second = matrix(b, right, (key, others[1]), span)
    shape = (shape_of(first)[0], shape_of(second)[1])
    lead = tuple(k for k in others if isinstance(k, BlockedAxis))
    gone = -1 if isinstance(key, BlockedAxis) else key
    own = [k - (k > gone >= 0) for k in others if not isinstance(k, BlockedAxis)]
    rank = max((k + 1 for k in own), default=0)
    lanes = (shape[len(lead) + own.index(k)] if k in own else ONE for k in reversed(range(rank)))
    spread = (*shape[: len(lead)], *lanes)
    operands = [("input", first), ("other", second)]
    if acc is not None:
        filled = b.filled(acc, lead, rank, spread, element, span).operand
        operands.append(("acc", grouping.reshaped(b, filled, shape, span)))
    attributes = (("input_precision", chosen.precision), ("out_dtype", element))
    made = b.call("dot", operands, attributes, element, shape, span, name)
    return Tile(grouping.reshaped(b, made, spread, span), lead, rank)


def has_zeros(b: Blocking, tile: Tile) -> bool:
    """Whether a tile is zero in the iterations that do not count: it was loaded under that very mask."""
    loaded = (precision.source_of(b, tile) or tile).operand
    return isinstance(loaded, Value) and loaded.id in b.zeros


def place(b: Blocking, key: Key) -> int:
    """Where an axis stands in the order that all tiles keep."""
    return b.order.index(key) if isinstance(key, BlockedAxis) else 100 - key


def matrix(b: Blocking, tile: Tile, keys: tuple[Key, Key], span: Span) -> Operand:
    """A tile of two axes in the order asked for."""
    shape = tuple(e for e in shape_of(tile.operand) if e != ONE)
    operand = grouping.reshaped(b, tile.operand, shape, span)
    if place(b, keys[0]) < place(b, keys[1]):
        return operand
    return b.call("trans", (("input", operand),), (), element_of(operand), shape[::-1], span)


def terms(b: Blocking, operand: Operand) -> tuple[Term, ...]:
    """The terms of a value that is not made."""
    return terms_of(operand, b.lets, lambda v: v.id in b.lets and b.width(v) > 2)


def opened(b: Blocking, term: Term) -> tuple[Term, ...]:
    """A term whose factors are all made, or sums of those."""
    return multiplied(term, [terms(b, f) for f in term.factors])


def factor_product(b: Blocking, term: Term, span: Span) -> Tile:
    tiles = [b.tile(f, span) for f in term.factors]
    product = tiles[0]
    for tile in tiles[1:]:
        product = b.binary("mul", product, tile, _type_of(term.factors), span)
    return product


def _type_of(factors: Sequence[Operand]) -> Element:
    """The type in which a product is computed."""
    return element_of(factors[0])
