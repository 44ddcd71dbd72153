"""Bounds of loops: the parts of a range, of full blocks and of masked ones, and what is widest where rows differ."""

from __future__ import annotations

from teenyc.ir.counters import counter_name
from teenyc.ir.nodes import Binary, Call, Cast, Compare, Constant, Copy, For, Literal, Operand, Value
from teenyc.record import record, replace
from teenyc.source import Span
from teenyc.tiling import ends, refusals
from teenyc.tiling.plan import LoopPlan
from teenyc.tiling.room import ROOM, interval, is_near
from teenyc.tiling.state import Blocking, Bounds, RefusedError, Tile, element_of, shape_of
from teenyc.tiling.wording import Wording
from teenyc.types import BOOL, I32, I64, Element, Extent, scalar


@record
class Part:
    """A part of a range, in blocks. `known` are flags that hold in all of it, by id; iterations from `limit` on
    do not count.

    `last` is the greatest stop of any row, where rows have their own.
    """

    start: Operand
    stop: Operand
    step: Operand
    known: tuple[int, ...] = ()
    limit: Operand | None = None
    last: Operand | None = None


def parts(b: Blocking, loop: For, plan: LoopPlan) -> list[Part]:
    """The parts of a loop's range: masked blocks where a row may start later, full ones, and masked ones to the end."""
    step = number(loop.step)
    is_up = not isinstance(loop.step, Literal) or (isinstance(step, int) and step > 0)  # Triton counts no other way
    is_exact = not isinstance(loop.step, Value) or element_of(loop.counter) == I64
    if not (is_up and is_exact) or element_of(loop.counter) not in (I32, I64):
        text = Wording.of(b.lets).text(loop.step)
        raise RefusedError(refusals.far_step(counter_name(loop), text, loop.span))
    own = b.bounds.get(loop.counter.id)
    if own is None:
        start, stop = uniform(b, loop.start, loop.span), uniform(b, loop.stop, loop.span)
        block = _block(b, loop, plan)
        is_far = element_of(start) == I32 and not is_near(b.lets, loop)
        full = (_full_of_far if is_far else _full)(b, plan, start, stop, block)
        return [Part(start, full, block), Part(full, stop, block, limit=stop)]
    return _by_rows(b, loop, plan, own)


def _by_rows(b: Blocking, loop: For, plan: LoopPlan, own: Bounds) -> list[Part]:
    """Where the bounds differ from row to row, full blocks are those that all rows have whole."""
    span, found, block = loop.span, list[Part](), _block(b, loop, plan)
    first, last = widest(b, loop)
    start = first
    if own.after is not None:
        start = _rounded_up(b, plan, first, greatest(b, own.start, span), block)
        found.append(Part(first, _minimum(b, start, last, span), block, last=last))
    is_signed = own.after is not None or interval(b.lets, own.stop)[0] < 0
    full = _full(b, plan, start, least(b, own.stop, span), block, is_signed)
    flags = (own.valid, own.after, own.before)
    whole = tuple(flag.id for flag in flags if flag is not None)
    after = () if own.after is None else (own.after.id,)
    return [*found, Part(start, full, block, whole), Part(full, last, block, after, last=last)]


def reached(b: Blocking, counter: int, span: Span) -> Tile | None:
    """Which iterations of a block any row has, where the bounds tell: those before the greatest stop.

    Where starts and stops both differ, some iterations may lie between those of one row and of the next. There are none
    where both move by one from row to row, and the rows have any.
    """
    own = b.bounds[counter]
    if not b.tile(own.stop, span).lead:
        return None if own.before is None else b.tile(own.before, span)
    at, last, name = b.tiles[counter], Tile(b.reaches[counter]), f"is_{own.counter.name or 'iteration'}"
    if own.after is None or is_true(b.tile(own.after, span).operand):
        return _compared(b, "lt", at, last, span, name)
    starts, stops = _varying(b, own.start, "maximum", span), _varying(b, own.stop, "minimum", span)
    axes = {axis for bound in (*starts, *stops) for axis in b.tile(bound, span).lead}
    if len(axes) != 1 or not axes <= b.ends.keys():
        return None
    (axis,) = axes
    steps = {ends.slope(b, bound, axis) for bound in (*starts, *stops)}
    if steps != {1} and steps != {-1}:
        return None
    row = {axis: Tile(b.ends[axis][0])}
    start, stop = (
        _chosen(b, name, [ends.at(b, bound, row, span) for bound in bounds], span)
        for name, bounds in (("maximum", starts), ("minimum", stops))
    )
    found, has_any = _compared(b, "lt", at, last, span), _compared(b, "lt", start, stop, span)
    return b.binary("and", found, has_any, BOOL, span, name)


