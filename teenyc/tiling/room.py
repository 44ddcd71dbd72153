"""Room in 32 bits: a loop with bounds for each row goes in; one whose blocks do not pass the last i32 comes out.

A block may begin at the last of the bounds, and goes on for up to `ROOM` more iterations. From the start to the stop it
must not be farther than the greatest i32. A loop for which that is not proven counts in 64 bits, and its body reads the
counter as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.ir import intervals
from teenyc.ir.intervals import Interval
from teenyc.ir.nodes import Binary, Block, Call, Cast, Copy, For, Let, Literal, Offset, Operand, Statement, Value
from teenyc.ir.walk import map_statements, operands_of, substitute
from teenyc.record import replace
from teenyc.source import Span
from teenyc.tiling.state import element_of
from teenyc.types import I32, I64, scalar

ROOM = 1 << 20
"""The most elements of a tensor, and so the most rows or iterations of a block."""

PROGRAMS: Interval = (0, I32.maximum - 2 * ROOM)
"""The indices of programs that take blocks. For a grid of 2³⁰ and more the plain kernel is launched."""


def roomy(statement: Statement, lets: Mapping[int, Let], ids: Iterator[int]) -> tuple[Statement, ...]:
    """A loop with room for blocks, with what stands in front; others as they are."""
    if not isinstance(statement, For):
        return (statement,)
    if element_of(statement.counter) == I64:
        return (_read_wide(statement, lets),)
    has_own = any(is_of_row(bound, lets) for bound in (statement.start, statement.stop))
    if element_of(statement.counter) != I32 or not has_own or _has_room(statement, lets):
        return (statement,)
    before: list[Statement] = []
    start, stop, step = (
        _widened(o, statement.span, ids, before) for o in (statement.start, statement.stop, statement.step)
    )
    wide = replace(statement.counter, type=scalar(I64))
    narrow = replace(statement.counter, id=next(ids))
    cast = Let(results=(narrow,), operation=Cast(operand=wide), span=statement.span)
    body = _reading(substitute(statement.body, {wide.id: narrow}), narrow, wide)
    body = replace(body, statements=(cast, *body.statements))
    return (*before, replace(statement, counter=wide, start=start, stop=stop, step=step, body=body))


def _read_wide(loop: For, lets: Mapping[int, Let]) -> For:
    """A loop in 64 bits whose counter, which 32 hold, is read as it counts where that makes no difference."""
    first, last = interval(lets, loop.start)[0], interval(lets, loop.stop)[1]
    if not intervals.fits((first, last), intervals.of_type(I32)):
        return loop
    body = loop.body
    for statement in loop.body.statements:
        match statement:
            case Let(operation=Cast(operand=operand), results=(narrow,)) if operand == loop.counter:
                body = _reading(body, narrow, loop.counter) if narrow.type == scalar(I32) else body
    return loop if body is loop.body else replace(loop, body=body)


def _reading(body: Block, narrow: Value, wide: Value) -> Block:
    """A body that reads a counter in 64 bits where it made that of one in 32, and in addresses."""

    def reading(inner: Statement) -> tuple[Statement, ...]:
        operation = inner.operation if isinstance(inner, Let) else None
        if isinstance(inner, Let) and isinstance(operation, Cast) and operation.operand == narrow:
            return (replace(inner, operation=Copy(operand=wide)),) if inner.results[0].type == wide.type else (inner,)
        if isinstance(inner, Let) and isinstance(operation, Offset) and operation.offset == narrow:
            return (replace(inner, operation=replace(operation, offset=wide)),)
        return (inner,)

    return map_statements(body, reading)


def interval(lets: Mapping[int, Let], operand: Operand) -> Interval:
    """Numbers among which an integer is, whatever the rows and the arguments."""
    element = element_of(operand)
    whole = intervals.of_type(I32 if element == I32 else I64)
    if isinstance(operand, Literal):
        return int(operand.value), int(operand.value)
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    found = whole
    match let.operation if let is not None else None:
        case Call(intrinsic="program_id"):
            return PROGRAMS
        case Copy(operand=inner) | Cast(operand=inner) if is_kept(operand, inner):
            return interval(lets, inner)
        case Binary(operator="add" | "sub" | "mul" as operator, left=left, right=right):
            found = intervals.binary(operator, interval(lets, left), interval(lets, right), I64)
        case Call(intrinsic="minimum" | "maximum" as name, operands=((_, left), (_, right))):
            one, other = interval(lets, left), interval(lets, right)
            choose = min if name == "minimum" else max
            found = choose(one[0], other[0]), choose(one[1], other[1])
    return found if intervals.fits(found, whole) else whole


def is_kept(operand: Operand, inner: Operand) -> bool:
    """Whether a conversion keeps every number."""
    narrow, wide = element_of(inner), element_of(operand)
    return narrow == wide or ((narrow, wide) == (I32, I64))


def is_near(lets: Mapping[int, Let], loop: For) -> bool:
    """Whether the way from start to stop is no farther than the greatest i32."""
    return interval(lets, loop.stop)[1] - interval(lets, loop.start)[0] <= I32.maximum


def _has_room(loop: For, lets: Mapping[int, Let]) -> bool:
    """Whether neither the way from start to stop nor a block behind a bound of a row passes the greatest i32."""
    step = int(loop.step.value) if isinstance(loop.step, Literal) else 0
    last = max((interval(lets, o)[1] for o in (loop.start, loop.stop) if is_of_row(o, lets)), default=0)
    return 0 < step * ROOM <= I32.maximum - last and is_near(lets, loop)


def is_of_row(operand: Operand, lets: Mapping[int, Let]) -> bool:
    """Whether a number depends on the index of a program."""
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    if let is None:
        return False
    is_index = isinstance(let.operation, Call) and let.operation.intrinsic == "program_id"
    return is_index or any(is_of_row(o, lets) for o in operands_of(let.operation))


def _widened(operand: Operand, span: Span, ids: Iterator[int], to: list[Statement]) -> Operand:
    if isinstance(operand, Literal):
        return replace(operand, type=scalar(I64))
    value = Value(next(ids), scalar(I64))
    to.append(Let(results=(value,), operation=Cast(operand=operand), span=span))
    return value
