"""Makes a branch of the loop over what full blocks leave in tiled kernels: it has one iteration or none.

A loop from `n / B * B` to `n` in steps of `B` runs at most once. As a branch it reads as what it is, and what products
of matrices have added up may still be under way when it begins: behind a second loop, NVIDIA's assembler waits for each
product of the first one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Cast,
    Compare,
    Copy,
    For,
    If,
    Kernel,
    Let,
    Literal,
    Operand,
    Program,
    Statement,
    Value,
)
from teenyc.record import replace
from teenyc.types import BOOL, I32, I64, scalar

COUNTED = (scalar(I32), scalar(I64))
"""The types in which bounds are computed."""


def branch_rests(program: Program) -> Program:
    """The program whose tiled kernels take the rest of a range in a branch."""
    ids = walk.fresh_ids(program)
    return walk.map_program(program, lambda k: _kernel(k, ids) if k.tiling is not None else k, lambda f: f)


def _kernel(kernel: Kernel, ids: Iterator[int]) -> Kernel:
    lets = {r.id: s for _, s in walk.statements_of(kernel.body) if isinstance(s, Let) for r in s.results}

    def branch(statement: Statement) -> tuple[Statement, ...]:
        if not isinstance(statement, For) or not _is_rest(statement, lets):
            return (statement,)
        return _branch(statement, Value(next(ids), scalar(BOOL)))

    return replace(kernel, body=walk.map_statements(kernel.body, branch))


def _branch(loop: For, condition: Value) -> tuple[Statement, ...]:
    """The one iteration, if there is one."""
    starts: dict[int, Operand] = {c.inside.id: c.initial for c in loop.carried}
    starts[loop.counter.id] = loop.start
    test = Compare(operator="lt", left=loop.start, right=loop.stop)
    return (
        Let(results=(condition,), operation=test, span=loop.span),
        If(
            condition=condition,
            then=walk.substitute(loop.body, starts),
            otherwise=Block(yields=tuple(c.initial for c in loop.carried)),
            results=tuple(c.result for c in loop.carried),
            span=loop.span,
            comments=loop.comments,
        ),
    )


def _is_rest(loop: For, lets: Mapping[int, Let]) -> bool:
    """Whether a loop starts at `a + (stop - a) / step * step`, for any `a`: nothing of a whole step is left."""
    if loop.inclusive:
        return False
    match _definition(loop.start, lets):
        case Binary(operator="add", left=first, right=whole):
            return _is_whole(whole, first, loop, lets)
        case Binary(operator="mul"):
            return _is_whole(loop.start, None, loop, lets)
    return False


def _is_whole(operand: Operand, first: Operand | None, loop: For, lets: Mapping[int, Let]) -> bool:
    """Whether an operand is `(stop - first) / step * step`, or `stop / step * step` where there is no `first`.

    The stop may be raised to `first`: from there on nothing is left of one that is less.
    """
    step = _plain(loop.step, lets)
    product = _definition(operand, lets)
    if not isinstance(product, Binary) or product.operator != "mul" or _plain(product.right, lets) != step:
        return False
    quotient = _definition(product.left, lets)
    if not isinstance(quotient, Binary) or quotient.operator != "div" or _plain(quotient.right, lets) != step:
        return False
    if first is None:
        return _is_stop(quotient.left, 0, loop, lets)
    first = _plain(first, lets)
    length = _definition(quotient.left, lets)
    if not isinstance(length, Binary) or length.operator != "sub" or _plain(length.right, lets) != first:
        return False
    return _is_stop(length.left, first, loop, lets)


def _is_stop(operand: Operand, first: Operand | int, loop: For, lets: Mapping[int, Let]) -> bool:
    """Whether an operand is the loop's stop, or that raised to where full blocks start."""
    stop = _plain(loop.stop, lets)
    match _definition(operand, lets):
        case Call(intrinsic="maximum", operands=((_, raised), (_, least))):
            start = _plain(least, lets)
            return _plain(raised, lets) == stop and (start.value if isinstance(start, Literal) else start) == first
    return _plain(operand, lets) == stop


def _definition(operand: Operand, lets: Mapping[int, Let]) -> object:
    operand = _plain(operand, lets)
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    return let and let.operation


def _plain(operand: Operand, lets: Mapping[int, Let]) -> Operand:
    """An operand without the conversions between 32 and 64 bits in which its numbers are computed."""
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    match let.operation if let is not None else None:
        case Copy(operand=inner):
            return _plain(inner, lets)
        case Cast(operand=inner) if operand.type in COUNTED and inner.type in COUNTED:
            return _plain(inner, lets)
    return operand
