"""Loops: one whose carried values obey laws takes a block of iterations at a time, another stays as it is."""

from __future__ import annotations

from collections.abc import Sequence

from teenyc.ir.nodes import Binary, Block, Carried, Compare, Constant, Copy, For, Let, Literal, Operand, Value
from teenyc.record import replace
from teenyc.source import NO_COMMENTS, Span
from teenyc.tiling import operations, sums
from teenyc.tiling.forms import form_of, formed
from teenyc.tiling.plan import BlockedAxis, Extremum, LoopPlan, Sum, Unchanged
from teenyc.tiling.state import Blocking, RefusedError, Tile, element_of, shape_of
from teenyc.types import BOOL, I32, DType, Element, Extent, is_float, scalar


def initial(b: Blocking, carried: Carried, axis: BlockedAxis, span: Span) -> Tile:
    """What a loop starts with, of the shape that it will have."""
    return formed(b, carried.initial, form_of(b, carried.inside, span, axis), span)


def blocked_loop(b: Blocking, loop: For, plan: LoopPlan) -> None:
    """Full blocks without masks, then what is left, masked."""
    span, step = loop.span, Constant(plan.axis.block, scalar(I32))
    start, stop = (b.tile(o, span) for o in (loop.start, loop.stop))
    if start.lead or stop.lead:
        raise RefusedError("bounds that differ from row to row", span)
    if _number(loop.step) != 1 or element_of(loop.counter) != I32:
        raise RefusedError("a loop with a step", span)
    count = b.let(Binary(operator="sub", left=stop.operand, right=start.operand), I32, (), span)
    blocks = b.let(Binary(operator="div", left=count, right=step), I32, (), span)
    whole = b.let(Binary(operator="mul", left=blocks, right=step), I32, (), span)
    end = b.let(Binary(operator="add", left=start.operand, right=whole), I32, (), span, f"full_{plan.axis.name}")
    carried = [initial(b, c, plan.axis, span) for c in loop.carried]
    carried = _blocks(b, loop, plan, carried, (start.operand, end), None)
    carried = _blocks(b, loop, plan, carried, (end, stop.operand), stop.operand)
    for each, tile in zip(loop.carried, carried, strict=True):
        b.tiles[each.result.id] = tile


def _blocks(
    b: Blocking,
    loop: For,
    plan: LoopPlan,
    carried: Sequence[Tile],
    bounds: tuple[Operand, Operand],
    stop: Operand | None,
) -> list[Tile]:
    """One loop over blocks; with `stop`, iterations from there on do not count."""
    span, step = loop.span, Constant(plan.axis.block, scalar(I32))
    counter = b.fresh(I32, (), f"{loop.counter.name}_start" if loop.counter.name else "")
    insides = [
        b.fresh(element_of(t.operand), shape_of(t.operand), c.inside.name)
        for t, c in zip(carried, loop.carried, strict=True)
    ]
    results = [
        b.fresh(element_of(t.operand), shape_of(t.operand), c.result.name)
        for t, c in zip(carried, loop.carried, strict=True)
    ]
    outer, kept = b.statements, dict(b.tiles)
    b.statements = []
    shape = (Extent.of(plan.axis.block),)
    lanes = b.call("arange", (), (("start", Extent.of(0)), ("end", shape[0])), I32, shape, span)
    iteration = b.let(Binary(operator="add", left=counter, right=lanes), I32, shape, span, loop.counter.name)
    b.tiles[loop.counter.id] = Tile(iteration, (plan.axis,))
    if stop is not None:
        left = b.let(Binary(operator="sub", left=stop, right=counter), I32, (), span)
        valid = b.let(Compare(operator="lt", left=lanes, right=left), BOOL, shape, span, f"is_{plan.axis.name}")
        b.iterations = Tile(valid, (plan.axis,))
        b.guard("rest", plan.axis)
    for c, inside, tile in zip(loop.carried, insides, carried, strict=True):
        b.tiles[c.inside.id] = replace(tile, operand=inside)
    ends = _iteration(b, loop, plan, carried)
    block = Block(statements=tuple(b.statements), yields=tuple(ends))
    b.statements, b.tiles, b.iterations = outer, kept, None
    made = tuple(
        Carried(initial=t.operand, inside=i, result=r) for t, i, r in zip(carried, insides, results, strict=True)
    )
    b.statements.append(
        For(
            counter=counter,
            start=bounds[0],
            stop=bounds[1],
            step=step,
            carried=made,
            body=block,
            span=span,
            comments=loop.comments if stop is None else NO_COMMENTS,
        )
    )
    return [replace(t, operand=r) for t, r in zip(carried, results, strict=True)]


