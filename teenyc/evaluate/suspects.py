"""What becomes of marked lanes: an operation goes in; the marks of its results come out, and those that arrive.

Work that goes lane by lane hands marks on, and so does what moves lanes. What a mask or a condition leaves aside is
forgotten. Where lanes are mixed, stored, or decide something, marks have arrived.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from teenyc.evaluate.accesses import active_lanes, block_of
from teenyc.evaluate.arithmetic import aligned
from teenyc.evaluate.marks import LEFT_OUT, Marked, Marks, either, spread, where
from teenyc.evaluate.numbers import Array
from teenyc.ir.lanes import Lanes, lanes_of
from teenyc.ir.nodes import Apply, Binary, Call, Copy, ExpandDims, Let, Operand, Value
from teenyc.ir.walk import operands_of
from teenyc.types import BOOL, TensorType

if TYPE_CHECKING:
    from teenyc.evaluate.machine import Frame, Mask


def marks_of(frame: Frame, operand: Operand) -> Marks:
    """The marks of a value."""
    held = frame.of(operand)
    return held.marks if isinstance(held, Marked) else {}


def are_marked(frame: Frame, operands: Sequence[Operand]) -> bool:
    return any(isinstance(o, Value) and isinstance(frame.values.get(o.id), Marked) for o in operands)


# ---- marks that are handed on ---------------------------------------------------------------------------------------


def inherited(frame: Frame, let: Let, active: Mask) -> list[Marks]:
    """The marks of each result, from those of the operands."""
    operation = let.operation
    is_access = isinstance(operation, Call) and operation.operand("pointer") is not None
    if is_access:
        return [_loaded(frame, operation, active)] if let.results else []  # type: ignore[arg-type]
    if isinstance(operation, Copy | Apply) or not are_marked(frame, operands_of(let)):
        return []
    match operation:
        case ExpandDims():
            axes = tuple(axis + 1 for axis in operation.axes)
            marks = marks_of(frame, operation.operand)
            return [{key: np.expand_dims(lanes, axes) for key, lanes in marks.items()}]
        case Binary(operator="and" | "or"):
            return [_logical(frame, operation)]
        case Call():
            return _called(frame, let, operation)
        case _:
            return [_together(frame, operands_of(let))]


def _together(frame: Frame, operands: Sequence[Operand]) -> dict[Hashable, Array]:
    """The marks of lanes of which any operand has one."""
    rank = max(frame.array(o).ndim for o in operands) - 1
    return either(*(spread(marks_of(frame, o), rank) for o in operands))


def _logical(frame: Frame, operation: Binary) -> dict[Hashable, Array]:
    """Of flags, lanes that the other side decides have no mark: `false & x`, `true | x`."""
    sides = (operation.left, operation.right)
    rank = max(frame.array(o).ndim for o in sides) - 1
    marks = [spread(marks_of(frame, o), rank) for o in sides]
    if not all(isinstance(o.type, TensorType) and o.type.element == BOOL for o in sides):
        return either(*marks)
    found = []
    for mine, other, others in ((marks[0], sides[1], marks[1]), (marks[1], sides[0], marks[0])):
        flags = aligned(frame.array(other), rank)
        decides = ~flags if operation.operator == "and" else flags
        is_sure = decides & ~_any(others, flags)
        found.append({key: lanes & ~is_sure for key, lanes in mine.items()})
    return either(*found)


def _any(marks: Marks, like: Array) -> Array:
    found: Array = np.zeros_like(like, bool)
    for lanes in marks.values():
        found = found | lanes
    return found


def _called(frame: Frame, let: Let, call: Call) -> list[Marks]:
    if call.intrinsic == "where":
        return [_selected(frame, call)]
    kind = lanes_of(call.intrinsic)
    if kind is Lanes.SAME:
        return [_together(frame, operands_of(let))] * len(let.results)
    if kind in (Lanes.SHAPE, Lanes.MIXED):
        return []
    return _moved(frame, let, call)


def _selected(frame: Frame, call: Call) -> dict[Hashable, Array]:
    condition, x, y = (call.operand(name) for name in ("condition", "x", "y"))
    assert condition is not None, "`where` has a condition"
    assert x is not None, "`where` has two values"
    assert y is not None, "`where` has two values"
    rank = max(frame.array(o).ndim for o in (condition, x, y)) - 1
    flags = aligned(frame.array(condition), rank)
    sides = (where(marks_of(frame, x), flags), where(marks_of(frame, y), ~flags))
    return either(spread(marks_of(frame, condition), rank), *sides)


def _moved(frame: Frame, let: Let, call: Call) -> list[Marks]:
    """Flags go where the lanes go that they mark: the call is done with each kind of marks in the place of values."""
    from teenyc.evaluate.calls import referred

    found: list[dict[Hashable, Array]] = [{} for _ in let.results]
    keys = dict.fromkeys(key for o in operands_of(let) for key in marks_of(frame, o))
    for key in keys:
        flags: dict[int, Array] = {}
        for operand in operands_of(let):
            array = frame.array(operand)
            lanes = marks_of(frame, operand).get(key, np.zeros(1, bool))
            shape = np.broadcast_shapes(array.shape, aligned(lanes, array.ndim - 1).shape)
            if isinstance(operand, Value):
                flags[operand.id] = np.broadcast_to(aligned(lanes, array.ndim - 1), shape).astype(array.dtype)
        inner = type(frame)(frame.world, frame.scope, frame.programs, {**frame.values, **flags})
        for marks, result in zip(found, referred(inner, let, call), strict=True):
            marks[key] = np.asarray(result) != 0
    return list(found)


def _loaded(frame: Frame, call: Call, active: Mask) -> Marks:
    """Lanes that a mask leaves out are those of `other`, and without it undefined."""
    pointer, mask, other = (call.operand(name) for name in ("pointer", "mask", "other"))
    if call.intrinsic != "load" or mask is None or pointer is None:
        return {}
    rank = frame.array(pointer).ndim - 1 if other is None else max(frame.array(o).ndim for o in (pointer, other)) - 1
    flags = aligned(frame.array(mask), rank)
    if other is not None:
        return where(marks_of(frame, other), ~flags)
    shape = np.broadcast_shapes(frame.array(pointer).shape, flags.shape)
    return {LEFT_OUT: np.broadcast_to(~flags, shape)}


# ---- marks that have arrived ----------------------------------------------------------------------------------------


def arrived(frame: Frame, let: Let, active: Mask) -> Iterator[tuple[str, Marks]]:
    """Marks on lanes that count where they must not, with what they have come to."""
    call = let.operation
    if not isinstance(call, Call) or not are_marked(frame, operands_of(let)):
        return
    is_access = any(call.operand(name) is not None for name in ("pointer", "desc"))
    if not is_access and call.intrinsic not in _TESTS and lanes_of(call.intrinsic) is not Lanes.MIXED:
        return
    for name, operand in call.operands:
        marks = marks_of(frame, operand)
        if not marks or name == "other":
            continue
        yield call.intrinsic, where(marks, _needed(frame, call, name, operand, active))


_TESTS = frozenset({"assume", "device_assert"})


def _needed(frame: Frame, call: Call, name: str, operand: Operand, active: Mask) -> Array:
    """The lanes of an operand that a call needs: those of its mask, and of a block those inside of the tensor."""
    rank = frame.array(operand).ndim - 1
    mask = call.operand("mask")
    if call.operand("desc") is not None and name == "value":
        flags = block_of(frame, call)[1]
    elif mask is None or name == "mask" or call.operand("pointer") is None:
        flags = np.ones((1,) * (rank + 1), bool)
    else:
        flags = frame.array(mask)
        rank = max(rank, flags.ndim - 1)
    return active_lanes(aligned(flags, rank), active)
