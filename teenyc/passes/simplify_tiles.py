"""Writes plainly what tiling made: no sums with zero in bounds, and tiles of one number where the author set it.

`m = -inf` before a loop that carries a tile of it becomes that tile, `full([BLOCK_M], -inf)`, with the author's name,
place and comments.
"""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.ir import walk
from teenyc.ir.nodes import Binary, Block, Call, Copy, Kernel, Let, Literal, Operand, Program, Statement, Value
from teenyc.record import record, replace
from teenyc.types import TensorType, is_integer


def simplify_tiles(program: Program) -> Program:
    """The program with its tiled kernels simplified."""
    return walk.map_program(program, lambda k: _kernel(k) if k.tiling is not None else k, lambda f: f)


def _kernel(kernel: Kernel) -> Kernel:
    body = walk.map_statements(kernel.body, lambda s: (_without_zeros(s),))
    aliases = {
        s.results[0].id: s.operation.operand
        for _, s in walk.statements_of(body)
        if isinstance(s, Let)
        and isinstance(s.operation, Copy)
        and s.results[0] in _integers(s)
        and not s.results[0].name
    }
    body = walk.substitute(body, {id: _resolved(o, aliases) for id, o in aliases.items()})
    body = walk.map_statements(
        body, lambda s: () if isinstance(s, Let) and s.results and s.results[0].id in aliases else (s,)
    )
    uses = walk.uses(body)
    return replace(kernel, body=_filled(body, uses))


def _integers(let: Let) -> tuple[Value, ...]:
    return tuple(v for v in let.results if isinstance(v.type, TensorType) and is_integer(v.type.element))


def _resolved(operand: Operand, aliases: Mapping[int, Operand]) -> Operand:
    while isinstance(operand, Value) and operand.id in aliases:
        operand = aliases[operand.id]
    return operand


def _without_zeros(statement: Statement) -> Statement:
    """A definition that adds or takes away no integer zero."""
    if not isinstance(statement, Let) or not isinstance(statement.operation, Binary) or not _integers(statement):
        return statement
    left, right = statement.operation.left, statement.operation.right
    kept = None
    if statement.operation.operator in ("add", "sub") and _is_zero(right):
        kept = left
    elif statement.operation.operator == "add" and _is_zero(left):
        kept = right
    if kept is None or kept.type != statement.results[0].type:
        return statement
    return replace(statement, operation=Copy(operand=kept))


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Literal) and operand.value == 0 and operand.type.shape == ()


# ---- tiles of one number --------------------------------------------------------------------------------------------


@record
class _Fill:
    """A tile of one number, and the definition of that number under the author's name."""

    tile: Let
    number: Let


def _filled(block: Block, uses: Mapping[int, int]) -> Block:
    """A block in which each tile of a named number that nothing else reads stands in the place of the number."""
    numbers = {s.results[0].id: s for s in block.statements if isinstance(s, Let) and _number(s) is not None}
    fills: dict[int, _Fill] = {}
    for statement in block.statements:
        match statement:
            case Let(operation=Call(intrinsic="broadcast_to") as call, results=(result,)):
                operand = call.operands[0][1]
                number = numbers.get(operand.id) if isinstance(operand, Value) and uses[operand.id] == 1 else None
                if number is not None and not result.name:
                    fills[number.results[0].id] = _Fill(statement, number)
    gone = {f.tile.results[0].id for f in fills.values()}
    renamed: dict[int, Operand] = {}
    statements: list[Statement] = []
    for statement in block.statements:
        fill = fills.get(statement.results[0].id) if isinstance(statement, Let) and statement.results else None
        if fill is not None:
            made = _full(fill)
            renamed[fill.tile.results[0].id] = made.results[0]
            statements.append(made)
        elif not isinstance(statement, Let) or not statement.results or statement.results[0].id not in gone:
            statements.append(statement)
    return walk.substitute(replace(block, statements=tuple(statements)), renamed)


def _number(let: Let) -> Literal | None:
    """The literal that a definition gives a name to."""
    match let:
        case Let(operation=Copy(operand=Literal() as number, constant=""), results=(Value(name=name),)) if name:
            return number
    return None


def _full(fill: _Fill) -> Let:
    number = _number(fill.number)
    (result,) = fill.tile.results
    assert number is not None, "fills are of numbers"
    assert isinstance(result.type, TensorType), "tiles are tensors"
    attributes = (("shape", result.type.shape), ("dtype", result.type.element))
    is_zero = number.value == 0 and not str(number.value).startswith("-")
    call = Call(
        intrinsic="zeros" if is_zero else "full",
        operands=() if is_zero else (("value", number),),
        attributes=attributes,
    )
    named = replace(result, name=fill.number.results[0].name)
    return replace(fill.number, results=(named,), operation=call)
