"""Numbers that go wrong: an operation goes in; the lanes in which it wraps, divides by zero or makes a NaN come out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from teenyc.evaluate.accesses import active_lanes
from teenyc.evaluate.arithmetic import aligned, together
from teenyc.evaluate.machine import WIDE, Frame
from teenyc.evaluate.marks import Marks
from teenyc.evaluate.numbers import Array
from teenyc.evaluate.watch import DividedByZero, Lanes, MadeNan, Wrapped
from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.lanes import Lanes as Work
from teenyc.ir.lanes import lanes_of
from teenyc.ir.nodes import Apply, Binary, Call, Compare, Copy, ExpandDims, Let, Unary, Value
from teenyc.ir.walk import operands_of
from teenyc.types import I8, I16, I32, DType, TensorType

Fault: TypeAlias = "tuple[Array, Wrapped | DividedByZero | MadeNan]"
"""The lanes of the result that are wrong, in programs that are there, and the first of them as it is reported."""

_SIGNED = (I8, I16, I32)
_EXACT = {"add": np.add, "atomic_add": np.add, "sub": np.subtract, "mul": np.multiply}


# ---- integers -------------------------------------------------------------------------------------------------------


def whole(frame: Frame, let: Let, active: Array | None) -> Iterator[Fault]:
    """Integers that leave their type, or are divided by zero."""
    match let.operation:
        case Binary(operator="add" | "sub" | "mul"):
            operation = let.operation
            sides = frame.meeting(let, operation.left, operation.right)
            yield from _wrapped(frame, let, operation.operator, sides, active)
        case Binary(operator="div" | "rem"):
            yield from _divided(frame, let, let.operation, active)
        case Unary(operator="neg"):
            (value,) = frame.meeting(let, let.operation.operand)
            yield from _least(frame, let, value, "neg", active)
        case Call(intrinsic="abs"):
            yield from _least(frame, let, frame.narrow(let.operation.operands[0][1]), "abs", active)
        case Call(intrinsic="sum" | "cumsum" | "prod" | "cumprod"):
            yield from _summed(frame, let, let.operation, active)
        case Call(intrinsic="atomic_add") as call:
            added = call.operand("val")
            assert added is not None, "it is said what is added"
            sides = together([frame.array(let.results[0]), frame.narrow(added)])
            yield from _wrapped(frame, let, "atomic_add", sides, active)
        case _:
            return


def _signed(frame: Frame, let: Let) -> DType | None:
    """The type of the result where that is a signed integer which wraps."""
    element = let.results[0].type.element if isinstance(let.results[0].type, TensorType) else None
    is_held = element in _SIGNED and frame.dtype(let.results[0]) != WIDE
    return element if is_held and isinstance(element, DType) else None


def _wrapped(frame: Frame, let: Let, operator: str, sides: list[Array], active: Array | None) -> Iterator[Fault]:
    """A sum, difference or product; where the result is what an atomic found, what it left has that type."""
    element = _signed(frame, let)
    if element is None:
        return
    left, right = (side.astype(np.int64) for side in sides)
    exact = _EXACT[operator](left, right)
    bounds = np.iinfo(frame.dtype(let.results[0]))
    chosen = active_lanes((exact < bounds.min) | (exact > bounds.max), active)
    if chosen.any():
        lanes = lanes_at(frame, let, chosen, active)
        a, b = (int(_first(lanes, side)) for side in (left, right))
        yield chosen, Wrapped(lanes, operator, (a, b), str(element))


def _divided(frame: Frame, let: Let, operation: Binary, active: Array | None) -> Iterator[Fault]:
    left, right = frame.meeting(let, operation.left, operation.right)
    if right.dtype.kind not in "iu":
        return
    shape = np.broadcast_shapes(left.shape, right.shape)
    chosen = active_lanes(np.broadcast_to(right == 0, shape), active)
    if chosen.any():
        lanes = lanes_at(frame, let, chosen, active)
        yield chosen, DividedByZero(lanes, int(_first(lanes, left)))
    element = _signed(frame, let)
    if element is None or operation.operator != "div":
        return
    over = (left == np.iinfo(left.dtype).min) & (right == -1)
    chosen = active_lanes(over, active)
    if chosen.any():
        lanes = lanes_at(frame, let, chosen, active)
        yield chosen, Wrapped(lanes, "div", (int(_first(lanes, left)), -1), str(element))


def _least(frame: Frame, let: Let, value: Array, operator: str, active: Array | None) -> Iterator[Fault]:
    """The least number of a type, whose negative it has not."""
    element = _signed(frame, let)
    if element is None:
        return
    chosen = active_lanes(value == np.iinfo(value.dtype).min, active)
    if chosen.any():
        lanes = lanes_at(frame, let, chosen, active)
        yield chosen, Wrapped(lanes, operator, (int(_first(lanes, value)),), str(element))


def _summed(frame: Frame, let: Let, call: Call, active: Array | None) -> Iterator[Fault]:
    """Sums and products of many lanes; the first operand that is shown is what was summed, of the first lane."""
    from teenyc.evaluate.calls import referred

    element = _signed(frame, let)
    if element is None:
        return
    (exact,) = referred(frame, let, call, exactly=True)
    chosen = active_lanes(exact != frame.array(let.results[0]), active)
    if chosen.any():
        lanes = lanes_at(frame, let, chosen, active)
        yield chosen, Wrapped(lanes, call.intrinsic, (int(_first(lanes, exact)),), str(element))


# ---- floats ---------------------------------------------------------------------------------------------------------


def made_nan(frame: Frame, let: Let, active: Array | None) -> Fault | None:
    """Results that are no number although all that they are made of are."""
    if isinstance(let.operation, Copy | ExpandDims | Apply):
        return None
    given = [frame.array(o) for o in operands_of(let) if isinstance(o.type, TensorType)]
    for value in let.results:
        held = frame.array(value) if isinstance(value.type, TensorType) else None
        if held is None or held.dtype.kind != "f" or not (is_nan := np.isnan(held)).any():
            continue
        floats = [a for a in given if a.dtype.kind == "f"]
        chosen = active_lanes(is_nan & ~_had_nan(let, floats, held), active)
        if chosen.any():
            lanes = lanes_at(frame, let, chosen, active)
            return chosen, MadeNan(lanes, _what(let), tuple(_text(lanes, a) for a in floats))
    return None


def _had_nan(let: Let, floats: list[Array], held: Array) -> Array:
    """The lanes that are made of a NaN; where lanes are mixed or moved, all of the program."""
    found: Array = np.zeros((1,) * held.ndim, bool)
    goes_by_lane = not isinstance(let.operation, Call) or lanes_of(let.operation.intrinsic) is Work.SAME
    for array in floats:
        is_nan = np.isnan(array)
        if goes_by_lane:
            found = found | aligned(is_nan, held.ndim - 1)
        else:
            found = found | is_nan.reshape(len(array), -1).any(axis=1).reshape(-1, *(1,) * (held.ndim - 1))
    return found


def without_number(frame: Frame, let: Let, marks: Marks) -> Marks:
    """Marks of a result, without those of NaN where a number is compared with itself: that asks whether it is one."""
    operation = let.operation
    if not marks or not isinstance(operation, Compare) or not _is_same(operation):
        return marks
    return {key: lanes for key, lanes in marks.items() if not (isinstance(key, tuple) and key[0] is MadeNan)}


def _is_same(operation: Compare) -> bool:
    left, right = operation.left, operation.right
    return isinstance(left, Value) and isinstance(right, Value) and left.id == right.id


def _what(let: Let) -> str:
    """What an operation is called."""
    match let.operation:
        case Call(intrinsic=name):
            return name if TABLE[name].effects.isdisjoint({Effect.READS, Effect.ATOMIC}) else f"{name} from memory"
        case Binary(operator=operator):
            return operator
        case _:
            return "this"


# ---- lanes ----------------------------------------------------------------------------------------------------------


def lanes_at(frame: Frame, let: Let, chosen: Array, active: Array | None) -> Lanes:
    """The chosen lanes, of which there are some."""
    flat = np.flatnonzero(chosen)
    return Lanes(frame.place(let.span, active), chosen.shape, flat, flat)


def _first(lanes: Lanes, array: Array) -> Any:
    """What an array holds in the first of the lanes."""
    place = np.unravel_index(int(lanes.flat[0]), lanes.shape)
    (spread, _) = together([array, np.empty((1,) * len(lanes.shape))])
    return np.broadcast_to(spread, lanes.shape)[place]


def _text(lanes: Lanes, array: Array) -> str:
    """The number of an operand in the first lane, where it has that lane."""
    try:
        return f"{float(_first(lanes, array)):g}"
    except ValueError:
        return "…"
