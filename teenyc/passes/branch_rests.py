"""Makes a branch of the loop over what full blocks leave in tiled kernels: it has one iteration or none.

A loop from `n / B * B` to `n` in steps of `B` runs at most once. As a branch it reads as what it is, and what products
of matrices have added up may still be under way when it begins: behind a second loop, NVIDIA's assembler waits for each
product of the first one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.ir import walk
from teenyc.ir.nodes import Binary, Block, Compare, Copy, For, If, Kernel, Let, Operand, Program, Statement, Value
from teenyc.record import replace
from teenyc.types import BOOL, scalar


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
    start = _definition(loop.start, lets)
    match start:
        case Binary(operator="add", left=first, right=whole):
            return _is_whole(whole, first, loop, lets)
        case Binary(operator="mul"):
            return _is_whole(loop.start, None, loop, lets)
    return False


def _is_whole(operand: Operand, first: Operand | None, loop: For, lets: Mapping[int, Let]) -> bool:
    """Whether an operand is `(stop - first) / step * step`, or `stop / step * step` where there is no `first`."""
    product = _definition(operand, lets)
    if not isinstance(product, Binary) or product.operator != "mul" or product.right != loop.step:
        return False
    quotient = _definition(product.left, lets)
    if not isinstance(quotient, Binary) or quotient.operator != "div" or quotient.right != loop.step:
        return False
    if first is None:
        return quotient.left == loop.stop
    length = _definition(quotient.left, lets)
    return isinstance(length, Binary) and length.operator == "sub" and (length.left, length.right) == (loop.stop, first)


def _definition(operand: Operand, lets: Mapping[int, Let]) -> object:
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    return (
        _definition(let.operation.operand, lets) if let and isinstance(let.operation, Copy) else let and let.operation
    )
