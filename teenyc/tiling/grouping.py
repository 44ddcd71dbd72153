"""Factors of a sum over one axis: those that vary along it come out as one tile, or as two that a product of matrices
takes; the others are multiplied behind the sum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from teenyc.ir.nodes import Cast, Literal, Operand, Unary
from teenyc.record import record, replace
from teenyc.source import Span
from teenyc.tiling import algebra, precision
from teenyc.tiling.bounds import is_true
from teenyc.tiling.finite import is_finite
from teenyc.tiling.memory import anywhere
from teenyc.tiling.plan import BlockedAxis, Key, Term
from teenyc.tiling.state import Blocking, Tile, element_of, shape_of, zero_of
from teenyc.types import BOOL, ONE, Element, Extent, is_float, scalar

LEAST = 16
"""Matrix units take no fewer rows, columns or summands than this."""


@record
class Group:
    """Factors that are multiplied lane by lane, and which operands of the source they are.

    One that `is_finite` is zero wherever the other side is masked.
    """

    tile: Tile
    operands: tuple[Operand, ...] = ()
    is_finite: bool = True

    def with_tile(self, tile: Tile) -> Group:
        return replace(self, tile=tile)


@record
class Chosen:
    """A number that counts where a bool is `holds`."""

    flags: Tile
    holds: bool


@record
class Parts:
    """A term taken apart: its one or two sides, none where nothing varies along the axis, and what stays outside."""

    sides: tuple[Group, ...]
    factors: tuple[Group, ...]
    divisors: tuple[Tile, ...]
    conditions: tuple[Chosen, ...]


def parts_of(b: Blocking, term: Term, key: Key, span: Span) -> Parts:
    """The term taken apart along an axis."""
    factors = [Group(b.tile(f, span), (f,), is_finite(b, f)) for f in term.factors]
    for factor, operand in zip(factors, term.factors, strict=True):
        precision.note(b, operand, factor.tile)
    divisors = [b.tile(d, span) for d in term.divisors]
    conditions = [Chosen(b.tile(c.operand, span), c.holds) for c in term.conditions]
    conditions = [c for c in conditions if not (c.holds and _is_met(b, factors, c.flags))]
    choosing = [c for c in conditions if key in keys(c.flags)]
    # What may be no number where no lane counts is masked; beside lanes of the source's own with the rest of the term.
    is_whole = bool(choosing) and not isinstance(key, BlockedAxis)
    inside = [f for f in factors if key in keys(f.tile) or (is_whole and not f.is_finite)]
    dividing = [d for d in divisors if key in keys(d) or is_whole]
    if not inside and (dividing or choosing):
        inside = [Group(Tile(one_of(element_of(term.factors[0]))))]
    met = [*choosing, *([Chosen(b.iterations, True)] if choosing and b.iterations is not None else [])]
    outer = Parts(
        (),
        tuple(_masked(b, f, met, span) for f in factors if f not in inside),
        tuple(_divisor(b, d, met, span) for d in divisors if d not in dividing),
        tuple(c for c in conditions if key not in keys(c.flags)),
    )
    return replace(outer, sides=_sides(b, inside, dividing, choosing, key, span)) if inside else outer


def _is_met(b: Blocking, factors: Sequence[Group], flags: Tile) -> bool:
    """Whether a condition holds, or a product is 0 where it does not: one factor is, and the others are numbers."""
    zeros = [f for f in factors if algebra.is_only_where(b, f.tile, flags)]
    is_zero = bool(zeros) and all(f.is_finite for f in factors if f is not zeros[0])
    return is_zero or is_true(flags.operand)


def _sides(
    b: Blocking, factors: Sequence[Group], divisors: Sequence[Tile], conditions: Sequence[Chosen], key: Key, span: Span
) -> tuple[Group, ...]:
    """Two sides where they fit a product of matrices and all else fits one of them; otherwise all in one."""
    factors, divisors, conditions = _factored(b, factors, divisors, conditions, span)
    sides = grouped(b, factors, span)
    others = [*divisors, *(c.flags for c in conditions)]
    if len(sides) > 1 and not (is_product(b, sides, key) and all(_place(sides, keys(o)) is not None for o in others)):
        sides = [_together(b, sides, span)]
    for divisor in divisors:
        n = _place(sides, keys(divisor)) or 0
        element = element_of(sides[n].tile.operand)
        tile = b.binary("div", sides[n].tile, divisor, element, span)
        sides[n] = replace(sides[n], tile=tile, is_finite=False)
    places = [_place(sides, keys(c.flags)) or 0 for c in conditions]
    sides = [s if set(places) <= {n} else _masked(b, s, conditions, span) for n, s in enumerate(sides)]
    for n, condition in zip(places, conditions, strict=True):
        sides[n] = sides[n].with_tile(chosen(b, sides[n].tile, condition, span))
    return tuple(sides)


def _factored(
    b: Blocking, factors: Sequence[Group], divisors: Sequence[Tile], conditions: Sequence[Chosen], span: Span
) -> tuple[Sequence[Group], Sequence[Tile], Sequence[Chosen]]:
    """Divisors and conditions that fit no factor, where all meet along three axes, are factors of their own."""
    one = Tile(one_of(element_of(factors[0].tile.operand)))
    tiles = [*(f.tile for f in factors), *divisors, *(c.flags for c in conditions)]
    along = frozenset[Key]().union(*map(keys, tiles))

    def is_apart(tile: Tile) -> bool:
        return len(along) > 2 and not any(keys(tile) <= keys(f.tile) for f in factors)

    own = [d for d in divisors if is_apart(d)]
    choosing = [c for c in conditions if is_apart(c.flags)]
    inverses = [Group(b.binary("div", one, d, element_of(d.operand), span), is_finite=False) for d in own]
    factors = [*factors, *inverses]
    factors = [_masked(b, f, choosing, span) for f in factors]
    factors += [Group(chosen(b, one, c, span)) for c in choosing]
    return factors, [d for d in divisors if d not in own], [c for c in conditions if c not in choosing]


def _masked(b: Blocking, group: Group, conditions: Sequence[Chosen], span: Span) -> Group:
    """What meets zeros of another factor where conditions are not met: what may be no number then is zero too.

    It lacks an axis of a condition, and is needed where all are met anywhere along it.
    """
    if group.is_finite or not conditions:
        return group
    flags = _anywhere(b, conditions, group.tile, span)
    return group.with_tile(chosen(b, group.tile, Chosen(flags, True), span))


def _divisor(b: Blocking, divisor: Tile, conditions: Sequence[Chosen], span: Span) -> Tile:
    """A divisor of a sum that is zero where conditions are not met: 1 there."""
    if not conditions:
        return divisor
    return b.masked(divisor, _anywhere(b, conditions, divisor, span), one_of(element_of(divisor.operand)), span)


def _anywhere(b: Blocking, conditions: Sequence[Chosen], tile: Tile, span: Span) -> Tile:
    """Where conditions are met together, along the blocked axes of a tile."""
    flags, *rest = (_flags(b, c, span) for c in conditions)
    for more in rest:
        flags = b.binary("and", flags, more, BOOL, span)
    return anywhere(b, flags, tile.lead, span)


def _flags(b: Blocking, condition: Chosen, span: Span) -> Tile:
    """Where a condition is met."""
    flags = condition.flags
    if condition.holds:
        return flags
    inverse = Unary(operator="not", operand=flags.operand)
    return replace(flags, operand=b.let(inverse, BOOL, shape_of(flags.operand), span))


def grouped(b: Blocking, factors: Iterable[Group], span: Span) -> list[Group]:
    """Factors multiplied with those that vary along all of their axes, rather with computed than with stored ones."""
    groups: list[Group] = []
    for factor in sorted(factors, key=lambda f: -len(keys(f.tile))):
        fitting = [n for n, g in enumerate(groups) if keys(factor.tile) <= keys(g.tile)]
        fitting.sort(key=lambda n: precision.source_of(b, groups[n].tile) is not None)
        if fitting:
            groups[fitting[0]] = _together(b, [groups[fitting[0]], factor], span)
        else:
            groups.append(factor)
    return groups


def _together(b: Blocking, groups: Sequence[Group], span: Span) -> Group:
    """The product of some groups."""
    first, *rest = groups
    for group in rest:
        tile = algebra.times(b, first.tile, group.tile, element_of(first.tile.operand), span)
        tile = precision.keep(b, tile, (first.tile, group.tile))
        first = Group(tile, (*first.operands, *group.operands), first.is_finite and group.is_finite)
    return first


def is_product(b: Blocking, sides: Sequence[Group], key: Key) -> bool:
    """Whether two sides are matrices that share the axis of the sum alone, and great enough for matrix units."""
    left, *rest = (keys(side.tile) for side in sides)
    if len(rest) != 1 or left & rest[0] != {key} or len(left) != 2 or len(rest[0]) != 2:
        return False
    extents = [e for side in sides for e in shape_of(side.tile.operand) if e != ONE]
    is_of_floats = all(is_float(element_of(side.tile.operand)) for side in sides)
    return is_of_floats and all(e.known is None or e.known >= LEAST for e in extents)


def _place(sides: Sequence[Group], axes: frozenset[Key]) -> int | None:
    """Which side varies along all of some axes."""
    return next((n for n, side in enumerate(sides) if axes <= keys(side.tile)), None)


def chosen(b: Blocking, tile: Tile, condition: Chosen, span: Span) -> Tile:
    """A tile with 0 where it does not count; what is stored is masked as it is stored."""
    source = precision.source_of(b, tile)
    if source is not None:
        raw = _chosen(b, source, condition, span)
        value = b.let(Cast(operand=raw.operand), element_of(tile.operand), shape_of(raw.operand), span)
        b.loaded[value.id] = raw
        return replace(raw, operand=value)
    return _chosen(b, tile, condition, span)


def _chosen(b: Blocking, tile: Tile, condition: Chosen, span: Span) -> Tile:
    element = element_of(tile.operand)
    zero = Tile(Literal(zero_of(element), scalar(element)))
    sides = (tile, zero) if condition.holds else (zero, tile)
    (flags, x, y), lead, rank, shape = b.met([condition.flags, *sides], span)
    made = b.call("where", (("condition", flags), ("x", x), ("y", y)), (), element, shape, span)
    return precision.keep(b, Tile(made, lead, rank), (tile,))


def keys(tile: Tile) -> frozenset[Key]:
    """The axes along which a tile varies."""
    own = shape_of(tile.operand)[len(tile.lead) :]
    return frozenset([*tile.lead, *(len(own) - 1 - n for n, extent in enumerate(own) if extent != ONE)])


def one_of(element: Element) -> Literal:
    """The number that a product is never changed by."""
    return Literal(1.0 if is_float(element) else 1, scalar(element))


def without(b: Blocking, tile: Tile, key: Key, span: Span) -> Tile:
    """A tile of which all lanes along an axis of the source are alike, as that axis is gone."""
    if isinstance(key, BlockedAxis) or tile.rank <= key:
        return tile
    shape = list(shape_of(tile.operand))
    del shape[len(shape) - 1 - key]
    first = next((n for n, e in enumerate(shape[len(tile.lead) :]) if e != ONE), tile.rank - 1)
    del shape[len(tile.lead) : len(tile.lead) + first]  # nor axes to the left of all along which it varies
    return Tile(reshaped(b, tile.operand, tuple(shape), span), tile.lead, tile.rank - 1 - first)


def reshaped(b: Blocking, operand: Operand, shape: tuple[Extent, ...], span: Span) -> Operand:
    """The same lanes with other axes of extent 1."""
    if shape_of(operand) == shape:
        return operand
    return b.call("reshape", (("input", operand),), (("shape", shape),), element_of(operand), shape, span)
