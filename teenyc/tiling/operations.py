"""Definitions: what each operation of the source becomes on tiles."""

from __future__ import annotations

from collections.abc import Sequence

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.lanes import Lanes, lanes_of
from teenyc.ir.nodes import (
    Apply,
    Binary,
    Call,
    Cast,
    Compare,
    Constant,
    Copy,
    ExpandDims,
    Let,
    Literal,
    Offset,
    Operand,
    Operation,
    Unary,
    Value,
)
from teenyc.ir.walk import map_operation, operands_of
from teenyc.record import replace
from teenyc.tiling import algebra, extents, memory, reductions, refusals
from teenyc.tiling.state import Blocking, RefusedError, Tile, element_of, shape_of, zero_of
from teenyc.tiling.wording import Wording
from teenyc.types import BOOL, I32, ONE, Extent, scalar


def make(b: Blocking, let: Let) -> None:
    """Writes the definition of a value as a tile."""
    operation = let.operation
    match operation:
        case Call():
            make_call(b, let, operation)
        case ExpandDims():
            expand(b, let, operation)
        case Copy() | Unary() | Binary() | Compare() | Cast() | Offset():
            lane_by_lane(b, let, operation)
        case Apply():
            raise RefusedError(refusals.function_call(operation.function, let.span))


def lane_by_lane(b: Blocking, let: Let, operation: Operation) -> None:
    """An operation that makes each lane of the same lanes of its operands."""
    (result,) = let.results
    tiles = [b.tile(o, let.span) for o in operands_of(operation)]
    if isinstance(operation, Copy) and isinstance(operation.operand, Value) and tiles[0].lead:
        b.tiles[result.id] = tiles[0]
        return
    same = algebra.unchanged(b, operation, tiles)
    if same is not None:
        b.tiles[result.id] = same
        return
    operands, lead, rank, shape = b.met(tiles, let.span)
    is_loaded = isinstance(operation, Cast) and isinstance(operation.operand, Value) and operation.operand.id in b.raw
    name = "" if is_loaded else result.name or b.names.get(result.id, "")  # which what was loaded bears
    value = b.let(_with(operation, operands), element_of(result), shape, let.span, name, let.comments)
    b.tiles[result.id] = Tile(value, lead, rank)
    if is_loaded:
        b.loaded[value.id] = tiles[0]


def expand(b: Blocking, let: Let, operation: ExpandDims) -> None:
    """New axes: those to the left of all along which the value varies stay out of the tile."""
    (result,) = let.results
    tile = b.tile(operation.operand, let.span)
    total = len(shape_of(result))
    kept = total - tile.rank - len(operation.axes)
    own = [a for a in range(total) if a not in operation.axes][kept:]  # places of the tile's own axes
    first = min(own, default=total)
    new = [a for a in operation.axes if a > first]
    if not new or not tile.rank:
        b.tiles[result.id] = tile
        return
    axes = tuple(len(tile.lead) + a - first for a in new)
    shape = list(shape_of(tile.operand))
    for axis in axes:
        shape.insert(axis, ONE)
    value = b.let(ExpandDims(operand=tile.operand, axes=axes), element_of(result), tuple(shape), let.span, result.name)
    b.tiles[result.id] = Tile(value, tile.lead, tile.rank + len(new))


def make_call(b: Blocking, let: Let, call: Call) -> None:
    match call.intrinsic:
        case "program_id":
            program_id(b, let, call)
        case "zeros" | "full" | "broadcast_to":
            spread(b, let, call)
        case "arange":
            lanes(b, let, call)
        case "num_programs":
            num_programs(b, let, call)
        case "sum" | "max" | "min":
            reductions.reduction(b, let, call)
        case "load":
            memory.load(b, let, call)
        case "store":
            memory.store(b, let, call)
        case name if lanes_of(name) is Lanes.SAME and not TABLE[name].effects:
            lane_by_lane_call(b, let, call)
        case name:
            other(b, let, call, name)


def lanes(b: Blocking, let: Let, call: Call) -> None:
    """Lanes are what they were; one lane alone is a number, and has no axis."""
    (result,) = let.results
    start = call.attribute("start")
    if shape_of(result) == (ONE,) and isinstance(start, Extent):
        b.tiles[result.id] = Tile(extents.number(b, start, I32, let.span))
        return
    (value,) = again(b, let, let.operation)
    b.tiles[result.id] = Tile(value, (), 1)


def other(b: Blocking, let: Let, call: Call, name: str) -> None:
    """Anything else is as it was, if it has no blocked axis."""
    tiles = [b.tile(o, let.span) for _, o in call.operands]
    ranks = [len(shape_of(o)) for _, o in call.operands]
    if any(t.lead for t in tiles) or any(t.rank != r for t, r in zip(tiles, ranks, strict=True)):
        operand = Wording.of(b.lets).text(call.operands[0][1])
        axes = b.together([t.lead for t in tiles if t.lead])
        raise RefusedError(refusals.lanes_together(name, operand, axes, let.span))
    if TABLE[name].effects and b.valid:
        raise RefusedError(refusals.once_a_program(name, let.span))
    operands = tuple((n, t.operand) for (n, _), t in zip(call.operands, tiles, strict=True))
    made = again(b, let, replace(call, operands=operands))
    for value, result in zip(let.results, made, strict=True):
        b.tiles[value.id] = Tile(result, (), len(shape_of(value)))


