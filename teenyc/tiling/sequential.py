"""Loops that stay as they are: one iteration at a time, of all rows of a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from teenyc.ir.nodes import Block, Carried, For, Operand, Statement, Value, While
from teenyc.record import replace
from teenyc.tiling import bounds, refusals
from teenyc.tiling.forms import Form, form_of, formed, fresh
from teenyc.tiling.state import Blocking, RefusedError, Tile, element_of

Lower = Callable[[Blocking, Sequence[Statement]], None]


def counted(b: Blocking, loop: For, lower: Lower) -> None:
    """A `for`, over the bounds of all rows where they differ."""
    span = loop.span
    start, stop = bounds.widest(b, loop)
    step = bounds.uniform(b, loop.step, span)
    counter = b.fresh(element_of(loop.counter), (), loop.counter.name)
    forms, first, insides = _carried(b, loop)
    with b.inner() as statements:
        b.tiles[loop.counter.id] = Tile(counter)
        ends = _body(b, loop, loop.body, forms, insides, lower)
    made = replace(loop, counter=counter, start=start, stop=stop, step=step, carried=())
    _close(b, made, loop, forms, first, insides, Block(statements=tuple(statements), yields=ends))


def uncounted(b: Blocking, loop: While, lower: Lower) -> None:
    """A `while` whose condition is one for the whole block."""
    forms, first, insides = _carried(b, loop)
    with b.inner() as statements:
        b.tiles.update((c.inside.id, t) for c, t in zip(loop.carried, insides, strict=True))
        lower(b, loop.condition.statements)
        tests = [b.tile(y, loop.span) for y in loop.condition.yields]
        if any(test.lead or test.rank for test in tests):
            raise RefusedError(refusals.unequal_while(loop.span))
        condition = Block(statements=tuple(statements), yields=tuple(test.operand for test in tests))
    with b.inner() as statements:
        ends = _body(b, loop, loop.body, forms, insides, lower)
    made = replace(loop, condition=condition, carried=())
    _close(b, made, loop, forms, first, insides, Block(statements=tuple(statements), yields=ends))


def _carried(b: Blocking, loop: For | While) -> tuple[list[Form], list[Tile], list[Tile]]:
    """The forms of what a loop carries, what it starts with, and what it is inside."""
    forms = [form_of(b, c.inside, loop.span) for c in loop.carried]
    pairs = list(zip(loop.carried, forms, strict=True))
    first = [formed(b, c.initial, form, loop.span) for c, form in pairs]
    return forms, first, [fresh(b, form, c.inside.name) for c, form in pairs]


def _body(
    b: Blocking, loop: For | While, body: Block, forms: Sequence[Form], insides: Sequence[Tile], lower: Lower
) -> tuple[Operand, ...]:
    b.tiles.update((c.inside.id, t) for c, t in zip(loop.carried, insides, strict=True))
    lower(b, body.statements)
    return tuple(formed(b, y, form, loop.span).operand for y, form in zip(body.yields, forms, strict=True))


def _close(
    b: Blocking,
    made: For | While,
    loop: For | While,
    forms: Sequence[Form],
    first: Sequence[Tile],
    insides: Sequence[Tile],
    body: Block,
) -> None:
    """Writes the loop, and notes what it gives."""
    results = [fresh(b, form, c.result.name) for form, c in zip(forms, loop.carried, strict=True)]
    carried: list[Carried] = []
    for start, inside, result in zip(first, insides, results, strict=True):
        assert isinstance(inside.operand, Value)
        assert isinstance(result.operand, Value)
        carried.append(Carried(initial=start.operand, inside=inside.operand, result=result.operand))
    b.statements.append(replace(made, carried=tuple(carried), body=body))
    b.tiles.update((c.result.id, tile) for c, tile in zip(loop.carried, results, strict=True))
