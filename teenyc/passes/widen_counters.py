"""Counts where Triton counts right: a program goes in, one comes out whose loops end before their stop, in i32 or i64.

Triton compares counters as signed numbers, adds the step in their width, and has no inclusive end. So a counter that is
narrow or unsigned, or that may pass the greatest number of its type, is counted in a wider type and cast in the body.
Where there is none, iterations are counted: the author's counter is the start and so many steps.
"""

from __future__ import annotations

from collections.abc import Iterator

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Binary,
    Cast,
    Constant,
    For,
    Let,
    Literal,
    Operand,
    Program,
    Statement,
    Value,
)
from teenyc.record import replace
from teenyc.source import Span
from teenyc.types import I32, I64, U32, DType, TensorType


def widen_counters(program: Program) -> Program:
    """The program without inclusive ends and without counters that Triton would count wrongly."""
    ids = walk.fresh_ids(program)

    def loop(statement: Statement) -> tuple[Statement, ...]:
        return _plain(statement, ids) if isinstance(statement, For) else (statement,)

    return walk.map_bodies(program, lambda body: walk.map_statements(body, loop))


def _plain(loop: For, ids: Iterator[int]) -> tuple[Statement, ...]:
    """A loop and what comes before it."""
    assert isinstance(loop.counter.type, TensorType), "counters are integers"
    element = loop.counter.type.element
    assert isinstance(element, DType), "counters are integers"
    wide = _wide(element, loop)
    before: list[Statement] = []
    if wide.bits == 64 == element.bits and not _is_countable(loop, wide):
        from teenyc.passes.iterations import by_iteration

        return by_iteration(loop, wide, ids)
    start, stop, step = (_as(o, wide, before, loop.span, ids) for o in (loop.start, loop.stop, loop.step))
    if loop.inclusive:
        start, stop = _exclusive(start, stop, wide, before, loop.span, ids)
    if wide == element and not (loop.inclusive and _is_greatest(loop.stop, wide)):
        return (*before, replace(loop, start=start, stop=stop, step=step, inclusive=False))
    counter = Value(next(ids), TensorType(wide), "count")
    body = replace(loop.body, statements=(_given(loop, counter, wide), *loop.body.statements))
    plain = replace(loop, counter=counter, start=start, stop=stop, step=step, body=body, inclusive=False)
    return (*before, plain)


def _wide(element: DType, loop: For) -> DType:
    """The type in which a loop is counted."""
    if element.bits < 32:
        return I32
    is_at_end = loop.inclusive and not (isinstance(loop.stop, Literal) and loop.stop.value < element.maximum)
    return I64 if element == U32 or (element == I32 and (is_at_end or _may_pass(loop))) else element


SMALL = 1 << 16
"""Steps from here on may pass the end of `i32` in loops over sizes that tensors have."""


def _may_pass(loop: For) -> bool:
    """Whether the last step of a loop in `i32` may pass its greatest number."""
    match loop.stop, loop.step:
        case _, Literal(value=1):
            return False
        case Literal(value=stop), Literal(value=step):
            return stop + step - 1 > I32.maximum
        case _, Literal(value=step):
            return step >= SMALL
        case _:
            return not isinstance(loop.step, Constant)


def _is_countable(loop: For, dtype: DType) -> bool:
    """Whether Triton counts a loop in 64 bits right, but for more iterations than any machine does."""
    start, stop, step = loop.start, loop.stop, loop.step
    if loop.unroll:
        return True
    if isinstance(stop, Literal) and dtype == I64 and isinstance(step, Literal):
        return stop.value + step.value - 1 <= I64.maximum
    if dtype == I64 and not loop.inclusive and isinstance(step, Literal) and step.value == 1:
        return True
    is_near = isinstance(stop, Literal) and stop.value > I64.maximum
    return isinstance(start, Literal) and start.value < 1 << 32 and isinstance(step, Literal) and not is_near


def _is_greatest(stop: Operand, dtype: DType) -> bool:
    return isinstance(stop, Literal) and stop.value == dtype.maximum


def _exclusive(
    start: Operand, stop: Operand, dtype: DType, before: list[Statement], span: Span, ids: Iterator[int]
) -> tuple[Operand, Operand]:
    """The ends of a loop to and with `stop`: one more, or where there is none, all one less."""
    one = Literal(1, TensorType(dtype))
    if _is_greatest(stop, dtype):
        return _sum("sub", start, one, before, span, ids), stop
    if isinstance(stop, Literal):
        return start, Literal(int(stop.value) + 1, stop.type)
    return start, _sum("add", stop, one, before, span, ids)


def _given(loop: For, counter: Value, wide: DType) -> Statement:
    """What gives the author's counter at the start of an iteration."""
    if counter.type != loop.counter.type:
        return Let(results=(loop.counter,), operation=Cast(operand=counter), span=loop.span)
    onward = Binary(operator="add", left=counter, right=Literal(1, TensorType(wide)))
    return Let(results=(loop.counter,), operation=onward, span=loop.span)


def _as(operand: Operand, dtype: DType, before: list[Statement], span: Span, ids: Iterator[int]) -> Operand:
    """The operand in another integer type."""
    assert isinstance(operand.type, TensorType), "bounds are integers"
    if operand.type.element == dtype:
        return operand
    if isinstance(operand, Literal):
        return Literal(operand.value, TensorType(dtype))
    result = Value(next(ids), TensorType(dtype))
    before.append(Let(results=(result,), operation=Cast(operand=operand), span=span))
    return result


def _sum(
    operator: str, left: Operand, right: Operand, before: list[Statement], span: Span, ids: Iterator[int]
) -> Operand:
    result = Value(next(ids), left.type)
    before.append(Let(results=(result,), operation=Binary(operator=operator, left=left, right=right), span=span))
    return result