def flags(b: Blocking, loop: For, plan: LoopPlan, start: Value, part: Part) -> dict[int, Tile]:
    """What says which iterations of a block count, by how far the bounds are from its start, where that is needed.

    A stop that all rows share may be so near the greatest number that a block passes it. In a loop that counts in 64
    bits all rows meet all iterations in 32 bits so, which takes half the registers.
    """
    own, found = b.bounds[loop.counter.id], dict[int, Tile]()
    for flag, operator, bound in ((own.after, "ge", own.start), (own.before, "lt", own.stop)):
        if flag is None or flag.id in part.known:
            continue
        name, tile = b.names.get(flag.id, ""), b.tile(bound, loop.span)
        if not tile.lead:
            found[flag.id] = _before(b, loop, plan, start, tile, name)
        elif element_of(start) == I64 and _is_small(loop.step):
            near = _near(b, start, tile, part, loop.span)
            found[flag.id] = _compared(b, operator, _lanes(b, loop, plan, I32), near, loop.span, name)
    return found


def _before(b: Blocking, loop: For, plan: LoopPlan, start: Value, stop: Tile, name: str) -> Tile:
    left = _binary(b, "sub", stop.operand, start, loop.span)
    return _compared(b, "lt", _lanes(b, loop, plan, element_of(start)), Tile(left), loop.span, name)


def _near(b: Blocking, start: Value, bound: Tile, part: Part, span: Span) -> Tile:
    """How far the bound of each row is from the start of the block, at most a block."""
    far = b.binary("sub", bound, Tile(start), I64, span)
    for name, end in (("maximum", Literal(0, scalar(I64))), ("minimum", part.step)):
        operands = (("x", far.operand), ("y", end))
        far = replace(far, operand=b.call(name, operands, (), I64, shape_of(far.operand), span))
    return replace(far, operand=b.let(Cast(operand=far.operand), I32, shape_of(far.operand), span))


def _is_small(step: Operand) -> bool:
    """Whether 32 bits hold how far a block goes."""
    return isinstance(step, Literal) and step.value * ROOM <= I32.maximum


def _lanes(b: Blocking, loop: For, plan: LoopPlan, element: Element) -> Tile:
    """How far each iteration of a block is from its start."""
    span, shape = loop.span, (Extent.of(plan.axis.block),)
    lanes: Operand = b.call("arange", (), (("start", Extent.of(0)), ("end", shape[0])), I32, shape, span)
    if element != I32:
        lanes = b.let(Cast(operand=lanes), element, shape, span)
    if number(loop.step) != 1:
        by = uniform(b, loop.step, span)
        if isinstance(by, Literal):
            by = replace(by, type=scalar(element))
        elif element_of(by) != element:
            by = b.let(Cast(operand=by), element, (), span)
        lanes = b.let(Binary(operator="mul", left=lanes, right=by), element, shape, span)
    return Tile(lanes, (plan.axis,))


def _varying(b: Blocking, operand: Operand, name: str, span: Span) -> list[Operand]:
    """The numbers that differ from row to row among those of which an operand is the least, or the greatest."""
    let = b.lets.get(operand.id) if isinstance(operand, Value) else None
    match let.operation if let is not None else None:
        case Call(intrinsic=intrinsic, operands=((_, left), (_, right))) if intrinsic == name:
            return [*_varying(b, left, name, span), *_varying(b, right, name, span)]
        case Copy(operand=inner):
            return _varying(b, inner, name, span)
    return [operand] if b.tile(operand, span).lead else []


def _chosen(b: Blocking, name: str, tiles: list[Tile], span: Span) -> Tile:
    first, *rest = tiles
    for tile in rest:
        operands = (("x", first.operand), ("y", tile.operand))
        first = Tile(b.call(name, operands, (), element_of(tile.operand), (), span))
    return first


def _compared(b: Blocking, operator: str, left: Tile, right: Tile, span: Span, name: str = "") -> Tile:
    (one, other), lead, rank, shape = b.met([left, right], span)
    return Tile(b.let(Compare(operator=operator, left=one, right=other), BOOL, shape, span, name), lead, rank)


def _full(
    b: Blocking, plan: LoopPlan, start: Operand, stop: Operand, block: Operand, is_signed: bool = False
) -> Operand:
    """Where the last full block ends; `is_signed` where the start may lie behind the stop by blocks."""
    span = plan.axis.span
    if is_signed:
        stop = b.call("maximum", (("x", stop), ("y", start)), (), element_of(stop), (), span)
    blocks = _binary(b, "div", _binary(b, "sub", stop, start, span), block, span)
    return _behind(b, start, blocks, block, span, f"full_{plan.axis.name}")


