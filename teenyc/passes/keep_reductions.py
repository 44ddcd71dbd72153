"""Keeps reductions in their iterations: a program goes in, one comes out that Triton compiles right.

Where a loop hands on what is made of `tl.sum(x, axis=1)`, of an `x` as it was loaded, Triton (3.6 to 3.9, on a GPU)
takes it for a sum that goes on: it collects `x` thread by thread, and reduces behind the loop. It does not look what
makes the next value. So `total - tl.sum(x, axis=1)` comes out as `total + …`, `tl.maximum(m, tl.sum(x, axis=1))` as the
maximum of parts of sums, and others make it fail. There the reduction gets `+ 0.0`, which ends that and changes no
number. What adds sums up, and extrema to extrema, stays as it is: there collecting is right, and fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Carried,
    Cast,
    Copy,
    For,
    Let,
    Literal,
    Operand,
    Operation,
    Program,
    Statement,
    Value,
)
from teenyc.passes.along_rows import GOING_ON, along_rows, lets_of
from teenyc.record import replace
from teenyc.source import Comments
from teenyc.types import Element, TensorType

WHY = Comments(leading=("Without `+ 0.0` Triton takes this for a sum that goes on.",))


def keep_reductions(program: Program) -> Program:
    """The program where reductions along rows that Triton would move out of loops wrongly stay there."""
    ids = count(walk.next_id(program))
    return walk.map_bodies(program, lambda body: walk.map_statements(body, _Keeping(body, ids).statement))


class _Keeping:
    def __init__(self, body: Block, ids: Iterator[int]) -> None:
        self.ids = ids
        self.lets: Mapping[int, Let] = lets_of(body)

    def statement(self, statement: Statement) -> tuple[Statement, ...]:
        """A loop whose reductions stay in it; any other statement as it is."""
        if not isinstance(statement, For):
            return (statement,)
        made: dict[int, tuple[Value, Value]] = {}  # by the id of what makes a next value: a reduction, and what is read
        for carried, after in zip(statement.carried, statement.body.yields, strict=True):
            reduction = self.misread(carried, after)
            if reduction is not None and isinstance(after, Value):
                made[after.id] = (reduction, Value(next(self.ids), reduction.type))
        if not made:
            return (statement,)
        statements: list[Statement] = []
        for each in statement.body.statements:
            pair = made.get(each.results[0].id) if isinstance(each, Let) and each.results else None
            statements += [each] if pair is None else self.kept(each, *pair)
        return (replace(statement, body=replace(statement.body, statements=tuple(statements))),)

    def kept(self, statement: Statement, reduction: Value, read: Value) -> list[Statement]:
        """The statement behind one that adds zero to what it reads."""
        zero = Literal(0.0, TensorType(_element(reduction)))
        same = Binary(operator="add", left=reduction, right=zero)
        new = walk.map_operands(statement, lambda operand: read if operand == reduction else operand)
        assert isinstance(new, Let), "it makes a value"
        comments = new.comments if new.comments.leading else WHY
        return [Let(results=(read,), operation=same, span=statement.span), replace(new, comments=comments)]

    def misread(self, carried: Carried, after: Operand) -> Value | None:
        """The reduction of which the next value is made, in another way than by going on with it."""
        let = self.lets.get(after.id) if isinstance(after, Value) else None
        if let is None:
            return None
        for operand in walk.operands_of(let.operation):
            call = self.reduction(operand)
            if call is not None and isinstance(operand, Value) and not _goes_on(let.operation, call, operand, carried):
                return operand
        return None

    def reduction(self, operand: Operand) -> Call | None:
        """A reduction along rows of what was loaded."""
        call = along_rows(self.lets.get(operand.id) if isinstance(operand, Value) else None)
        return call if call is not None and self.is_loaded(call) else None

    def is_loaded(self, reduction: Call) -> bool:
        """Whether what is reduced comes from memory, by way of conversions at most, which may be none."""
        operand = reduction.operands[0][1]
        while isinstance(operand, Value) and operand.id in self.lets:
            operation = self.lets[operand.id].operation
            if not isinstance(operation, (Cast, Copy)):
                return isinstance(operation, Call) and operation.intrinsic == "load"
            operand = operation.operand
        return False


def _goes_on(operation: Operation, reduction: Call, result: Value, carried: Carried) -> bool:
    """Whether the next value is the last one and the reduction, brought together as the reduction does."""
    match operation:
        case Binary(operator=name, left=left, right=right):
            parts = (left, right)
        case Call(intrinsic=name, operands=((_, left), (_, right))):
            parts = (left, right)
        case _:
            return False
    return name == GOING_ON[reduction.intrinsic] and set(parts) == {carried.inside, result}


def _element(value: Value) -> Element:
    assert isinstance(value.type, TensorType), "what is reduced is a tensor"
    return value.type.element
