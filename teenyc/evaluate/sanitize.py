"""The sanitizer: watches a run to its end and collects what is wrong with it, each once for a place and a tensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from teenyc.evaluate.machine import WIDE, Frame
from teenyc.evaluate.memory import Buffer, Memory
from teenyc.evaluate.numbers import Array
from teenyc.evaluate.races import Races
from teenyc.evaluate.watch import (
    Broken,
    DividedByZero,
    Lanes,
    MadeNan,
    Missed,
    Outside,
    Race,
    Undefined,
    Unwritten,
    Watcher,
    Wrapped,
)
from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.nodes import Binary, Call, Cast, Copy, ExpandDims, Let, Program, Value
from teenyc.ir.walk import bodies_of, operands_of, statements_of
from teenyc.types import I8, I16, I32, DType, TensorType, Type, is_integer

Finding = Outside | Unwritten | Broken | Race | Undefined | Wrapped | DividedByZero | MadeNan | Missed

LEFT_OUT = np.uint32(0x7FED0000).view(np.float32)
"""What a float of a lane holds that a mask left out of a load: a NaN that arithmetic hands on."""

_SIGNED = (I8, I16, I32)
_EXACT = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
_TAKES_ALL = frozenset({"reduction", "scan", "order", "linear algebra"})
"""Families of functions in which one lane reaches others."""


class Sanitizer(Watcher):
    """Goes on after a fault, with the lanes that are at fault left out; `findings` holds what was found, in order."""

    is_curious = True

    def __init__(self) -> None:
        self.findings: dict[tuple[object, ...], Finding] = {}
        self.races = Races()
        self.asked_to_wrap: frozenset[int] = frozenset()
        self.has_nan = False

    def find(self, finding: Finding, name: str = "") -> None:
        """Keeps the first finding of its kind at a place, for a tensor."""
        span = finding.lanes.place.span if not isinstance(finding, Missed) else None
        self.findings.setdefault((type(finding), span, name), finding)

    # ---- before and after -------------------------------------------------------------------------------------------

    def began(self, program: Program) -> None:
        """Notes which sums and products the author wants to wrap: their bits are read as another type at once."""
        self.asked_to_wrap = frozenset(_reread(program))

    def ended(self, memory: Memory) -> None:
        """Elements that were never written, of tensors that are written and not read."""
        for buffer in memory.buffers:
            written = self.races.written(buffer)
            if written is None or written.all():
                continue
            missing = np.flatnonzero(~written)
            self.find(Missed(buffer.name, int(missing[0]), len(missing), len(written)), buffer.name)

    # ---- faults -----------------------------------------------------------------------------------------------------

    def outside(self, fault: Outside) -> None:
        self.find(fault, fault.name)

    def unwritten(self, fault: Unwritten) -> None:
        self.find(fault, fault.name)

    def broken(self, fault: Broken) -> None:
        self.find(fault)

    # ---- memory -----------------------------------------------------------------------------------------------------

    def loaded(self, buffer: Buffer, index: Array, lanes: Lanes) -> None:
        self.found(self.races.read(buffer, index, lanes), buffer)

    def stored(self, buffer: Buffer, index: Array, lanes: Lanes, numbers: Array) -> None:
        lost = _left_out(numbers)
        if lost is not None and lost.any():
            self.find(Undefined(lanes.only(np.flatnonzero(lost)), "store"))
        self.found(self.races.write(buffer, index, lanes, numbers), buffer)

    def updated(self, buffer: Buffer, index: Array, lanes: Lanes) -> None:
        self.found(self.races.update(buffer, index, lanes), buffer)

    def left_out(self, numbers: Array, mask: Array) -> Array:
        if numbers.dtype.kind != "f":
            return numbers
        return np.where(mask, numbers, numbers.dtype.type(LEFT_OUT))

    def found(self, race: Race | None, buffer: Buffer) -> None:
        if race is not None:
            self.find(race, buffer.name)

    # ---- numbers ----------------------------------------------------------------------------------------------------

    def computed(self, frame: Frame, let: Let, results: tuple[object, ...], active: Array | None) -> None:
        if isinstance(let.operation, Call):
            self.look_at_lanes(frame, let, let.operation, active)
        if isinstance(let.operation, Binary):
            self.look_for_wraps(frame, let, let.operation, active)
            self.look_for_zeros(frame, let, let.operation, active)
        if not self.has_nan:
            self.look_for_nan(frame, let, active)

    def look_at_lanes(self, frame: Frame, let: Let, call: Call, active: Array | None) -> None:
        """Whether a lane that was left out of a load reaches others."""
        if TABLE[call.intrinsic].family not in _TAKES_ALL:
            return
        for _, operand in call.operands:
            numbers = frame.of(operand)
            lost = _left_out(numbers) if isinstance(numbers, np.ndarray) else None
            lanes = _lanes(frame, let, lost, active) if lost is not None else None
            if lanes is not None:
                self.find(Undefined(lanes, call.intrinsic), call.intrinsic)

    def look_for_wraps(self, frame: Frame, let: Let, operation: Binary, active: Array | None) -> None:
        """Whether a sum, difference or product of signed integers has left its type."""
        (result,) = let.results
        element = result.type.element if isinstance(result.type, TensorType) else None
        operate = _EXACT.get(operation.operator)
        if operate is None or element not in _SIGNED or result.id in self.asked_to_wrap or frame.dtype(result) == WIDE:
            return
        left, right = frame.meeting(let, operation.left, operation.right)
        exact = operate(left.astype(np.int64), right.astype(np.int64))
        lanes = _lanes(frame, let, exact != frame.array(result), active)
        if lanes is not None:
            place = np.unravel_index(int(lanes.flat[0]), lanes.shape)
            a, b = (int(np.broadcast_to(side, lanes.shape)[place]) for side in (left, right))
            self.find(Wrapped(lanes, operation.operator, a, b, str(element)))

    def look_for_zeros(self, frame: Frame, let: Let, operation: Binary, active: Array | None) -> None:
        """Whether an integer is divided by zero."""
        if operation.operator not in ("div", "rem"):
            return
        left, right = np.broadcast_arrays(*frame.meeting(let, operation.left, operation.right))
        lanes = _lanes(frame, let, right == 0, active) if right.dtype.kind in "iu" else None
        if lanes is not None:
            self.find(DividedByZero(lanes, int(left.reshape(-1)[lanes.flat[0]])))

    def look_for_nan(self, frame: Frame, let: Let, active: Array | None) -> None:
        """The first result that is no number although all that it is made of are."""
        given = [frame.of(o) for o in operands_of(let)]
        for value in let.results:
            held = frame.of(value)
            if not isinstance(held, np.ndarray) or held.dtype.kind != "f" or _is_moved(let):
                continue
            is_nan = np.isnan(held)
            lost = _left_out(held)
            lanes = _lanes(frame, let, is_nan if lost is None else is_nan & ~lost, active)
            arrays = [a for a in given if isinstance(a, np.ndarray) and a.dtype.kind == "f"]
            if lanes is not None and not any(np.isnan(a).any() for a in arrays):
                self.has_nan = True
                self.find(MadeNan(lanes, _what(let), tuple(_text(lanes, a) for a in arrays)))


def _reread(program: Program) -> Iterator[int]:
    for body in bodies_of(program):
        for _, statement in statements_of(body.body):
            if not isinstance(statement, Let) or not isinstance(statement.operation, Cast):
                continue
            operand = statement.operation.operand
            source, target = (_integer(o.type) for o in (operand, statement.results[0]))
            is_reread = source is not None and target is not None and source.bits == target.bits
            if is_reread and isinstance(operand, Value):
                yield operand.id


def _integer(type: Type) -> DType | None:
    element = type.element if isinstance(type, TensorType) else None
    return element if isinstance(element, DType) and is_integer(element) else None


def _left_out(numbers: Array) -> Array | None:
    """The floats that a mask left out of a load, None where there can be none."""
    words = {4: np.uint32, 8: np.uint64}.get(numbers.dtype.itemsize)
    if numbers.dtype.kind != "f" or words is None:
        return None
    sizes = np.abs(np.ascontiguousarray(numbers))  # the sign may be another one
    found: Array = sizes.view(words) == numbers.dtype.type(LEFT_OUT).view(words)
    return found


def _lanes(frame: Frame, let: Let, chosen: Any, active: Array | None) -> Lanes | None:
    """The chosen lanes of active programs; None where there are none."""
    if active is not None:
        chosen = chosen & active.reshape(len(active), *(1,) * (chosen.ndim - 1))
    if not chosen.any():
        return None
    flat = np.flatnonzero(chosen)
    return Lanes(frame.place(let.span, active), chosen.shape, flat, flat)


def _is_moved(let: Let) -> bool:
    """Whether a result is only another view of what there was."""
    return isinstance(let.operation, Copy | ExpandDims)


def _what(let: Let) -> str:
    """What an operation is called."""
    match let.operation:
        case Call(intrinsic=name):
            return name if TABLE[name].effects.isdisjoint({Effect.READS, Effect.ATOMIC}) else f"{name} from memory"
        case Binary(operator=operator):
            return operator
        case _:
            return "this"


def _text(lanes: Lanes, array: Array) -> str:
    """The number of an operand in the first lane, where it has that lane."""
    program, *lane = np.unravel_index(int(lanes.flat[0]), lanes.shape)
    try:
        spread = np.broadcast_to(
            array.reshape(len(array), *(1,) * (len(lane) + 1 - array.ndim), *array.shape[1:]), lanes.shape
        )
    except ValueError:
        return "…"
    return f"{float(spread[(program, *lane)]):g}"
