"""Walks: a program whose block of the grid has rows of several outer indices goes through these one after another.

What an index taken apart counts in its outer part, such as a head, is one number for all rows of a step; rows of other
heads do not count in it. Where the extent of the inner part is a multiple of the block there is one step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from teenyc.ir.nodes import Binary, Block, Call, Compare, Constant, For, Let, Literal, Operand, Return, Statement, Value
from teenyc.ir.walk import statements_of
from teenyc.source import Span
from teenyc.tiling import refusals
from teenyc.tiling.plan import outer_of
from teenyc.tiling.state import Blocking, RefusedError, Rows, Tile
from teenyc.types import BOOL, I32, Extent, scalar

Lower = Callable[[Blocking, Sequence[Statement]], None]
ONE = Literal(1, scalar(I32))


def begins(b: Blocking, statement: Statement) -> bool:
    """Whether a statement is the outer part of an index whose inner part is blocked."""
    return _rows(b, statement) is not None


def walk(b: Blocking, statements: Sequence[Statement], lower: Lower) -> None:
    """A loop over the outer indices of a block around all that follows."""
    outer, inner, *rest = statements
    rows = _rows(b, outer)
    assert rows is not None, "a walk begins here"
    assert isinstance(outer, Let), "parts are indices of programs"
    assert isinstance(inner, Let), "the two parts stand side by side"
    assert isinstance(outer.operation, Call), "parts are indices of programs"
    span, block = outer.span, Extent.of(rows.axis.block)
    divisor = b.tile(outer.operation.operands[0][1], span).operand
    pid = b.call("program_id", (), (("axis", rows.axis.grid_axis),), I32, (), span)
    first = _made(b, "mul", pid, Constant(rows.axis.block, scalar(I32)), span, "first_pid")
    lanes = b.call("arange", (), (("start", Extent.of(0)), ("end", block)), I32, (block,), span)
    own = b.let(Binary(operator="add", left=first, right=lanes), I32, (block,), span, f"{rows.axis.name}s")
    behind = _least(b, _made(b, "add", first, Constant(rows.axis.block, scalar(I32)), span), rows.count, span)
    start = _made(b, "div", first, divisor, span, f"first_{outer.results[0].name}")
    last = _made(b, "div", _made(b, "sub", behind, ONE, span), divisor, span, f"last_{outer.results[0].name}")
    stop = _made(b, "add", last, ONE, span)
    counter = b.fresh(I32, (), outer.results[0].name)
    with b.inner() as body:
        b.tiles[outer.results[0].id] = Tile(counter)
        b.tiles[inner.results[0].id] = _row(b, rows, own, counter, divisor, inner)
        lower(b, rest)
    for _, statement in statements_of(Block(statements=tuple(body))):
        if isinstance(statement, Return):
            raise RefusedError(refusals.return_of_all(outer.results[0].name, statement.span))
    made = For(
        counter=counter, start=start, stop=stop, step=ONE, carried=(), body=Block(statements=tuple(body)), span=span
    )
    b.statements.append(made)


def _row(b: Blocking, rows: Rows, own: Value, outer: Value, divisor: Operand, let: Let) -> Tile:
    """The inner indices of a block for one outer index; those of others stay within it, and do not count."""
    span, shape, axis = let.span, (Extent.of(rows.axis.block),), rows.axis
    base = _made(b, "mul", outer, divisor, span, f"{outer.name}_start" if outer.name else "")
    count = _least(b, _made(b, "sub", rows.count, base, span), divisor, span, f"num_{axis.name}s")
    is_open = axis.id in b.edges
    row = b.let(Binary(operator="sub", left=own, right=base), I32, shape, span, axis.name if is_open else "")
    after = b.let(Compare(operator="ge", left=row, right=Literal(0, scalar(I32))), BOOL, shape, span)
    before = b.let(Compare(operator="lt", left=row, right=count), BOOL, shape, span)
    valid = b.let(Binary(operator="and", left=after, right=before), BOOL, shape, span, f"is_{axis.name}")
    b.valid = (*b.valid, Tile(valid, (axis,)))
    b.guard("part", axis)
    if is_open:
        return Tile(row, (axis,))
    bounds = (("x", row), ("min", Literal(0, scalar(I32))), ("max", _made(b, "sub", count, ONE, span)))
    return Tile(b.call("clamp", bounds, (), I32, shape, span, axis.name), (axis,))


def _rows(b: Blocking, statement: Statement) -> Rows | None:
    if not isinstance(statement, Let) or not isinstance(statement.operation, Call):
        return None
    if statement.operation.intrinsic != "program_id":
        return None
    axis = statement.operation.attribute("axis", 0)
    return next((r for r in b.rows if r.axis.is_part and axis == outer_of(r.axis.grid_axis)), None)


def _made(b: Blocking, operator: str, left: Operand, right: Operand, span: Span, name: str = "") -> Value:
    return b.let(Binary(operator=operator, left=left, right=right), I32, (), span, name)


def _least(b: Blocking, left: Operand, right: Operand, span: Span, name: str = "") -> Value:
    return b.call("minimum", (("x", left), ("y", right)), (), I32, (), span, name)
