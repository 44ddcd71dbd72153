"""Sums of products over one axis: terms go in; products of matrices, sums and what is multiplied outside come out."""

from __future__ import annotations

from collections.abc import Sequence

from teenyc.ir.nodes import Literal, Operand, Unary, Value
from teenyc.record import replace
from teenyc.source import Span
from teenyc.tiling import precision
from teenyc.tiling.plan import BlockedAxis, Contraction, Key, Side, Term
from teenyc.tiling.products import multiplied, terms_of
from teenyc.tiling.state import Blocking, RefusedError, Tile, element_of, shape_of, zero_of
from teenyc.types import ONE, Element, Extent, is_float, scalar


def contracted(
    b: Blocking, terms: Sequence[Term], key: Key, acc: Tile | None, span: Span, of: Value, valid: Tile | None = None
) -> Tile:
    """The sum of terms over one axis, added to `acc`: what `of` becomes. `valid` says which of its lanes count."""
    total = acc
    for n, term in enumerate(terms):
        label = of.name if n == len(terms) - 1 else ""
        total = summed(b, term, key, total, span, label, valid, (of.id, n))
    assert total is not None, "a sum has terms"
    return total


def summed(
    b: Blocking, term: Term, key: Key, acc: Tile | None, span: Span, name: str, valid: Tile | None, of: tuple[int, int]
) -> Tile:
    """The sum of one term; `of` is the value that it is part of, and its place among the terms."""
    tiles = [b.tile(f, span) for f in term.factors]
    for factor, tile in zip(term.factors, tiles, strict=True):
        precision.note(b, factor, tile)
    outside = [t for t in tiles if key not in keys(b, t)]
    inside = [t for t in tiles if key in keys(b, t)]
    parts = grouped(b, inside, key, span)
    b.decide(contraction(b, of, term, tiles, parts, key, span))
    if not inside:
        parts, valid = [ones(b, key, valid, term, span)], None
    element = _type_of(term.factors)
    is_last = not outside and not term.is_negative
    if len(parts) == 2:
        if is_last and acc is not None:
            return product(b, parts, key, element, span, name, valid, acc)
        total = product(b, parts, key, element, span, "" if outside or acc else name, valid, None)
    else:
        total = plain_sum(b, parts[0], key, element, span, "" if outside or acc else name, valid)
    for tile in outside:
        total = b.binary("mul", total, tile, element, span, "" if acc else name)
    if acc is None:
        return negative(b, total, element, span) if term.is_negative else total
    return b.binary("sub" if term.is_negative else "add", acc, total, element, span, name)


def contraction(
    b: Blocking,
    of: tuple[int, int],
    term: Term,
    tiles: Sequence[Tile],
    parts: Sequence[Tile],
    key: Key,
    span: Span,
) -> Contraction:
    """What a term becomes: which factors make each side, which stay outside, and what the product reads."""
    factors: list[list[Operand]] = [[] for _ in parts]
    outside: list[Operand] = []
    for factor, tile in zip(term.factors, tiles, strict=True):
        own = keys(b, tile)
        side = next((n for n, p in enumerate(parts) if key in own and own <= keys(b, p)), None)
        (factors[side] if side is not None else outside).append(factor)
    reading = precision.reading(b, parts) if len(parts) == 2 else None
    read = reading.elements if reading is not None else tuple(element_of(p.operand) for p in parts)
    sides = (
        Side(tuple(f), element, precision.is_rounded(b, p, element), precision.is_as_stored(b, p, element))
        for f, p, element in zip(factors, parts, read, strict=True)
    )
    how = reading.precision if reading is not None else ""
    return Contraction(*of, key, tuple(sides), tuple(outside), term.is_negative, how, span)


def negative(b: Blocking, tile: Tile, element: Element, span: Span) -> Tile:
    value = b.let(Unary(operator="neg", operand=tile.operand), element, shape_of(tile.operand), span)
    return replace(tile, operand=value)


def keys(b: Blocking, tile: Tile) -> frozenset[Key]:
    """The axes along which a tile varies."""
    own = shape_of(tile.operand)[len(tile.lead) :]
    return frozenset([*tile.lead, *(len(own) - 1 - n for n, extent in enumerate(own) if extent != ONE)])


def grouped(b: Blocking, tiles: Sequence[Tile], key: Key, span: Span) -> list[Tile]:
    """Factors multiplied where they vary along the same axes: one tile, or two that share only the summed axis."""
    groups: list[Tile] = []
    for tile in sorted(tiles, key=lambda t: -len(keys(b, t))):
        for n, group in enumerate(groups):
            if keys(b, tile) <= keys(b, group):
                product = b.binary("mul", group, tile, _type_of((group.operand, tile.operand)), span)
                groups[n] = precision.keep(b, product, (group, tile))
                break
        else:
            groups.append(tile)
    if len(groups) > 2 or (len(groups) == 2 and keys(b, groups[0]) & keys(b, groups[1]) != {key}):
        raise RefusedError("a factor of the sum varies along three axes", span)
    if any(len(keys(b, g)) > 2 for g in groups):
        raise RefusedError("a factor of the sum varies along three axes", span)
    return groups


