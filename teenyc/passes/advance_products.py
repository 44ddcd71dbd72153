"""Takes products of matrices as early as they can be, in loops that load by descriptors.

Behind each product comes what the next one needs, and at the end what no product waits for: matrix units go on by
themselves, so that sums of a block are added while the block is multiplied. A block is loaded right before what reads
it: Triton waits for neighbouring loads by descriptors at once, a first product then for what only the second one needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir import walk
from teenyc.ir.nodes import Apply, Block, Call, For, If, Kernel, Let, Program, Statement, Value
from teenyc.record import replace


def advance_products(program: Program) -> Program:
    """The program with statements of loops in another order, in kernels that load by descriptors."""
    return walk.map_program(program, _kernel, lambda function: function)


def _kernel(kernel: Kernel) -> Kernel:
    if kernel.tiling is None or kernel.tiling.descriptors is None:
        return kernel

    def advance(statement: Statement) -> tuple[Statement, ...]:
        return (replace(statement, body=_ordered(statement.body)) if isinstance(statement, For) else statement,)

    return replace(kernel, body=walk.map_statements(kernel.body, advance))


def _ordered(block: Block) -> Block:
    """The block with its products first, each behind what it needs; one that does more than read stays as it is."""
    if not all(map(_only_reads, block.statements)):
        return block
    makers = {value.id: n for n, s in enumerate(block.statements) for value in walk.results_of(s)}
    order: dict[int, None] = {}
    for n, statement in enumerate(block.statements):
        if _is_call(statement, "dot"):
            order.update(dict.fromkeys(sorted(_needed(n, block.statements, makers) - order.keys())))
    order.update(dict.fromkeys(range(len(block.statements))))
    return replace(block, statements=tuple(_late([block.statements[n] for n in order])))


def _late(statements: Iterable[Statement]) -> Iterator[Statement]:
    """The statements, with each load by a descriptor right before the first that reads it."""
    waiting: dict[int, Statement] = {}
    for statement in statements:
        if _is_call(statement, "load_tensor_descriptor"):
            waiting.update((value.id, statement) for value in walk.results_of(statement))
            continue
        yield from (waiting.pop(id) for id in dict.fromkeys(_reads(statement)) if id in waiting)
        yield statement
    yield from waiting.values()


def _needed(place: int, statements: tuple[Statement, ...], makers: dict[int, int]) -> set[int]:
    """The places of a statement and of all that it needs, of those in its block."""
    found: set[int] = set()
    pending = [place]
    while pending:
        found.add(pending[-1])
        reads = (makers.get(id) for id in _reads(statements[pending.pop()]))
        pending += [n for n in reads if n is not None and n not in found]
    return found


def _reads(statement: Statement) -> Iterable[int]:
    """The values that a statement reads, inside it too."""
    inside = (operand for block in walk.blocks_of(statement) for operand in walk.all_operands(block))
    return (o.id for o in (*walk.operands_of(statement), *inside) if isinstance(o, Value))


def _is_call(statement: Statement, intrinsic: str) -> bool:
    operation = statement.operation if isinstance(statement, Let) else None
    return isinstance(operation, Call) and operation.intrinsic == intrinsic


def _only_reads(statement: Statement) -> bool:
    """Whether a statement, with all inside it, does nothing but read and give values."""
    inside = (s for block in walk.blocks_of(statement) for _, s in walk.statements_of(block))
    for each in (statement, *inside):
        operation = each.operation if isinstance(each, Let) else None
        if isinstance(operation, Apply) or not isinstance(each, Let | For | If):
            return False
        if isinstance(operation, Call) and not TABLE[operation.intrinsic].effects <= {Effect.READS}:
            return False
    return True
