"""Races: which program wrote and read each element last, and whether another one that does not wait for it comes by.

A program waits for another one by atomics: both have done one, the first after its access, the other before its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from teenyc.evaluate.memory import Buffer
from teenyc.evaluate.numbers import Array
from teenyc.evaluate.watch import Lanes, Race
from teenyc.source import Span

NOBODY, SEVERAL = 0, -1


@dataclass(slots=True, eq=False)
class _Last:
    """Of each element: the program of the last access of a kind, when it was, and the number of its place."""

    program: Array
    time: Array
    place: Array

    @staticmethod
    def of(size: int) -> _Last:
        return _Last(*(np.zeros(size, np.int64) for _ in range(3)))


@dataclass(slots=True, eq=False)
class _History:
    """The accesses to one buffer."""

    writes: _Last
    reads: _Last
    updates: _Last


@dataclass(slots=True, eq=False)
class Races:
    """Everything that was read and written so far; programs are numbers above 0 that hold their indices."""

    histories: dict[int, _History] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    synchronised: dict[int, int] = field(default_factory=dict)
    time: int = 0

    def history(self, buffer: Buffer) -> _History:
        size = buffer.data.size
        return self.histories.setdefault(id(buffer), _History(_Last.of(size), _Last.of(size), _Last.of(size)))

    def written(self, buffer: Buffer) -> Array | None:
        """Which elements of a buffer were written, None where it was read or never written."""
        history = self.histories.get(id(buffer))
        if history is None or history.reads.program.any() or not history.writes.program.any():
            return None
        found: Array = (history.writes.program != NOBODY) | (history.updates.program != NOBODY)
        return found

    # ---- accesses ---------------------------------------------------------------------------------------------------

    def read(self, buffer: Buffer, index: Array, lanes: Lanes) -> Race | None:
        history, programs = self.history(buffer), _programs(lanes)
        race = self.conflict(buffer, index, lanes, programs, history.writes, "written") or self.conflict(
            buffer, index, lanes, programs, history.updates, "updated"
        )
        before = history.reads.program[index]
        self.note(history.reads, index, programs, lanes)
        history.reads.program[index] = np.where((before == NOBODY) | (before == programs), programs, SEVERAL)
        return race

    def write(self, buffer: Buffer, index: Array, lanes: Lanes, numbers: Array) -> Race | None:
        history, programs = self.history(buffer), _programs(lanes)
        is_new = buffer.read(index) != numbers
        race = (
            _within(index, programs, lanes, numbers, buffer)
            or self.conflict(buffer, index, lanes, programs, history.writes, "written", is_new)
            or self.conflict(buffer, index, lanes, programs, history.updates, "updated")
            or self.conflict(buffer, index, lanes, programs, history.reads, "read", is_new)
        )
        self.note(history.writes, index, programs, lanes)
        return race

    def update(self, buffer: Buffer, index: Array, lanes: Lanes) -> Race | None:
        history, programs = self.history(buffer), _programs(lanes)
        race = self.conflict(buffer, index, lanes, programs, history.writes, "written") or self.conflict(
            buffer, index, lanes, programs, history.reads, "read"
        )
        self.note(history.updates, index, programs, lanes)
        self.synchronised |= dict.fromkeys(np.unique(programs).tolist(), self.time)
        return race

    def note(self, last: _Last, index: Array, programs: Array, lanes: Lanes) -> None:
        self.time += 1
        span = lanes.place.span
        if not self.spans or self.spans[-1] != span:
            self.spans.append(span)
        last.program[index], last.time[index], last.place[index] = programs, self.time, len(self.spans) - 1

    def conflict(
        self,
        buffer: Buffer,
        index: Array,
        lanes: Lanes,
        programs: Array,
        last: _Last,
        how: str,
        counts: Any = True,
    ) -> Race | None:
        """The first lane that meets an access of another program which did not synchronise with this one."""
        others = last.program[index]
        for place in np.flatnonzero((others != NOBODY) & (others != programs) & counts).tolist():
            other, here = int(others[place]), int(programs[place])
            moment = int(last.time[index[place]])
            if self.synchronised.get(other, -1) > moment and self.synchronised.get(here, -1) > moment:
                continue
            span = self.spans[int(last.place[index[place]])]
            only = lanes.only(np.array([place]))
            return Race(only, buffer.name, int(index[place]), how, indices_of(other), span)
        return None


def _within(index: Array, programs: Array, lanes: Lanes, numbers: Array, buffer: Buffer) -> Race | None:
    """Two lanes of one store that write different numbers to one element."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    twice = np.flatnonzero((ordered[1:] == ordered[:-1]) & (numbers[order][1:] != numbers[order][:-1]))
    if not twice.size:
        return None
    first, second = int(order[twice[0]]), int(order[twice[0] + 1])
    only = lanes.only(np.array([second]))
    other = indices_of(int(programs[first]))
    return Race(only, buffer.name, int(index[second]), "written", other, lanes.place.span)


def _programs(lanes: Lanes) -> Array:
    """The number of the program of each lane."""
    each = lanes.flat // max(1, int(np.prod(lanes.shape[1:])))
    rows = lanes.place.programs[each if lanes.shape[0] > 1 else np.zeros_like(each)]
    found: Array = 1 + rows[:, 0] + (rows[:, 1] << 21) + (rows[:, 2] << 42)
    return found


def indices_of(program: int) -> tuple[int, int, int] | None:
    """The indices of a program by its number; None where several are meant."""
    number = program - 1
    mask = (1 << 21) - 1
    return None if program == SEVERAL else (number & mask, number >> 21 & mask, number >> 42)