def _full_of_far(b: Blocking, plan: LoopPlan, start: Operand, stop: Operand, block: Operand) -> Operand:
    """Where the last full block ends, where the way there may be farther than the greatest i32."""
    span = plan.axis.span
    first, last, wide = (b.let(Cast(operand=o), I64, (), span) for o in (start, stop, block))
    blocks = _binary(b, "div", _binary(b, "sub", last, first, span), wide, span)
    whole = b.let(Cast(operand=_binary(b, "mul", blocks, wide, span)), I32, (), span)
    return _binary(b, "add", start, whole, span, f"full_{plan.axis.name}")


def _rounded_up(b: Blocking, plan: LoopPlan, start: Operand, stop: Operand, block: Operand) -> Operand:
    """The end of the block that reaches or passes `stop`."""
    span = plan.axis.span
    count = _binary(b, "sub", stop, start, span)
    blocks = b.call("cdiv", (("x", count), ("div", block)), (), element_of(count), (), span)
    return _behind(b, start, blocks, block, span, f"first_full_{plan.axis.name}")


def _behind(b: Blocking, start: Operand, blocks: Operand, stride: Operand, span: Span, name: str) -> Operand:
    """Where a number of blocks from a start on ends."""
    is_zero = number(start) == 0
    whole = _binary(b, "mul", blocks, stride, span, name if is_zero else "")
    return whole if is_zero else _binary(b, "add", start, whole, span, name)


def _block(b: Blocking, loop: For, plan: LoopPlan) -> Operand:
    """How far a block of iterations goes."""
    element = element_of(loop.counter)
    block: Operand = Constant(plan.axis.block, scalar(I32))
    if element != I32:
        block = b.let(Cast(operand=block), element, (), loop.span)
    return block if number(loop.step) == 1 else _binary(b, "mul", block, uniform(b, loop.step, loop.span), loop.span)


def number(operand: Operand) -> object:
    """The number that an operand is, where it is known here."""
    return operand.value if isinstance(operand, Literal) else None


def is_true(operand: Operand) -> bool:
    return isinstance(operand, Literal) and operand.value is True


def _binary(b: Blocking, operator: str, left: Operand, right: Operand, span: Span, name: str = "") -> Operand:
    """An operation on bounds; zero adds nothing."""
    if operator in ("add", "sub") and number(right) == 0:
        return left
    if operator == "add" and number(left) == 0:
        return right
    return b.let(Binary(operator=operator, left=left, right=right), element_of(left), (), span, name)


def _minimum(b: Blocking, left: Operand, right: Operand, span: Span) -> Operand:
    return b.call("minimum", (("x", left), ("y", right)), (), element_of(left), (), span)


def widest(b: Blocking, loop: For) -> tuple[Operand, Operand]:
    """The bounds of a loop, which are those of all rows where rows have their own."""
    own = b.bounds.get(loop.counter.id)
    if own is None:
        return uniform(b, loop.start, loop.span), uniform(b, loop.stop, loop.span)
    name = loop.counter.name or "iteration"
    first = least(b, own.start, loop.span, f"least_{name}")
    return first, greatest(b, own.stop, loop.span, f"last_{name}_stop")


def uniform(b: Blocking, operand: Operand, span: Span) -> Operand:
    """An operand that is one number for the whole block."""
    tile = b.tile(operand, span)
    if tile.lead or tile.rank:
        raise RefusedError(refusals.bounds_by_row(span))
    return tile.operand


def least(b: Blocking, operand: Operand, span: Span, name: str = "") -> Operand:
    """The least of an operand over the rows of a block."""
    found = ends.extreme(b, operand, is_greatest=False, span=span, name=name)
    return _over_rows(b, b.tile(operand, span), "min", span) if found is None else found


def greatest(b: Blocking, operand: Operand, span: Span, name: str = "") -> Operand:
    """The greatest of an operand over the rows of a block."""
    found = ends.extreme(b, operand, is_greatest=True, span=span, name=name)
    return _over_rows(b, b.tile(operand, span), "max", span) if found is None else found


def _over_rows(b: Blocking, tile: Tile, name: str, span: Span) -> Operand:
    operand = tile.operand
    while shape := shape_of(operand):
        operand = b.call(name, (("input", operand),), (("axis", 0),), element_of(operand), shape[1:], span)
    return operand
