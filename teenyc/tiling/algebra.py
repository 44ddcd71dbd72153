"""Operations of the source that change nothing: sums with 0, and the division of what has just been multiplied."""

from __future__ import annotations

from collections.abc import Sequence

from teenyc.ir.nodes import Binary, Call, Literal, Offset, Operation, Value
from teenyc.source import Span
from teenyc.tiling import extents
from teenyc.tiling.state import Blocking, Tile, element_of
from teenyc.types import Element, is_float


def unchanged(b: Blocking, operation: Operation, tiles: Sequence[Tile]) -> Tile | None:
    """The tile that an operation gives back as it is, if it does."""
    match operation:
        case Binary(operator="add") | Offset():
            return _plus_zero(*tiles)
        case Binary(operator="and"):
            return next((other for flag, other in (tiles, tiles[::-1]) if _is_true(flag)), None)
        case Call(intrinsic="where") if _is_true(tiles[0]) or _is_zero_elsewhere(b, *tiles):
            return tiles[1]
        case Binary(operator="div", right=right) if isinstance(tiles[0].operand, Value):
            multiple = b.multiples.get(tiles[0].operand.id)
            if multiple is not None and multiple[1] == extents.known(b, right):
                return multiple[0]
    return None


def _is_zero_elsewhere(b: Blocking, flags: Tile, tile: Tile, other: Tile) -> bool:
    """Whether a tile was loaded under the very flags that choose it, and is 0 elsewhere as it is to be."""
    return isinstance(other.operand, Literal) and other.operand.value == 0 and is_only_where(b, tile, flags)


def is_only_where(b: Blocking, tile: Tile, flags: Tile) -> bool:
    """Whether a tile was loaded under flags, and is 0 where these do not hold."""
    if not isinstance(tile.operand, Value):
        return False
    loaded = b.loaded.get(tile.operand.id, tile).operand
    return isinstance(loaded, Value) and flags.operand in b.only_where.get(loaded.id, ())


def _is_true(tile: Tile) -> bool:
    return isinstance(tile.operand, Literal) and tile.operand.value is True


def _plus_zero(left: Tile, right: Tile) -> Tile | None:
    """Integers and addresses only: -0.0 + 0.0 is 0.0."""
    for zero, other in ((left, right), (right, left)):
        if isinstance(zero.operand, Literal) and zero.operand.value == 0 and not is_float(element_of(zero.operand)):
            return other
    return None


def times(b: Blocking, left: Tile, right: Tile, element: Element, span: Span) -> Tile:
    """A product; one of the factors may be 1."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one.operand, Literal) and one.operand.value == 1 and element_of(other.operand) == element:
            return other
    return b.binary("mul", left, right, element, span)
