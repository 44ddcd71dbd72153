"""Turns: which block of the grid a program takes. A kernel in blocks goes in; an order comes out, and the kernel in it.

A device starts programs in the order of their indices, those along the first axis of the grid before those along the
next. What neighbours load alike, its cache holds; and a long program that starts last keeps all others waiting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from teenyc.intrinsics.program import LAST_FIRST
from teenyc.ir.axes import Axis, AxisInfo
from teenyc.ir.nodes import Block, Call, Constant, For, Kernel, Let, Literal, Statement, Value
from teenyc.ir.walk import results_of, substitute
from teenyc.source import NO_COMMENTS, Comments
from teenyc.tiling.choose import free_name, programs
from teenyc.tiling.ends import direction
from teenyc.tiling.plan import BlockedAxis, Contraction, Grouped, LastFirst, Plan, Side
from teenyc.tiling.state import Blocking
from teenyc.types import I32, scalar

GROUP = 8
"""So many blocks are in a group where nobody says otherwise."""

GROUPS = Comments(("In groups, so that neighbours load what the cache holds.",))
LONGEST = Comments(("The longest first, so that no program is left alone at the end.",))


def order_of(b: Blocking, plan: Plan, kernel: Kernel) -> Grouped | LastFirst | None:
    """In which order programs take blocks; None for that of the grid. `b` is how the kernel was blocked."""
    if any(axis.is_part for axis in plan.programs):
        return None
    if len(plan.programs) == 2:
        return _grouped(plan, kernel, b.infos)
    return next((found for axis in plan.programs if (found := _last_first(b, axis, kernel)) is not None), None)


def in_order(b: Blocking, order: Grouped | LastFirst | None) -> tuple[Statement, ...]:
    """What a program does, taking its blocks in an order."""
    match order:
        case None:
            return tuple(b.statements)
        case LastFirst():
            return _with(b, _from_last(b, order), (order.axis,))
        case Grouped():
            return _with(b, _in_groups(b, order), (order.outer, order.inner))
        case _:
            assert_never(order)


def _with(b: Blocking, places: Sequence[Let], axes: Sequence[BlockedAxis]) -> tuple[Statement, ...]:
    """What a program does, with its places along some axes, which the last definition gives, for its indices."""
    indices = [(s, n) for s in b.statements for n, axis in enumerate(axes) if _is_index(s, axis)]
    made = {v.id: places[-1].results[n] for s, n in indices for v in results_of(s)}
    first, gone = b.statements.index(indices[0][0]), {id(s) for s, _ in indices}
    rest = (*b.statements[:first], *places, *(s for s in b.statements[first:] if id(s) not in gone))
    return substitute(Block(statements=rest), made).statements


# ---- groups ---------------------------------------------------------------------------------------------------------


def _grouped(plan: Plan, kernel: Kernel, infos: Mapping[int, AxisInfo]) -> Grouped | None:
    """Groups where each side of a product is the same along one of two axes, which lie side by side in the grid.

    Within the grid's order all blocks of the first axis come before the second block of the next: a cache would have to
    hold all of one side.
    """
    inner, outer = sorted(plan.programs, key=lambda axis: axis.id)
    between = [axis for axis in programs(kernel) if axis.id < outer.id and axis.id != inner.id]
    if between or not any(_is_shared(each, inner, outer, infos) for each in plan.contractions):
        return None
    return Grouped(outer, inner, free_name(kernel, f"GROUP_{outer.block.removeprefix('BLOCK_')}"))


def _is_shared(each: Contraction, inner: BlockedAxis, outer: BlockedAxis, infos: Mapping[int, AxisInfo]) -> bool:
    """Whether one side of a product varies along one axis alone, and the other along the other."""
    axes = {Axis("program", axis.id) for axis in (inner, outer)}
    along = [_along(side, infos) & axes for side in each.sides]
    return len(along) == 2 and all(len(found) == 1 for found in along) and along[0] != along[1]


def _along(side: Side, infos: Mapping[int, AxisInfo]) -> frozenset[Axis]:
    """The program and loop axes along which a side of a product varies."""
    found = (infos[factor.id].outer for factor in side.factors if isinstance(factor, Value))
    return frozenset[Axis]().union(*found)


def _in_groups(b: Blocking, order: Grouped) -> list[Let]:
    """The places of both axes, made of the two indices of a program at once."""
    axes = (order.outer, order.inner)
    asked = [(name, axis) for name in ("program_id", "num_programs") for axis in axes]
    made = [_let(b, Call(intrinsic=name, attributes=(("axis", axis.id),)), axis) for name, axis in asked]
    places = zip(("i", "j", "size_i", "size_j"), (let.results[0] for let in made), strict=True)
    call = Call(intrinsic="swizzle2d", operands=(*places, ("size_g", Constant(order.size, scalar(I32)))))
    results = tuple(b.fresh(I32, (), f"{axis.name}_block") for axis in axes)
    return [*made, Let(results=results, operation=call, span=order.outer.span, comments=GROUPS)]


def _let(b: Blocking, call: Call, axis: BlockedAxis, name: str = "", comments: Comments = NO_COMMENTS) -> Let:
    return Let(results=(b.fresh(I32, (), name),), operation=call, span=axis.span, comments=comments)


# ---- the last first -------------------------------------------------------------------------------------------------


def _last_first(b: Blocking, axis: BlockedAxis, kernel: Kernel) -> LastFirst | None:
    """The last rows first where loops only get longer from row to row."""
    loops = [(s, _growth(b, s, axis)) for s in kernel.body.statements if isinstance(s, For)]
    growing = [loop for loop, growth in loops if growth]
    if not growing or any(growth is None or growth < 0 for _, growth in loops):
        return None
    return LastFirst(axis, growing[0].counter.name or "iteration")


def _growth(b: Blocking, loop: For, axis: BlockedAxis) -> int | None:
    """1 where a loop never gets shorter from row to row, -1 where it never gets longer; None if that is not known."""
    own = b.bounds.get(loop.counter.id)
    if own is None:
        return 0
    if not isinstance(loop.step, Literal) or loop.step.value < 0:
        return None
    with b.inner():  # what bounds are made of is not written once more
        start, stop = direction(b, own.start, axis), direction(b, own.stop, axis)
    if start is None or stop is None or start * stop > 0:
        return None
    return stop or -start


def _from_last(b: Blocking, order: LastFirst) -> list[Let]:
    """The index of a program, counted from the last."""
    call = Call(intrinsic="program_id", attributes=(("axis", order.axis.id), (LAST_FIRST, True)))
    return [_let(b, call, order.axis, f"{order.axis.name}_block", LONGEST)]


def _is_index(statement: Statement, axis: BlockedAxis) -> bool:
    """Whether a statement asks for the index of a program along an axis."""
    operation = statement.operation if isinstance(statement, Let) else None
    is_index = isinstance(operation, Call) and operation.intrinsic == "program_id"
    return is_index and isinstance(operation, Call) and operation.attribute("axis", 0) == axis.id
