"""Races: who wrote, read and updated each element, and whether another one that does not wait for it comes by.

A program is ordered after what `order` says that it knows of. The lanes of a program are ordered by `debug_barrier` and
by atomics that are not relaxed, as Triton orders them; reads also by a result that is made of many lanes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from teenyc.evaluate.history import NOBODY, Kind, Region, regions_of
from teenyc.evaluate.memory import Buffer
from teenyc.evaluate.numbers import Array, encoded
from teenyc.evaluate.order import Meeting, Order
from teenyc.evaluate.watch import Lanes, Other, Race
from teenyc.source import Span

_AGAINST: Mapping[str, tuple[str, ...]] = {
    "read": ("written", "updated"),
    "written": ("written", "updated", "read", "looked at"),
    "updated": ("written", "read"),
    "looked at": ("written",),
}
"""For each kind of access, with which earlier ones it is at odds; `looked at` is what an atomic load does."""


@dataclass(slots=True, eq=False)
class _Access:
    """Lanes that reach elements: numbers from 1 for programs, and for lanes, 0 for what is no tensor.

    `counts` says which of them change what is there. `waits` is said of atomics among which lanes are in order.
    """

    buffer: Buffer
    region: Region
    index: Array
    lanes: Lanes
    programs: Array
    numbers: Array
    counts: Any = True
    waits: bool = False

    @property
    def element(self) -> Array:
        """The elements in the region."""
        return self.index + self.region.shift if self.region.shift else self.index


@dataclass(slots=True, eq=False)
class Races:
    """Everything that was read and written so far; times count accesses, whose places `spans` are.

    `barriers` and `mixed` are the times at which each program last waited for its lanes, or made one result of many.
    """

    grid: tuple[int, int, int]
    order: Order
    regions: Mapping[int, Region]
    barriers: Array
    mixed: Array
    spans: list[Span] = field(default_factory=list)

    @staticmethod
    def of(grid: tuple[int, int, int], buffers: Sequence[Buffer], *, acquires: bool) -> Races:
        count = int(np.prod(grid))
        barriers, mixed = (np.zeros(count + 1, np.int32) for _ in range(2))
        return Races(grid, Order(count, acquires), regions_of(buffers), barriers, mixed)

    @property
    def time(self) -> int:
        return len(self.spans)

    def missed(self, buffer: Buffer) -> Array:
        """Elements that no program wrote, of a tensor that is written and not read."""
        region = self.regions[id(buffer)]
        history = region.history
        if history.is_read or "written" not in history.kinds:
            return np.zeros(0, np.int64)
        written = history.written()[region.shift : region.shift + buffer.data.size]
        return np.flatnonzero(~written & buffer.belongs())

    # ---- accesses ---------------------------------------------------------------------------------------------------

    def read(self, buffer: Buffer, index: Array, lanes: Lanes) -> Race | None:
        access = self._access(buffer, index, lanes)
        access.region.history.is_read = True
        race = self._conflict(access, "read")
        self._note(access, "read")
        return race

    def write(self, buffer: Buffer, index: Array, lanes: Lanes, numbers: Array) -> Race | None:
        """A store; where the bits are there already it is at odds with nobody."""
        access = self._access(buffer, index, lanes)
        bits = _bits(encoded(numbers, buffer.element))
        access.counts = bits != _bits(buffer.data[index])
        race = self._within(access, bits) or self._conflict(access, "written")
        self._wrote(access)
        return race

    def update(self, buffer: Buffer, index: Array, lanes: Lanes, meeting: Meeting) -> Race | None:
        """An atomic; one among the lanes of a program is to other programs an access like others."""
        access = self._access(buffer, index, lanes)
        waits = meeting.acquires or meeting.releases
        access.waits = waits or meeting.is_local
        if not meeting.is_local:
            self.order.meet(access.programs, lanes.address, self.time, meeting)
        how = "written" if meeting.is_local else "looked at" if meeting.only_reads else "updated"
        race = self._conflict(access, how)
        if meeting.is_local:
            race = race or self._within(access, access.programs)
            self._wrote(access)
        else:
            self._note(access, how)
        if waits:
            self.barriers[access.programs] = self.time
        return race

    def wait(self, programs: Array) -> None:
        """A barrier of the lanes of each program, with indices in rows."""
        self.barriers[self._numbers(programs)] = self.time

    def mix(self, programs: Array) -> None:
        """Results that are made of many lanes, in each program."""
        self.mixed[self._numbers(programs)] = self.time

    def _note(self, access: _Access, how: str) -> None:
        kind = access.region.history.kind(how)
        if self.order.acquired:
            self._keep(access, kind)
        kind.note(access.element, access.programs, access.numbers, self.time)

    def _keep(self, access: _Access, kind: Kind) -> None:
        """Keeps the last access of another program as the first one, where this one is ordered after the first."""
        element, programs = access.element, access.programs
        others = kind.last[element]
        moved = np.flatnonzero((others != NOBODY) & (others != programs))
        for program in np.unique(programs[moved]).tolist():
            known = self.order.known(program, self.time)
            if known is not None:
                mine = element[moved[programs[moved] == program]]
                mine = mine[known[kind.first[mine]] >= kind.first_time[mine]]
                kind.first[mine], kind.first_time[mine] = kind.last[mine], kind.last_time[mine]

    def _wrote(self, access: _Access) -> None:
        self._note(access, "written")
        for how in ("read", "looked at"):  # who comes later must be after this write, and so after these
            if how in access.region.history.kinds:
                access.region.history.kinds[how].forget(access.element)

    def _access(self, buffer: Buffer, index: Array, lanes: Lanes) -> _Access:
        self.spans.append(lanes.place.span)
        programs = self._numbers(lanes.place.programs)
        count = max(1, int(np.prod(lanes.shape[1:])))
        if lanes.flat.size == lanes.shape[0] * count and lanes.shape[0] == len(programs):
            programs, numbers = np.repeat(programs, count), np.tile(np.arange(1, count + 1), len(programs))
        else:
            each = lanes.flat // count if lanes.shape[0] > 1 else np.zeros_like(lanes.flat)
            programs, numbers = programs[each], 1 + lanes.flat % count
        numbers = np.zeros_like(numbers) if len(lanes.shape) == 1 else numbers
        return _Access(buffer, self.regions[id(buffer)], index, lanes, programs, numbers)

    def _numbers(self, programs: Array) -> Array:
        x, y, _ = self.grid
        found: Array = 1 + programs[:, 0] + x * (programs[:, 1] + y * programs[:, 2])
        return found

    # ---- conflicts --------------------------------------------------------------------------------------------------

    def _conflict(self, access: _Access, how: str) -> Race | None:
        """The first lane that meets an earlier access of another one which it is not ordered after."""
        kinds = access.region.history.kinds
        for earlier in _AGAINST[how]:
            if earlier not in kinds:
                continue
            kind = kinds[earlier]
            counts = True if earlier == "updated" else access.counts
            for program, time in ((kind.last, kind.last_time), (kind.first, kind.first_time)):
                others = program[access.element]
                chosen = np.flatnonzero((others != NOBODY) & (others != access.programs) & counts)
                for place in self._unordered(access, chosen, others, time):
                    other = Other(earlier, self._indices(int(others[place])), None, self._span(access, place, time))
                    return self._race(access, place, other)
            for place in self._lanes(access, kind, earlier, counts):
                lane = int(kind.lane[access.element[place]]) - 1
                own = self._indices(int(access.programs[place]))
                return self._race(access, place, Other(earlier, own, lane, self._span(access, place, kind.last_time)))
        return None

    def _unordered(self, access: _Access, chosen: Array, others: Array, time: Array) -> Iterator[int]:
        """Of the chosen lanes the first that does not know of what the other one did."""
        programs = access.programs[chosen]
        for program in np.unique(programs).tolist():
            mine = chosen[programs == program]
            known = self.order.known(program, self.time + access.waits)
            if known is not None:
                mine = mine[known[others[mine]] < time[access.element[mine]]]
            yield from mine[:1].tolist()

    def _lanes(self, access: _Access, kind: Kind, earlier: str, counts: Any) -> Iterator[int]:
        """The first lane that reaches what another lane of its program has reached, without a barrier in between."""
        if earlier == "looked at" or access.waits:
            return
        element, programs = access.element, access.programs
        since = self.barriers[programs]
        if earlier == "read":
            since = np.maximum(since, self.mixed[programs])
        is_open = (kind.last[element] == programs) & (kind.lane[element] != access.numbers)
        yield from np.flatnonzero(is_open & (kind.last_time[element] > since) & counts)[:1].tolist()

    def _within(self, access: _Access, bits: Array) -> Race | None:
        """Two lanes of one statement that differ in what they write to one element, or in another way."""
        order = np.argsort(access.index, kind="stable")
        index, written = access.index[order], bits[order]
        twice = np.flatnonzero((index[1:] == index[:-1]) & (written[1:] != written[:-1]))
        if not twice.size:
            return None
        first, second = int(order[twice[0]]), int(order[twice[0] + 1])
        program = int(access.programs[first])
        lane = int(access.numbers[first]) - 1 if program == access.programs[second] else None
        return self._race(access, second, Other("written", self._indices(program), lane, access.lanes.place.span))

    def _race(self, access: _Access, place: int, other: Other) -> Race:
        index = int(access.index[place])
        only = access.lanes.only(np.array([place]))
        return Race(only, access.buffer.name, index, other, access.buffer.place_of(index))

    def _span(self, access: _Access, place: int, time: Array) -> Span:
        return self.spans[int(time[access.element[place]]) - 1]

    def _indices(self, program: int) -> tuple[int, int, int]:
        """The indices of a program by its number."""
        x, y, _ = self.grid
        number = program - 1
        return number % x, number // x % y, number // x // y


def _bits(stored: Array) -> Array:
    """Stored elements as they are told apart: by their bits, so that a NaN is equal to itself."""
    return stored.view(f"u{stored.dtype.itemsize}")
