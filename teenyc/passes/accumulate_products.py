"""Lets products of matrices in tiled kernels add up by themselves: `c + dot(a, b)` becomes `dot(a, b, acc = c)`."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.ir import walk
from teenyc.ir.nodes import Binary, Block, Call, Kernel, Let, Operand, Program, Statement, Value
from teenyc.record import replace


def accumulate_products(program: Program) -> Program:
    """The program whose tiled kernels give to a product what it is added to, where nothing else reads the product."""
    return walk.map_program(program, lambda k: _kernel(k) if k.tiling is not None else k, lambda f: f)


def _kernel(kernel: Kernel) -> Kernel:
    uses = walk.uses(kernel.body)

    def inside(block: Block) -> Block:
        products = {
            s.results[0].id: s.operation
            for s in block.statements
            if isinstance(s, Let) and _is_free(s, uses) and isinstance(s.operation, Call)
        }
        statements = (walk.map_blocks(_added(s, products), inside) for s in block.statements)
        return replace(block, statements=tuple(statements))

    return replace(kernel, body=inside(kernel.body))


def _is_free(let: Let, uses: Mapping[int, int]) -> bool:
    """Whether a product starts from zero and is read once."""
    operation = let.operation
    if not isinstance(operation, Call) or operation.intrinsic != "dot" or uses[let.results[0].id] != 1:
        return False
    return operation.operand("acc") is None


def _added(statement: Statement, products: Mapping[int, Call]) -> Statement:
    """A sum of which one side is a product: that product, added up. What was the product is read no more."""
    if not isinstance(statement, Let) or not isinstance(statement.operation, Binary):
        return statement
    operation = statement.operation
    if operation.operator != "add":
        return statement
    for product, other in ((operation.right, operation.left), (operation.left, operation.right)):
        call = products.get(product.id) if isinstance(product, Value) else None
        if call is not None and other.type == statement.results[0].type == product.type:
            return replace(statement, operation=_accumulating(call, other))
    return statement


def _accumulating(call: Call, acc: Operand) -> Call:
    return replace(call, operands=(*call.operands, ("acc", acc)))
