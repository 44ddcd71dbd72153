"""Multiplies sums of tiled kernels once, behind their loops, by factors that are the same in all iterations.

`c + x * s` in each iteration becomes `c + x`, and what the loop gives is multiplied by `s`: the sums are of floats, of
which tiling changes the order anyway. The sum must start at zero, and nothing else may read it on the way. Loops that
hand a sum on to each other (full blocks, then the rest) do so together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.ir import walk
from teenyc.ir.nodes import Binary, Block, Call, Carried, For, Kernel, Let, Literal, Operand, Program, Statement, Value
from teenyc.record import record, replace
from teenyc.types import TensorType, is_float


def postpone_factors(program: Program) -> Program:
    """The program with such factors behind the loops of its tiled kernels."""
    ids = walk.fresh_ids(program)
    return walk.map_program(program, lambda k: _kernel(k, ids) if k.tiling is not None else k, lambda f: f)


def _kernel(kernel: Kernel, ids: Iterator[int]) -> Kernel:
    uses = walk.uses(kernel.body)

    def inside(block: Block) -> Block:
        block = replace(block, statements=tuple(walk.map_blocks(s, inside) for s in block.statements))
        chains = list(_chains(block, uses))
        return _rewritten(block, chains, ids) if chains else block

    return replace(kernel, body=inside(kernel.body))


@record
class _Sum:
    """One carried value of a loop, the addition that makes the next, what is added, and its factors taken away."""

    loop: For
    index: int
    addition: Let
    added: Operand
    factors: tuple[Operand, ...]
    products: tuple[int, ...]
    """the products that are made no more"""

    @property
    def carried(self) -> Carried:
        return self.loop.carried[self.index]


def _chains(block: Block, uses: Mapping[int, int]) -> Iterator[tuple[_Sum, ...]]:
    """Sums that start at zero, each with those that go on where it ends and have the same factors."""
    loops = [s for s in block.statements if isinstance(s, For)]
    sums = {s.carried.inside.id: s for loop in loops for n in range(len(loop.carried)) if (s := _sum(loop, n, uses))}
    following = {c.initial.id: c.inside.id for loop in loops for c in loop.carried if isinstance(c.initial, Value)}
    lets = {r.id: s for s in block.statements if isinstance(s, Let) for r in s.results}
    for first in sums.values():
        if not _is_zero(first.carried.initial, lets):
            continue
        chain = [first]
        while uses[chain[-1].carried.result.id] == 1:
            after = sums.get(following.get(chain[-1].carried.result.id, -1))
            if after is None or after.factors != first.factors:
                break
            chain.append(after)
        yield tuple(chain)


def _sum(loop: For, index: int, uses: Mapping[int, int]) -> _Sum | None:
    """What a carried value adds up, if all that is added has factors from outside of the loop."""
    lets = {r.id: s for s in loop.body.statements if isinstance(s, Let) for r in s.results}
    own = frozenset(v.id for s in (loop, *loop.body.statements) for v in walk.definitions(s))
    inside, following = loop.carried[index].inside, loop.body.yields[index]
    let = lets.get(following.id) if isinstance(following, Value) and uses[following.id] == 1 else None
    if let is None or not isinstance(let.operation, Binary) or not _is_float(inside) or uses[inside.id] != 1:
        return None
    operation = let.operation
    sides = [(operation.left, operation.right)] if operation.operator in ("add", "sub") else []
    sides += [(operation.right, operation.left)] if operation.operator == "add" else []
    for kept, added in sides:
        if kept == inside:
            rest, factors, products = _split(added, own, lets, uses)
            return _Sum(loop, index, let, rest, factors, products) if factors else None
    return None


def _split(
    operand: Operand, own: frozenset[int], lets: Mapping[int, Let], uses: Mapping[int, int]
) -> tuple[Operand, tuple[Operand, ...], tuple[int, ...]]:
    """What varies in a product, of the shape of the whole, its factors from outside of the loop, and the products.

    `own` are the values that the loop defines, among them the results of loops and branches in it.
    """
    let = lets.get(operand.id) if isinstance(operand, Value) and uses[operand.id] == 1 else None
    if isinstance(operand, Value) and let is not None and _is_product(let):
        assert isinstance(let.operation, Binary)
        sides = (let.operation.left, let.operation.right), (let.operation.right, let.operation.left)
        for rest, factor in sides:
            is_outside = not isinstance(factor, Value) or factor.id not in own
            if rest.type == operand.type and is_outside:
                inner, factors, products = _split(rest, own, lets, uses)
                return inner, (*factors, factor), (*products, operand.id)
    return operand, (), ()


def _is_product(let: Let) -> bool:
    return isinstance(let.operation, Binary) and let.operation.operator == "mul"


def _is_zero(operand: Operand, lets: Mapping[int, Let]) -> bool:
    if isinstance(operand, Literal):
        return operand.value == 0
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    match let.operation if let is not None else None:
        case Call(intrinsic="zeros"):
            return True
        case Call(intrinsic="full" | "broadcast_to") as call:
            return _is_zero(call.operands[0][1], lets)
    return False


def _is_float(value: Value) -> bool:
    return isinstance(value.type, TensorType) and is_float(value.type.element)


def _rewritten(block: Block, chains: list[tuple[_Sum, ...]], ids: Iterator[int]) -> Block:
    """The block with what is added in loops stripped of factors, and products behind the last loop of each chain."""
    added = {s.addition.results[0].id: s for chain in chains for s in chain}
    gone = {id for chain in chains for s in chain for id in s.products}
    last = {chain[-1].carried.result.id: chain[-1] for chain in chains}
    statements: list[Statement] = []
    for statement in block.statements:
        if not isinstance(statement, For):
            statements.append(statement)
            continue
        carried = [
            replace(c, result=replace(c.result, id=next(ids))) if c.result.id in last else c for c in statement.carried
        ]
        kept = (
            s for s in statement.body.statements if not isinstance(s, Let) or gone.isdisjoint(r.id for r in s.results)
        )
        body = replace(statement.body, statements=tuple(_stripped(s, added) for s in kept))
        statements.append(replace(statement, carried=tuple(carried), body=body))
        for old, new in zip(statement.carried, carried, strict=True):
            if old.result.id in last:
                statements.extend(_products(new.result, old.result, last[old.result.id].factors, ids, statement))
    return replace(block, statements=tuple(statements))


def _stripped(statement: Statement, added: Mapping[int, _Sum]) -> Statement:
    """An addition of what is left without the factors; other statements stay."""
    found = added.get(statement.results[0].id) if isinstance(statement, Let) and statement.results else None
    if found is None or not isinstance(statement, Let) or not isinstance(statement.operation, Binary):
        return statement
    kept = found.carried.inside
    return replace(statement, operation=replace(statement.operation, left=kept, right=found.added))


def _products(
    start: Value, result: Value, factors: tuple[Operand, ...], ids: Iterator[int], loop: For
) -> Iterator[Statement]:
    """`result = start * a * b`."""
    operand = start
    for n, factor in enumerate(factors):
        target = result if n == len(factors) - 1 else Value(next(ids), result.type)
        yield Let(results=(target,), operation=Binary(operator="mul", left=operand, right=factor), span=loop.span)
        operand = target
