"""The sanitizer: watches a run to its end and collects what is wrong with it, each once for a place and a tensor.

A number that is wrong counts where it arrives: in memory, in a result of many lanes, or where it decides something.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TypeAlias

import numpy as np

from teenyc.evaluate.accesses import active_lanes
from teenyc.evaluate.faults import made_nan, whole, without_number
from teenyc.evaluate.launch import used_values
from teenyc.evaluate.machine import Frame
from teenyc.evaluate.marks import LEFT_OUT, Marked, Marks, either, marked, spread
from teenyc.evaluate.memory import Buffer, Memory
from teenyc.evaluate.numbers import Array
from teenyc.evaluate.order import Meeting
from teenyc.evaluate.races import Races
from teenyc.evaluate.suspects import arrived, inherited
from teenyc.evaluate.watch import (
    Broken,
    DividedByZero,
    Lanes,
    MadeNan,
    Missed,
    Outside,
    Place,
    Race,
    Undefined,
    Unwritten,
    Watcher,
    Wrapped,
)
from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.lanes import Lanes as Work
from teenyc.ir.lanes import lanes_of
from teenyc.ir.nodes import Call, Cast, Kernel, Let, Program, Value
from teenyc.ir.walk import bodies_of, statements_of
from teenyc.types import DType, TensorType, Type, is_integer

Finding: TypeAlias = "Outside | Unwritten | Broken | Race | Undefined | Wrapped | DividedByZero | MadeNan | Missed"


class Sanitizer(Watcher):
    """Goes on after a fault, with the lanes that are at fault left out; `findings` holds what was found, in order.

    `suspected` are wrong numbers that have not arrived anywhere yet.
    """

    is_curious = True

    races: Races

    def __init__(self) -> None:
        self.findings: dict[Hashable, Finding] = {}
        self.suspected: dict[Hashable, Finding] = {}
        self.asked_to_wrap: frozenset[int] = frozenset()

    def find(self, finding: Finding, name: str = "") -> None:
        """Keeps the first finding of its kind at a place, for a tensor."""
        span = finding.lanes.place.span if not isinstance(finding, Missed) else None
        kind: tuple[object, ...] = (type(finding), span, name)
        if isinstance(finding, MadeNan):
            kind = (MadeNan,)  # the first one is the cause of others
        self.findings.setdefault(kind, finding)

    # ---- before and after -------------------------------------------------------------------------------------------

    def began(self, program: Program, kernel: Kernel, grid: tuple[int, int, int], memory: Memory) -> None:
        """Notes which sums and products the author wants to wrap: their bits are read as another type at once."""
        self.asked_to_wrap = frozenset(_reread(program))
        self.races = Races.of(grid, memory.buffers, acquires=_may_acquire(program))

    def ended(self, memory: Memory) -> None:
        """Elements that were never written, of tensors that are outputs."""
        for buffer in memory.buffers:
            missing = self.races.missed(buffer)
            if missing.size:
                first, size = int(missing[0]), int(buffer.belongs().sum())
                self.find(Missed(buffer.name, first, missing.size, size, buffer.place_of(first)), buffer.name)

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
        self.found(self.races.write(buffer, index, lanes, numbers), buffer)

    def updated(self, buffer: Buffer, index: Array, lanes: Lanes, meeting: Meeting) -> None:
        self.found(self.races.update(buffer, index, lanes, meeting), buffer)

    def found(self, race: Race | None, buffer: Buffer) -> None:
        if race is not None:
            self.find(race, buffer.name)

    # ---- numbers ----------------------------------------------------------------------------------------------------

    def computed(self, frame: Frame, let: Let, results: tuple[object, ...], active: Array | None) -> None:
        if isinstance(let.operation, Call):
            self.call(frame, let, let.operation, active)
        for function, marks in arrived(frame, let, active):
            self.arrive(frame.place(let.span, active), function, marks)
        each = inherited(frame, let, active) or [{}] * len(let.results)
        fresh = self.made(frame, let, active)
        for value, marks in zip(let.results, each, strict=True):
            held = frame.values[value.id]
            if (marks or fresh) and isinstance(held, np.ndarray):
                rank = held.ndim - 1
                kept = without_number(frame, let, marks)
                frame.values[value.id] = marked(held, either(spread(kept, rank), spread(fresh, rank)))

    def call(self, frame: Frame, let: Let, call: Call, active: Array | None) -> None:
        """What brings the lanes of a program in order."""
        programs = frame.programs if active is None else frame.programs[active]
        if call.intrinsic == "debug_barrier":
            self.races.wait(programs)
        elif Effect.READS not in TABLE[call.intrinsic].effects and lanes_of(call.intrinsic) is Work.MIXED:
            self.races.mix(programs)

    def made(self, frame: Frame, let: Let, active: Array | None) -> dict[Hashable, Array]:
        """Marks on lanes in which the operation itself makes what is wrong."""
        found: dict[Hashable, Array] = {}
        faults = [] if let.results and let.results[0].id in self.asked_to_wrap else list(whole(frame, let, active))
        nan = made_nan(frame, let, active) if (MadeNan,) not in self.findings else None
        for lanes, finding in (*faults, *([] if nan is None else [nan])):
            if isinstance(finding, Wrapped) and finding.operator == "atomic_add":
                self.find(finding)  # it is in memory
                continue
            key = (type(finding), let.span)
            self.suspected.setdefault(key, finding)
            found[key] = lanes
        return found

    def decided(self, held: Marked, place: Place) -> None:
        flags = active_lanes(np.ones((1,) * held.numbers.ndim, bool), place.active)
        self.arrive(place, "a condition", {key: lanes & flags for key, lanes in held.marks.items()})

    def arrive(self, place: Place, function: str, marks: Marks) -> None:
        """Marks that count: they are found, where what is wrong was made, or here where nothing was."""
        for key, lanes in marks.items():
            if not lanes.any():
                continue
            if key == LEFT_OUT:
                flat = np.flatnonzero(lanes)
                self.find(Undefined(Lanes(place, lanes.shape, flat, flat), function), function)
            else:
                self.find(self.suspected[key])


def _may_acquire(program: Program) -> bool:
    """Whether there is an atomic whose result is used: no other one brings programs in order."""
    used = used_values(program)
    return any(
        isinstance(s.operation, Call) and TABLE[s.operation.intrinsic].family == "atomics"
        for body in bodies_of(program)
        for _, s in statements_of(body.body)
        if isinstance(s, Let) and any(value.id in used for value in s.results)
    )


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