def ones(b: Blocking, key: Key, valid: Tile | None, term: Term, span: Span) -> Tile:
    """A factor of 1 along an axis that no factor has."""
    assert isinstance(key, BlockedAxis), "the factors of a sum over lanes have them"
    element = _type_of(term.factors)
    shape = (Extent.of(key.block),)
    one = Literal(1.0 if is_float(element) else 1, scalar(element))
    if valid is None:
        return Tile(
            b.call("full", (("value", one),), (("shape", shape), ("dtype", element)), element, shape, span), (key,)
        )
    zero = Literal(zero_of(element), scalar(element))
    chosen = (("condition", valid.operand), ("x", one), ("y", zero))
    return Tile(b.call("where", chosen, (), element, shape_of(valid.operand), span), valid.lead, valid.rank)


def plain_sum(b: Blocking, tile: Tile, key: Key, element: Element, span: Span, name: str, valid: Tile | None) -> Tile:
    """A plain sum over one axis of a tile."""
    tile = b.masked(tile, valid, Literal(zero_of(element), scalar(element)), span)
    shape = list(shape_of(tile.operand))
    axis = tile.lead.index(key) if isinstance(key, BlockedAxis) else len(shape) - 1 - key
    del shape[axis]
    operands = (("input", tile.operand),)
    value = b.call("sum", operands, (("axis", axis),), element, tuple(shape), span, name)
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
    if valid is not None:
        n = 0 if keys(b, valid) <= keys(b, groups[0]) else 1
        zero = Literal(zero_of(element), scalar(element))
        masked = precision.keep(b, b.masked(groups[n], valid, zero, span), groups[n : n + 1])
        groups = [masked if m == n else g for m, g in enumerate(groups)]
    others = [next(iter(keys(b, g) - {key})) for g in groups]
    if place(b, others[1]) < place(b, others[0]):
        groups, others = groups[::-1], others[::-1]
    chosen = precision.reading(b, groups)
    left, right = (precision.read(b, g, e, span) for g, e in zip(groups, chosen.elements, strict=True))
    first = matrix(b, left, (others[0], key), span)
    second = matrix(b, right, (key, others[1]), span)
    shape = (shape_of(first)[0], shape_of(second)[1])
    lead = tuple(k for k in others if isinstance(k, BlockedAxis))
    rank = max((k + 1 for k in others if not isinstance(k, BlockedAxis)), default=0)
    if rank > 1:
        raise RefusedError("a product of matrices over axes that are not the last", span)
    operands = [("input", first), ("other", second)]
    if acc is not None:
        operands.append(("acc", b.filled(acc, lead, rank, shape, element, span).operand))
    attributes = (("input_precision", chosen.precision), ("out_dtype", element))
    return Tile(b.call("dot", operands, attributes, element, shape, span, name), lead, rank)


def place(b: Blocking, key: Key) -> int:
    """Where an axis stands in the order that all tiles keep."""
    return b.order.index(key) if isinstance(key, BlockedAxis) else 100 - key


def matrix(b: Blocking, tile: Tile, keys: tuple[Key, Key], span: Span) -> Operand:
    """A tile of two axes in the order asked for."""
    if len(shape_of(tile.operand)) != 2:
        raise RefusedError("a factor of a product of matrices has axes of extent 1", span)
    if place(b, keys[0]) < place(b, keys[1]):
        return tile.operand
    rows, columns = shape_of(tile.operand)
    operands = (("input", tile.operand),)
    return b.call("trans", operands, (), element_of(tile.operand), (columns, rows), span)


def terms(b: Blocking, operand: Operand) -> tuple[Term, ...]:
    """The terms of a value that is not made."""
    return terms_of(operand, b.lets, lambda v: v.id in b.lets and b.width(v) > 2)


def opened(b: Blocking, term: Term) -> tuple[Term, ...]:
    """A term whose factors are all made, or sums of those."""
    parts = [terms(b, f) for f in term.factors]
    return multiplied(parts, term.is_negative)


def factor_product(b: Blocking, term: Term, span: Span) -> Tile:
    tiles = [b.tile(f, span) for f in term.factors]
    product = tiles[0]
    for tile in tiles[1:]:
        product = b.binary("mul", product, tile, _type_of(term.factors), span)
    return product


def _type_of(factors: Sequence[Operand]) -> Element:
    """The type in which a product is computed."""
    return element_of(factors[0])
