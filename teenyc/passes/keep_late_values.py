"""Keeps values that run an iteration late: a program goes in, one comes out whose loops Triton does not cut short.

In `late = next; next = f(next)` with both from one value, Triton (3.6 to 3.9, on a GPU) takes `late` for invariant and
keeps it as it was before the loop. So a loop-carried value that becomes another one's is chosen by a condition that
always holds and that Triton does not decide: `late = tl.where(tl.program_id(0) >= 0, next, late)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Block,
    Call,
    Compare,
    Copy,
    For,
    Let,
    Literal,
    Operand,
    Program,
    Statement,
    Value,
    While,
)
from teenyc.record import replace
from teenyc.source import Comments, Span
from teenyc.types import BOOL, I32, TensorType, scalar

WHY = Comments(leading=("Triton takes a plain copy of another loop-carried value for invariant.",))


def keep_late_values(program: Program) -> Program:
    """The program with a choice in the place of each copy that Triton would lose."""
    ids = walk.fresh_ids(program)
    return walk.map_bodies(program, lambda body: _kept(body, ids))


def _kept(body: Block, ids: Iterator[int]) -> Block:
    copies = {
        s.results[0].id: s.operation.operand
        for _, s in walk.statements_of(body)
        if isinstance(s, Let) and isinstance(s.operation, Copy)
    }

    def loop(statement: Statement) -> tuple[Statement, ...]:
        if isinstance(statement, For | While):
            return (_loop(statement, copies, ids),)
        return (statement,)

    return walk.map_statements(body, loop)


def _loop(loop: For | While, copies: dict[int, Operand], ids: Iterator[int]) -> For | While:
    insides = {carried.inside.id: carried for carried in loop.carried}
    late: list[int] = []
    for index, (carried, operand) in enumerate(zip(loop.carried, loop.body.yields, strict=True)):
        source = _origin(operand, copies)
        other = insides.get(source.id) if isinstance(source, Value) else None
        if other is not None and other is not carried and not _differ(carried.initial, other.initial, copies):
            late.append(index)
    body = loop.body
    for index in late:
        body = _chosen(body, index, loop.carried[index].inside, loop.span, ids)
    return replace(loop, body=body) if late else loop


def _origin(operand: Operand, copies: dict[int, Operand]) -> Operand:
    while isinstance(operand, Value) and operand.id in copies:
        operand = copies[operand.id]
    return operand


def _differ(one: Operand, other: Operand, copies: dict[int, Operand]) -> bool:
    """Whether two initial values are known to differ; those of one value, or of one constant, do not."""
    a, b = _origin(one, copies), _origin(other, copies)
    return isinstance(a, Literal) and isinstance(b, Literal) and a.value != b.value


def _chosen(body: Block, index: int, inside: Value, span: Span, ids: Iterator[int]) -> Block:
    """The body with the yield at an index chosen: where its copy stands if it has one, otherwise at the end."""
    operand = body.yields[index]
    for place, statement in enumerate(body.statements):
        if isinstance(statement, Let) and isinstance(statement.operation, Copy) and operand in statement.results:
            made = _choice(statement.results[0], statement.operation.operand, inside, statement, ids)
            return replace(body, statements=(*body.statements[:place], *made, *body.statements[place + 1 :]))
    result = Value(next(ids), inside.type, inside.name)
    made = _choice(result, operand, inside, Let(results=(result,), operation=Copy(operand=operand), span=span), ids)
    yields = (*body.yields[:index], result, *body.yields[index + 1 :])
    return replace(body, statements=(*body.statements, *made), yields=yields)


def _choice(result: Value, next_value: Operand, inside: Value, copy: Let, ids: Iterator[int]) -> tuple[Let, ...]:
    first = Value(next(ids), scalar(I32))
    always = Value(next(ids), scalar(BOOL))
    comments = Comments((*copy.comments.leading, *WHY.leading), copy.comments.trailing)
    zero = Literal(0, TensorType(I32))
    operands = (("condition", always), ("x", next_value), ("y", inside))
    return (
        Let(results=(first,), operation=Call(intrinsic="program_id", attributes=(("axis", 0),)), span=copy.span),
        Let(results=(always,), operation=Compare(operator="ge", left=first, right=zero), span=copy.span),
        replace(copy, results=(result,), operation=Call(intrinsic="where", operands=operands), comments=comments),
    )
