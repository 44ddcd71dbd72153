"""The ends of a block of rows: what a number of the source is in the first and in the last row of a block.

A number that only grows, or only falls, from row to row is least and greatest there. The bounds of loops are such
numbers, where a loop goes as far as its row says.
"""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.ir import intervals
from teenyc.ir.nodes import Binary, Call, Cast, Copy, Literal, Operand, Operation, Unary, Value
from teenyc.ir.walk import map_operation, operands_of
from teenyc.source import Span
from teenyc.tiling.plan import BlockedAxis
from teenyc.tiling.room import interval, is_kept
from teenyc.tiling.state import Blocking, Tile, element_of
from teenyc.types import I32, I64


def extreme(b: Blocking, operand: Operand, is_greatest: bool, span: Span, name: str = "") -> Operand | None:
    """The greatest or the least of a number over the rows of a block, if it is that of an end for each axis of rows."""
    rows: dict[BlockedAxis, Tile] = {}
    for axis in b.tile(operand, span).lead:
        way = direction(b, operand, axis)
        if way is None or axis not in b.ends:
            return None
        first, last = b.ends[axis]
        rows[axis] = Tile(last if (way > 0) == is_greatest else first)
    return at(b, operand, rows, span, name).operand


def at(b: Blocking, operand: Operand, rows: Mapping[BlockedAxis, Tile], span: Span, name: str = "") -> Tile:
    """What a number is in other rows than those of the block."""
    tile = b.tile(operand, span)
    if not isinstance(operand, Value) or rows.keys().isdisjoint(tile.lead):
        return tile
    let = b.lets[operand.id]
    if isinstance(let.operation, Call) and let.operation.intrinsic == "program_id":
        return rows[tile.lead[0]]
    given = [at(b, o, rows, span) for o in operands_of(let.operation)]
    if isinstance(let.operation, Copy):
        return given[0]
    operands, lead, rank, shape = b.met(given, span)
    left = iter(operands)
    operation = map_operation(let.operation, lambda _: next(left))
    return Tile(b.let(operation, element_of(operand), shape, span, name), lead, rank)


def direction(b: Blocking, operand: Operand, axis: BlockedAxis) -> int | None:
    """1 where a number never falls along rows, -1 where it never rises, 0 where it is the same; None if unknown."""
    operation = _varying(b, operand, axis)
    match operation:
        case None:
            return 0
        case Call(intrinsic="minimum" | "maximum", operands=((_, left), (_, right))):
            return _same(direction(b, left, axis), direction(b, right, axis))
        case Binary(operator="div", left=left, right=Literal(value=divisor)) if divisor > 0:
            return direction(b, left, axis)
        case Binary(operator="add", left=left, right=right) if _is_exact(b, operand):
            return _same(direction(b, left, axis), direction(b, right, axis))
        case Binary(operator="sub", left=left, right=right) if _is_exact(b, operand):
            return _same(direction(b, left, axis), _turned(direction(b, right, axis)))
        case Unary(operator="neg", operand=inner) if _is_exact(b, operand):
            return _turned(direction(b, inner, axis))
        case Copy(operand=inner) | Cast(operand=inner) if is_kept(operand, inner):
            return direction(b, inner, axis)
    step = slope(b, operand, axis)
    return None if step is None else (step > 0) - (step < 0)


def slope(b: Blocking, operand: Operand, axis: BlockedAxis) -> int | None:
    """By how much a number rises from each row to the next; None if that is not known."""
    operation = _varying(b, operand, axis)
    match operation:
        case None:
            return 0
        case Call(intrinsic="program_id"):
            return 1
        case Copy(operand=inner) | Cast(operand=inner) if is_kept(operand, inner):
            return slope(b, inner, axis)
        case Unary(operator="neg", operand=inner) if _is_exact(b, operand):
            step = slope(b, inner, axis)
            return None if step is None else -step
        case Binary(operator="add" | "sub" as operator, left=left, right=right) if _is_exact(b, operand):
            one, other = slope(b, left, axis), slope(b, right, axis)
            return None if one is None or other is None else one + other if operator == "add" else one - other
        case Binary(operator="mul", left=left, right=right) if _is_exact(b, operand):
            for number, inner in ((left, right), (right, left)):
                if isinstance(number, Literal):
                    step = slope(b, inner, axis)
                    return None if step is None else step * int(number.value)
    return None


def _varying(b: Blocking, operand: Operand, axis: BlockedAxis) -> Operation | None:
    """What defines a number that varies along rows."""
    if not isinstance(operand, Value) or axis not in b.tile(operand, axis.span).lead:
        return None
    return b.lets[operand.id].operation


def _is_exact(b: Blocking, operand: Operand) -> bool:
    """Whether arithmetic does not wrap: in 64 bits, or in 32 where the operands are proven small."""
    if element_of(operand) == I64:
        return True
    let = b.lets[operand.id] if isinstance(operand, Value) else None
    match let.operation if let is not None else None:
        case Binary(operator=operator, left=left, right=right) if element_of(operand) == I32:
            exact = intervals.binary(operator, interval(b.lets, left), interval(b.lets, right), I64)
            return intervals.fits(exact, intervals.of_type(I32))
        case Unary(operand=inner) if element_of(operand) == I32:
            return interval(b.lets, inner)[0] > I32.minimum
    return False


def _same(one: int | None, other: int | None) -> int | None:
    """The direction of what goes along with two numbers."""
    if one is None or other is None or one * other < 0:
        return None
    return one or other


def _turned(way: int | None) -> int | None:
    return None if way is None else -way
