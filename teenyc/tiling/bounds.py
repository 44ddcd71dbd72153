"""Bounds of loops: the parts of a range, of full blocks and of masked ones, and what is widest where rows differ."""

from __future__ import annotations

from teenyc.ir.nodes import Binary, Cast, Constant, For, Literal, Operand
from teenyc.record import record
from teenyc.source import Span
from teenyc.tiling.plan import LoopPlan
from teenyc.tiling.state import Blocking, Bounds, RefusedError, Tile, element_of, shape_of
from teenyc.types import I32, I64, scalar


@record
class Part:
    """A part of a range. `known` are flags that hold in all of it, by id; iterations from `limit` on do not count."""

    start: Operand
    stop: Operand
    known: tuple[int, ...] = ()
    limit: Operand | None = None


def parts(b: Blocking, loop: For, plan: LoopPlan) -> list[Part]:
    """The parts of a loop's range: masked blocks where a row may start later, full ones, and masked ones to the end."""
    step = number(loop.step)
    is_positive = isinstance(loop.step, Constant) or (isinstance(step, int) and step > 0)
    if not is_positive or element_of(loop.counter) not in (I32, I64):
        raise RefusedError("a loop whose step is not known to be positive", loop.span)
    own = b.bounds.get(loop.counter.id)
    if own is None:
        start, stop = uniform(b, loop.start, loop.span), uniform(b, loop.stop, loop.span)
        full = _full(b, loop, plan, start, stop)
        return [Part(start, full), Part(full, stop, limit=stop)]
    return _by_rows(b, loop, plan, own)


def _by_rows(b: Blocking, loop: For, plan: LoopPlan, own: Bounds) -> list[Part]:
    """Where the bounds differ from row to row, full blocks are those that all rows have whole."""
    span, found = loop.span, list[Part]()
    first, last = widest(b, loop)
    limit = last if own.before is None else None
    least_stop = last if own.before is None else least(b, own.stop, span)
    start = first
    if own.after is not None:
        start = _rounded_up(b, loop, plan, first, greatest(b, own.start, span))
        found.append(Part(first, _minimum(b, start, last, span), limit=limit))
    full = _full(b, loop, plan, start, least_stop, is_signed=True)
    flags = (own.valid, own.after, own.before)
    whole = tuple(flag.id for flag in flags if flag is not None)
    after = () if own.after is None else (own.after.id,) if own.before is not None else whole
    return [*found, Part(start, full, whole), Part(full, last, after, limit)]


def _full(b: Blocking, loop: For, plan: LoopPlan, start: Operand, stop: Operand, is_signed: bool = False) -> Operand:
    """Where the last full block ends; `is_signed` where the start may lie behind the stop by blocks."""
    span, stride_ = loop.span, stride(b, loop, plan)
    count = _binary(b, "sub", stop, start, span)
    if is_signed:
        zero = Literal(0, scalar(element_of(count)))
        count = b.call("maximum", (("x", count), ("y", zero)), (), element_of(count), (), span)
    blocks = _binary(b, "div", count, stride_, span)
    return _behind(b, start, blocks, stride_, span, f"full_{plan.axis.name}")


def _rounded_up(b: Blocking, loop: For, plan: LoopPlan, start: Operand, stop: Operand) -> Operand:
    """The end of the block that reaches or passes `stop`."""
    span, stride_ = loop.span, stride(b, loop, plan)
    count = _binary(b, "sub", stop, start, span)
    blocks = b.call("cdiv", (("x", count), ("div", stride_)), (), element_of(count), (), span)
    return _behind(b, start, blocks, stride_, span, f"first_full_{plan.axis.name}")


def _behind(b: Blocking, start: Operand, blocks: Operand, stride: Operand, span: Span, name: str) -> Operand:
    """Where a number of blocks from a start on ends."""
    is_zero = number(start) == 0
    whole = _binary(b, "mul", blocks, stride, span, name if is_zero else "")
    return whole if is_zero else _binary(b, "add", start, whole, span, name)


def stride(b: Blocking, loop: For, plan: LoopPlan) -> Operand:
    """How far a block of iterations goes."""
    element = element_of(loop.counter)
    block: Operand = Constant(plan.axis.block, scalar(I32))
    if element != I32:
        block = b.let(Cast(operand=block), element, (), loop.span)
    return block if number(loop.step) == 1 else _binary(b, "mul", block, loop.step, loop.span)


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
    return least(b, own.start, loop.span), greatest(b, own.stop, loop.span)


def uniform(b: Blocking, operand: Operand, span: Span) -> Operand:
    """An operand that is one number for the whole block."""
    tile = b.tile(operand, span)
    if tile.lead or tile.rank:
        raise RefusedError("a loop whose bounds differ within a block", span)
    return tile.operand


def least(b: Blocking, operand: Operand, span: Span) -> Operand:
    """The least of an operand over the rows of a block."""
    return _over_rows(b, b.tile(operand, span), "min", span)


def greatest(b: Blocking, operand: Operand, span: Span) -> Operand:
    """The greatest of an operand over the rows of a block."""
    return _over_rows(b, b.tile(operand, span), "max", span)


def _over_rows(b: Blocking, tile: Tile, name: str, span: Span) -> Operand:
    operand = tile.operand
    while shape := shape_of(operand):
        operand = b.call(name, (("input", operand),), (("axis", 0),), element_of(operand), shape[1:], span)
    return operand
