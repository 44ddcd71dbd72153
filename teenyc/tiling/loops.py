"""Loops whose carried values obey laws take a block of iterations at a time: full blocks plainly, the rest masked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from teenyc.ir.nodes import (
    Binary,
    Block,
    Carried,
    Cast,
    Compare,
    For,
    Let,
    Literal,
    Operand,
    Statement,
    Value,
)
from teenyc.record import replace
from teenyc.source import NO_COMMENTS
from teenyc.tiling import bounds, operations
from teenyc.tiling.bounds import Part
from teenyc.tiling.forms import form_of, formed, fresh
from teenyc.tiling.plan import LoopPlan, Unchanged
from teenyc.tiling.state import Blocking, Tile, element_of
from teenyc.tiling.steps import make, named, step
from teenyc.types import BOOL, I32, Extent, scalar

Lower = Callable[[Blocking, Sequence[Statement]], None]


def blocked_loop(b: Blocking, loop: For, plan: LoopPlan, lower: Lower) -> None:
    """One loop over blocks for each part of the range, one behind the other."""
    parts = bounds.parts(b, loop, plan)
    forms = [form_of(b, c.inside, loop.span, plan.axis) for c in loop.carried]
    carried = [formed(b, c.initial, form, loop.span) for c, form in zip(loop.carried, forms, strict=True)]
    for part in parts:
        carried = _blocks(b, loop, plan, carried, part, lower)
        loop = replace(loop, comments=NO_COMMENTS)
    b.tiles.update((each.result.id, tile) for each, tile in zip(loop.carried, carried, strict=True))


def _blocks(b: Blocking, loop: For, plan: LoopPlan, carried: Sequence[Tile], part: Part, lower: Lower) -> list[Tile]:
    """The loop over the blocks of one part."""
    span, element = loop.span, element_of(loop.counter)
    counter = b.fresh(element, (), f"{loop.counter.name}_start" if loop.counter.name else "")
    forms = [form_of(b, c.inside, span, plan.axis) for c in loop.carried]
    insides = [fresh(b, form, c.inside.name) for form, c in zip(forms, loop.carried, strict=True)]
    results = [fresh(b, form, c.result.name) for form, c in zip(forms, loop.carried, strict=True)]
    with b.inner() as statements:
        _begin(b, loop, plan, counter, part)
        b.tiles.update((c.inside.id, tile) for c, tile in zip(loop.carried, insides, strict=True))
        _iteration(b, loop, plan, lower)
        yields = [formed(b, y, form, span).operand for y, form in zip(loop.body.yields, forms, strict=True)]
        b.iterations = None
    made: list[Carried] = []
    for start, inside, result in zip(carried, insides, results, strict=True):
        assert isinstance(inside.operand, Value)
        assert isinstance(result.operand, Value)
        made.append(Carried(initial=start.operand, inside=inside.operand, result=result.operand))
    b.statements.append(
        For(
            counter=counter,
            start=part.start,
            stop=part.stop,
            step=part.step,
            carried=tuple(made),
            body=Block(statements=tuple(statements), yields=tuple(yields)),
            span=span,
            comments=loop.comments,
        )
    )
    return results


def _begin(b: Blocking, loop: For, plan: LoopPlan, counter: Value, part: Part) -> None:
    """The iterations of a block, and which of them count."""
    span, element = loop.span, element_of(counter)
    shape = (Extent.of(plan.axis.block),)
    lanes: Operand = b.call("arange", (), (("start", Extent.of(0)), ("end", shape[0])), I32, shape, span)
    if element != I32:
        lanes = b.let(Cast(operand=lanes), element, shape, span)
    stepped = lanes
    if bounds.number(loop.step) != 1:
        step = bounds.uniform(b, loop.step, span)
        stepped = b.let(Binary(operator="mul", left=lanes, right=step), element, shape, span)
    iteration = b.let(Binary(operator="add", left=counter, right=stepped), element, shape, span, loop.counter.name)
    b.tiles[loop.counter.id] = Tile(iteration, (plan.axis,))
    b.tiles.update((id, Tile(Literal(True, scalar(BOOL)))) for id in part.known)
    if part.last is not None:
        b.reaches[loop.counter.id] = part.last
        b.tiles.update(bounds.flags(b, loop, plan, counter, part))
        b.guard("bounds", plan.axis)
    if part.limit is not None:
        left = b.let(Binary(operator="sub", left=part.limit, right=counter), element, (), span)
        valid = b.let(Compare(operator="lt", left=stepped, right=left), BOOL, shape, span, f"is_{plan.axis.name}")
        b.iterations = Tile(valid, (plan.axis,))
        b.guard("rest", plan.axis)


def _iteration(b: Blocking, loop: For, plan: LoopPlan, lower: Lower) -> None:
    """The statements of an iteration, where the next value of what is carried is that after a block."""
    nexts = {y.id: n for n, y in enumerate(named(b, y) for y in loop.body.yields) if isinstance(y, Value)}
    for statement in loop.body.statements:
        if not isinstance(statement, Let):
            lower(b, (statement,))
            continue
        n = next((nexts[v.id] for v in statement.results if v.id in nexts), None)
        if n is not None and not isinstance(plan.laws[n], Unchanged):
            (result,) = statement.results
            b.tiles[result.id] = step(b, loop, n, plan, statement)
        elif not _is_flag(b, loop, statement) and not operations.is_late(b, statement):
            make(b, loop, plan, statement)


def _is_flag(b: Blocking, loop: For, let: Let) -> bool:
    """Whether a definition is that of a flag of the loop's bounds, which this part of the range has."""
    own = b.bounds.get(loop.counter.id)
    flags = () if own is None else (own.valid, own.after, own.before)
    return any(v in flags and v.id in b.tiles for v in let.results)
