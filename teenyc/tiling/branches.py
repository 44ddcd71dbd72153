"""Branches that all lanes of a block take alike stay branches, of tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from teenyc.ir.nodes import Block, If, Statement, Value
from teenyc.record import replace
from teenyc.tiling import refusals
from teenyc.tiling.forms import form_of, formed, fresh
from teenyc.tiling.state import Blocking, RefusedError

Lower = Callable[[Blocking, Sequence[Statement]], None]


def branch(b: Blocking, statement: If, lower: Lower) -> None:
    """An `if` whose condition is one for the whole block."""
    span = statement.span
    condition = b.tile(statement.condition, span)
    if condition.lead or condition.rank:
        raise RefusedError(refusals.branch_by_row(span))
    forms = [form_of(b, result, span) for result in statement.results]

    def side(block: Block) -> Block:
        with b.inner() as statements:
            lower(b, block.statements)
            pairs = zip(block.yields, forms, strict=False)
            yields = tuple(formed(b, operand, form, span).operand for operand, form in pairs)
        return Block(statements=tuple(statements), yields=yields)

    blocks = [side(block) for block in (statement.then, statement.otherwise)]
    results = [fresh(b, form, value.name) for form, value in zip(forms, statement.results, strict=True)]
    values = tuple(tile.operand for tile in results if isinstance(tile.operand, Value))
    b.statements.append(
        replace(statement, condition=condition.operand, then=blocks[0], otherwise=blocks[1], results=values)
    )
    b.tiles.update((value.id, tile) for value, tile in zip(statement.results, results, strict=True))