def again(b: Blocking, let: Let, operation: Operation) -> tuple[Value, ...]:
    """A definition as it was: of values of its own, as each part of a range has one."""
    results = tuple(b.fresh(element_of(v), shape_of(v), v.name) for v in let.results)
    b.statements.append(replace(let, results=results, operation=operation))
    return results


def lane_by_lane_call(b: Blocking, let: Let, call: Call) -> None:
    tiles = [b.tile(o, let.span) for _, o in call.operands]
    same = algebra.unchanged(b, call, tiles)
    if same is not None:
        b.tiles[let.results[0].id] = same
        return
    operands, lead, rank, shape = b.met(tiles, let.span)
    given = tuple((n, o) for (n, _), o in zip(call.operands, operands, strict=True))
    results = tuple(b.fresh(element_of(v), shape, v.name or b.names.get(v.id, "")) for v in let.results)
    b.statements.append(replace(let, results=results, operation=replace(call, operands=given)))
    for value, result in zip(let.results, results, strict=True):
        b.tiles[value.id] = Tile(result, lead, rank)


def program_id(b: Blocking, let: Let, call: Call) -> None:
    """The rows of a block. Those beyond the grid compute what the last one does, or read 0, and store nothing."""
    (result,) = let.results
    rows = next((r for r in b.rows if r.axis.id == call.attribute("axis", 0)), None)
    if rows is None:
        b.statements.append(let)
        b.tiles[result.id] = Tile(result)
        return
    (block,) = shape = (Extent.of(rows.axis.block),)
    name, count = rows.axis.name, rows.count
    pid = b.call("program_id", (), (("axis", rows.axis.id),), I32, (), let.span)
    extent = Constant(rows.axis.block, scalar(I32))
    label = f"first_{name}" if b.bounds else ""
    first = b.let(Binary(operator="mul", left=pid, right=extent), I32, (), let.span, label)
    lanes = b.call("arange", (), (("start", Extent.of(0)), ("end", block)), I32, shape, let.span)
    is_open = rows.axis.id in b.edges
    own = result.name if is_open else f"{name}s"
    row = b.let(Binary(operator="add", left=first, right=lanes), I32, shape, let.span, own)
    if rows.axis not in {a for t in b.valid for a in t.lead}:
        valid = b.let(Compare(operator="lt", left=row, right=count), BOOL, shape, let.span, f"is_{name}")
        b.valid = (*b.valid, Tile(valid, (rows.axis,)))
        b.guard("edge" if is_open else "rows", rows.axis)
    if b.bounds:
        b.ends[rows.axis] = first, _last_row(b, first, extent, count, let, f"last_{name}")
    if is_open:
        b.tiles[result.id] = Tile(row, (rows.axis,))
        return
    last = b.ends[rows.axis][1] if b.bounds else _before(b, count, let)
    inside = b.call("minimum", (("x", row), ("y", last)), (), I32, shape, let.span, result.name)
    b.tiles[result.id] = Tile(inside, (rows.axis,))


def _last_row(b: Blocking, first: Operand, extent: Operand, count: Operand, let: Let, name: str) -> Operand:
    """The last row of a block that the grid has."""
    own = b.let(Binary(operator="add", left=first, right=_before(b, extent, let)), I32, (), let.span)
    return b.call("minimum", (("x", own), ("y", _before(b, count, let))), (), I32, (), let.span, name)


def _before(b: Blocking, operand: Operand, let: Let) -> Operand:
    return b.let(Binary(operator="sub", left=operand, right=Literal(1, scalar(I32))), I32, (), let.span)


def num_programs(b: Blocking, let: Let, call: Call) -> None:
    """How many programs the source has: along a blocked axis that is a parameter."""
    rows = next((r for r in b.rows if r.axis.grid_axis == call.attribute("axis", 0)), None)
    b.tiles[let.results[0].id] = Tile(again(b, let, call)[0] if rows is None else rows.count)


def spread(b: Blocking, let: Let, call: Call) -> None:
    """A value whose elements are all equal is one element, until something makes them differ."""
    (result,) = let.results
    if call.intrinsic == "zeros":
        b.tiles[result.id] = Tile(Literal(zero_of(element_of(result)), scalar(element_of(result))))
        return
    operand = call.operand("value") if call.intrinsic == "full" else call.operands[0][1]
    assert operand is not None, "what is spread is given"
    tile = b.tile(operand, let.span)
    if element_of(tile.operand) != element_of(result):
        cast = Cast(operand=tile.operand)
        tile = replace(tile, operand=b.let(cast, element_of(result), shape_of(tile.operand), let.span, result.name))
    b.tiles[result.id] = tile


def is_late(b: Blocking, let: Let) -> bool:
    """Whether a value is made where it is used, if ever: products that would vary along three axes."""
    if isinstance(let.operation, Call) and TABLE[let.operation.intrinsic].effects - {Effect.READS}:
        return False
    return any(b.width(v) > 2 for v in let.results)


def _with(operation: Operation, operands: Sequence[Operand]) -> Operation:
    """An operation with other operands, in order."""
    given = iter(operands)
    return map_operation(operation, lambda _: next(given))
