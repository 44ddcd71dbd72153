"""Counting: a `while` goes in whose condition compares what each iteration raises; the `for` that it is comes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.intrinsics import TABLE
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Carried,
    Compare,
    Constant,
    Copy,
    For,
    Let,
    Literal,
    Operand,
    Operation,
    Statement,
    Value,
    While,
)
from teenyc.ir.walk import operands_of
from teenyc.record import replace
from teenyc.source import Span
from teenyc.types import I32, I64, TensorType


def counted(statement: Statement, used: frozenset[int], ids: Iterator[int]) -> tuple[Statement, ...]:
    """A `while` that counts as a `for`, with what stands in front of and behind it; others as they are."""
    if not isinstance(statement, While):
        return (statement,)
    tests = {v.id: s for s in statement.condition.statements if isinstance(s, Let) for v in s.results}
    bound = _bound(statement, tests)
    if bound is None or not all(_is_pure(s) for s in statement.condition.statements):
        return (statement,)
    n, compare = bound
    step = _step(statement, n)
    if step is None:
        return (statement,)
    loop, span, one = statement.carried[n], statement.span, Literal(1, step.type)
    before = [s for s in statement.condition.statements if isinstance(s, Let) and s.operation is not compare]
    stop = compare.right
    if compare.operator == "le":
        before.append(_let(Binary(operator="add", left=stop, right=one), loop.inside, span, ids))
        stop = before[-1].results[0]
    rest = tuple(c for c in statement.carried if c is not loop)
    yields = tuple(y for m, y in enumerate(statement.body.yields) if m != n)
    made = For(
        counter=loop.inside,
        start=loop.initial,
        stop=stop,
        step=step,
        carried=rest,
        body=Block(statements=statement.body.statements, yields=yields),
        span=span,
        comments=statement.comments,
    )
    after = _after(loop, stop, step, span, ids) if loop.result.id in used else ()
    return (*before, made, *after)


def _bound(loop: While, tests: Mapping[int, Let]) -> tuple[int, Compare] | None:
    """Which carried value the condition compares with what no iteration changes, and the comparison."""
    (test,) = loop.condition.yields
    let = tests.get(test.id) if isinstance(test, Value) else None
    if let is None or not isinstance(let.operation, Compare) or let.operation.operator not in ("lt", "le"):
        return None
    insides = [c.inside for c in loop.carried]
    if let.operation.left not in insides or _depends(let.operation.right, tests, frozenset(v.id for v in insides)):
        return None
    return insides.index(let.operation.left), let.operation


def _depends(operand: Operand, lets: Mapping[int, Let], on: frozenset[int]) -> bool:
    if not isinstance(operand, Value):
        return False
    let = lets.get(operand.id)
    return operand.id in on or (let is not None and any(_depends(o, lets, on) for o in operands_of(let.operation)))


def _step(loop: While, n: int) -> Literal | Constant | None:
    """By how much an iteration raises a carried value: a positive number."""
    lets = {v.id: s.operation for s in loop.body.statements if isinstance(s, Let) for v in s.results}
    following, inside = loop.body.yields[n], loop.carried[n].inside
    while isinstance(following, Value) and isinstance(copy := lets.get(following.id), Copy):
        following = copy.operand
    operation = lets.get(following.id) if isinstance(following, Value) else None
    if not isinstance(inside.type, TensorType) or inside.type.element not in (I32, I64):
        return None
    if not isinstance(operation, Binary) or operation.operator != "add":
        return None
    for own, step in ((operation.left, operation.right), (operation.right, operation.left)):
        if own == inside and (isinstance(step, Constant) or (isinstance(step, Literal) and step.value > 0)):
            return step
    return None


def _is_pure(statement: Statement) -> bool:
    if not isinstance(statement, Let):
        return False
    return not isinstance(statement.operation, Call) or TABLE[statement.operation.intrinsic].is_pure


def _after(loop: Carried, stop: Operand, step: Literal | Constant, span: Span, ids: Iterator[int]) -> tuple[Let, ...]:
    """What the counter is behind the loop: the start, and a step for each iteration."""
    counts = _let(Binary(operator="sub", left=stop, right=loop.initial), loop.inside, span, ids)
    trips = _let(_call("cdiv", "x", counts.results[0], "div", step), loop.inside, span, ids)
    zero = Literal(0, step.type)
    number = _let(_call("maximum", "x", trips.results[0], "y", zero), loop.inside, span, ids)
    length = _let(Binary(operator="mul", left=number.results[0], right=step), loop.inside, span, ids)
    end = Binary(operator="add", left=loop.initial, right=length.results[0])
    return (counts, trips, number, length, Let(results=(loop.result,), operation=end, span=span))


def _call(name: str, first: str, one: Operand, second: str, other: Operand) -> Call:
    return Call(intrinsic=name, operands=((first, one), (second, other)))


def _let(operation: Operation, like: Value, span: Span, ids: Iterator[int]) -> Let:
    return Let(results=(replace(like, id=next(ids), name=""),), operation=operation, span=span)
