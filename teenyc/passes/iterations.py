"""Loops over the numbers of their iterations: a loop that Triton would count wrongly goes in, one from 0 comes out.

The author's counter is the start and so many steps, in its own type. The distance between start and stop is computed
without sign, where it always fits.
"""

from __future__ import annotations

from collections.abc import Iterator

from teenyc.ir.nodes import Binary, Cast, Compare, For, Let, Literal, Operand, Operation, Statement, Value
from teenyc.record import replace
from teenyc.source import Span
from teenyc.types import BOOL, I64, U64, DType, TensorType

ONE = Literal(1, TensorType(U64))


def by_iteration(loop: For, dtype: DType, ids: Iterator[int]) -> tuple[Statement, ...]:
    """The loop in 64 bits, behind what computes how many iterations it has."""
    before, inside = _Line(loop.span, ids), _Line(loop.span, ids)
    stop = _iterations(loop, before)
    count = Value(next(ids), TensorType(I64), "count")
    walked = inside.cast(count, dtype)
    if not _is_one(loop.step):
        walked = inside.binary("mul", walked, loop.step)
    onward = Binary(operator="add", left=loop.start, right=walked)
    counter = Let(results=(loop.counter,), operation=onward, span=loop.span)
    body = replace(loop.body, statements=(*inside.statements, counter, *loop.body.statements))
    zero, one = Literal(0, TensorType(I64)), Literal(1, TensorType(I64))
    plain = replace(loop, counter=count, start=zero, stop=stop, step=one, body=body, inclusive=False)
    return (*before.statements, plain)


def _iterations(loop: For, before: _Line) -> Operand:
    """How often a loop runs: never, where its start is behind its stop."""
    compare = Compare(operator="le" if loop.inclusive else "lt", left=loop.start, right=loop.stop)
    is_any = before.cast(before.add(compare, BOOL), U64)
    distance = before.cast(before.binary("sub", loop.stop, loop.start), U64)
    is_stepwise = _is_one(loop.step)
    if not (loop.inclusive or is_stepwise):
        distance = before.binary("sub", distance, ONE)
    if not is_stepwise:
        distance = before.binary("div", distance, before.cast(loop.step, U64))
    if loop.inclusive or not is_stepwise:
        distance = before.binary("add", distance, ONE)
    return before.cast(before.binary("mul", distance, is_any), I64)


def _is_one(step: Operand) -> bool:
    return isinstance(step, Literal) and step.value == 1


class _Line:
    """Statements in a row, under construction."""

    def __init__(self, span: Span, ids: Iterator[int]) -> None:
        self.span = span
        self.ids = ids
        self.statements: list[Statement] = []

    def add(self, operation: Operation, element: DType) -> Operand:
        result = Value(next(self.ids), TensorType(element))
        self.statements.append(Let(results=(result,), operation=operation, span=self.span))
        return result

    def binary(self, operator: str, left: Operand, right: Operand) -> Operand:
        assert isinstance(left.type, TensorType), "counters are integers"
        assert isinstance(left.type.element, DType), "counters are integers"
        return self.add(Binary(operator=operator, left=left, right=right), left.type.element)

    def cast(self, operand: Operand, element: DType) -> Operand:
        if operand.type == TensorType(element):
            return operand
        return self.add(Cast(operand=operand), element)
