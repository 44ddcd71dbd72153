"""Straight functions: a device function goes in, one without branches comes out, or None where that cannot be.

Both sides of an `if` are computed and one is selected. What a combine function of a reduction or scan does in a branch
must be free of effects then; a divisor is 1 where the branch is not taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import assert_never

from teenyc.intrinsics import TABLE
from teenyc.ir import walk
from teenyc.ir.nodes import (
    Apply,
    Binary,
    Block,
    Call,
    For,
    Function,
    If,
    Let,
    Literal,
    Operand,
    Return,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.record import replace
from teenyc.source import Span
from teenyc.types import BOOL, Shape, TensorType, broadcast, is_integer, scalar


def straightened(function: Function, functions: Mapping[str, Function]) -> Function | None:
    """The function without branches; None where it loops, touches memory or calls a function that is not straight."""
    if not all(_is_straight(s, functions) for _, s in walk.statements_of(function.body)):
        return None
    last = max((v.id for v in walk.values_of(function)), default=0)
    return replace(function, body=Block(statements=tuple(_Straight(count(last + 1)).block(function.body, None))))


def is_pure(function: Function, functions: Mapping[str, Function]) -> bool:
    """Whether a function does nothing but give its results; it may branch and loop."""
    for _, statement in walk.statements_of(function.body):
        operation = statement.operation if isinstance(statement, Let) else None
        if isinstance(operation, Call) and not TABLE[operation.intrinsic].is_pure:
            return False
        if isinstance(operation, Apply) and not is_pure(functions[operation.function], functions):
            return False
    return True


def _is_straight(statement: Statement, functions: Mapping[str, Function]) -> bool:
    match statement:
        case Let(operation=Call(intrinsic=name)):
            return TABLE[name].is_pure
        case Let(operation=Apply(function=name)):
            inner = (s for _, s in walk.statements_of(functions[name].body))
            return all(not isinstance(s, If) and _is_straight(s, functions) for s in inner)
        case Let() | If() | Return():
            return True
        case For() | While():
            return False
        case _:
            assert_never(statement)


class _Straight:
    """The rewrite of one body; `taken` says whether the code at hand is reached, None where it always is."""

    def __init__(self, ids: Iterator[int]) -> None:
        self.ids = ids
        self.aliases: dict[int, Operand] = {}

    def block(self, block: Block, taken: Operand | None) -> Iterator[Statement]:
        for statement in block.statements:
            mapped = walk.map_operands(statement, self.operand)
            match mapped:
                case If():
                    yield from self.choice(mapped, taken)
                case Let():
                    yield from self.let(mapped, taken)
                case _:
                    yield mapped

    def operand(self, operand: Operand) -> Operand:
        return self.aliases.get(operand.id, operand) if isinstance(operand, Value) else operand

    def choice(self, choice: If, taken: Operand | None) -> Iterator[Statement]:
        """The statements of both branches, then a selection for each result."""
        if isinstance(choice.condition, Literal):
            only = choice.then if choice.condition.value else choice.otherwise
            yield from self.block(only, taken)
            pairs = zip(choice.results, only.yields, strict=True)
            self.aliases.update((result.id, self.operand(operand)) for result, operand in pairs)
            return
        turned = Value(next(self.ids), scalar(BOOL))
        yield Let(results=(turned,), operation=Unary(operator="not", operand=choice.condition), span=choice.span)
        for branch, condition in ((choice.then, choice.condition), (choice.otherwise, turned)):
            reached = condition
            if taken is not None and branch.statements:
                reached = Value(next(self.ids), scalar(BOOL))
                both = Binary(operator="and", left=taken, right=condition)
                yield Let(results=(reached,), operation=both, span=choice.span)
            yield from self.block(branch, reached)
        sides = zip(choice.then.yields, choice.otherwise.yields, strict=True)
        for result, (first, second) in zip(choice.results, sides, strict=True):
            yield _selection(result, choice.condition, self.operand(first), self.operand(second), choice.span)

    def let(self, let: Let, taken: Operand | None) -> Iterator[Statement]:
        operation = let.operation
        if taken is None or not isinstance(operation, Binary) or operation.operator not in ("div", "rem"):
            yield let
            return
        divisor = operation.right
        type = divisor.type
        if not isinstance(type, TensorType) or not is_integer(type.element) or isinstance(divisor, Literal):
            yield let
            return
        safe = Value(next(self.ids), type)
        yield _selection(safe, taken, divisor, Literal(1, TensorType(type.element)), let.span)
        yield replace(let, operation=replace(operation, right=safe))


def _selection(result: Value, condition: Operand, first: Operand, second: Operand, span: Span) -> Let:
    call = Call(intrinsic="where", operands=(("condition", condition), ("x", first), ("y", second)))
    return Let(results=(result,), operation=call, span=span)


def lifted(function: Function, shapes: Sequence[Shape]) -> Function | None:
    """A straight function on scalars as one on tensors of these shapes, element by element; None where it is none."""
    known: dict[int, Value] = {}
    for parameter, shape in zip(function.parameters, shapes, strict=True):
        known[parameter.value.id] = _with_shape(parameter.value, shape)
    statements: list[Statement] = []
    for statement in function.body.statements:
        mapped = walk.map_operands(statement, lambda o: known.get(o.id, o) if isinstance(o, Value) else o)
        if isinstance(mapped, Let):
            if isinstance(mapped.operation, Apply):
                return None
            common = _broadcast(walk.operands_of(mapped))
            if common is None:
                return None
            known.update((r.id, _with_shape(r, common)) for r in mapped.results)
            mapped = replace(mapped, results=tuple(known[r.id] for r in mapped.results))
        statements.append(mapped)
    (*_, last) = statements
    assert isinstance(last, Return), "a function ends by returning"
    parameters = tuple(replace(p, value=known[p.value.id]) for p in function.parameters)
    results = tuple(o.type for o in last.values)
    return replace(function, parameters=parameters, results=results, body=Block(statements=tuple(statements)))


def _broadcast(operands: tuple[Operand, ...]) -> Shape | None:
    shape: Shape | None = ()
    for operand in operands:
        if shape is None or not isinstance(operand.type, TensorType):
            return None
        shape = broadcast(shape, operand.type.shape)
    return shape


def _with_shape(value: Value, shape: Shape) -> Value:
    assert isinstance(value.type, TensorType)
    return replace(value, type=TensorType(value.type.element, shape))