def _iteration(b: Blocking, loop: For, plan: LoopPlan, carried: Sequence[Tile]) -> list[Operand]:
    """The statements of an iteration, where the next value of what is carried is that after a block."""
    nexts = {y.id: n for n, y in enumerate(named(b, y) for y in loop.body.yields) if isinstance(y, Value)}
    for statement in loop.body.statements:
        assert isinstance(statement, Let), "laws are for loops without branches"
        n = next((nexts[v.id] for v in statement.results if v.id in nexts), None)
        if n is not None and not isinstance(plan.laws[n], Unchanged):
            (result,) = statement.results
            b.tiles[result.id] = step(b, loop, n, plan, statement)
        elif not operations.is_late(b, statement):
            operations.make(b, statement)
    return [
        b.filled(b.tile(y, loop.span), t.lead, t.rank, shape_of(t.operand), element_of(t.operand), loop.span).operand
        for y, t in zip(loop.body.yields, carried, strict=True)
    ]


def named(b: Blocking, operand: Operand) -> Operand:
    """What an operand is another name of."""
    let = b.lets.get(operand.id) if isinstance(operand, Value) else None
    return named(b, let.operation.operand) if let is not None and isinstance(let.operation, Copy) else operand


def step(b: Blocking, loop: For, n: int, plan: LoopPlan, let: Let) -> Tile:
    """What a carried value is after a block of iterations."""
    law, inside = plan.laws[n], b.tile(loop.carried[n].inside, let.span)
    (result,) = let.results
    match law:
        case Extremum():
            tile = b.tile(law.operand, let.span)
            return extremum(b, law.intrinsic, inside, tile, plan.axis, let)
        case Sum():
            kept = sums.factor_product(b, law.kept, let.span)
            opened = [t for term in law.terms for t in sums.opened(b, term)]
            block = Extent.of(plan.axis.block)
            return sums.contracted(b, opened, plan.axis, kept, let.span, result, block, b.iterations)
        case Unchanged():
            return inside


def extremum(b: Blocking, intrinsic: str, inside: Tile, tile: Tile, axis: BlockedAxis, let: Let) -> Tile:
    (result,) = let.results
    element = element_of(result)
    if axis in tile.lead:
        worst = Literal(_worst(element, intrinsic), scalar(element))
        tile = b.masked(tile, b.iterations, worst, let.span)
        shape = list(shape_of(tile.operand))
        place = tile.lead.index(axis)
        del shape[place]
        operands = (("input", tile.operand),)
        name = "max" if intrinsic == "maximum" else "min"
        value = b.call(name, operands, (("axis", place),), element, tuple(shape), let.span)
        tile = Tile(value, tuple(a for a in tile.lead if a != axis), tile.rank)
    (first, second), lead, rank, shape_met = b.met([inside, tile], let.span)
    value = b.call(intrinsic, (("x", first), ("y", second)), (), element, shape_met, let.span, result.name)
    return Tile(value, lead, rank)


def _worst(element: Element, intrinsic: str) -> int | float:
    """The number that an extremum is never changed by."""
    if is_float(element):
        return float("-inf") if intrinsic == "maximum" else float("inf")
    assert isinstance(element, DType), "extrema are of numbers"
    return element.minimum if intrinsic == "maximum" else element.maximum


def _number(operand: Operand) -> object:
    """The number that an operand is, where it is known here."""
    return operand.value if isinstance(operand, Literal) else None
