"""The accesses to memory so far: of each element who read, wrote and updated it first and last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from teenyc.evaluate.memory import Buffer
from teenyc.evaluate.numbers import Array

NOBODY = 0


@dataclass(slots=True, eq=False)
class Kind:
    """Of each element the first access of a kind and the last: the program, the time, and of the last the lane."""

    first: Array
    first_time: Array
    last: Array
    last_time: Array
    lane: Array

    @staticmethod
    def of(size: int) -> Kind:
        return Kind(*(np.zeros(size, np.int32) for _ in range(5)))

    def note(self, element: Array, programs: Array, lanes: Array, time: int) -> None:
        is_new = self.first[element] == NOBODY
        if is_new.any():
            backwards = element[is_new][::-1]  # of equal elements the first one stays
            self.first[backwards], self.first_time[backwards] = programs[is_new][::-1], time
        self.last[element], self.last_time[element], self.lane[element] = programs, time, lanes

    def forget(self, element: Array) -> None:
        self.first[element] = NOBODY
        self.last[element] = NOBODY


@dataclass(slots=True, eq=False)
class History:
    """The accesses to a run of elements, by kind; `is_read` says that there were reads."""

    size: int
    kinds: dict[str, Kind] = field(default_factory=dict)
    is_read: bool = False

    def kind(self, how: str) -> Kind:
        found = self.kinds.get(how)
        if found is None:
            found = self.kinds[how] = Kind.of(self.size)
        return found

    def written(self) -> Array:
        """Which elements some program has written or updated."""
        found = np.zeros(self.size, bool)
        for how in ("written", "updated"):
            if how in self.kinds:
                found |= self.kinds[how].last != NOBODY
        return found


@dataclass(slots=True, eq=False)
class Region:
    """Where a buffer lies in a history, which it shares with those that overlap it in memory."""

    history: History
    shift: int = 0


def regions_of(buffers: Sequence[Buffer]) -> Mapping[int, Region]:
    """The region of each buffer, by its id."""
    found: dict[int, Region] = {}
    for group in _groups(buffers):
        starts = [_bounds(b)[0] for b in group]
        width = group[0].data.itemsize
        is_even = all(
            b.data.itemsize == width and (s - starts[0]) % width == 0 for b, s in zip(group, starts, strict=True)
        )
        if not is_even:
            found |= {id(b): Region(History(b.data.size)) for b in group}
            continue
        shifts = [(start - starts[0]) // width for start in starts]
        whole = History(max(shift + b.data.size for shift, b in zip(shifts, group, strict=True)))
        found |= {id(b): Region(whole, shift) for shift, b in zip(shifts, group, strict=True)}
    return found


def _groups(buffers: Sequence[Buffer]) -> list[list[Buffer]]:
    """Buffers that overlap, directly or through others, in the order of their starts."""
    groups: list[list[Buffer]] = []
    end = 0
    for buffer in sorted(buffers, key=_bounds):
        start, stop = _bounds(buffer)
        if not groups or start >= end:
            groups.append([])
        groups[-1].append(buffer)
        end = max(end, stop)
    return groups


def _bounds(buffer: Buffer) -> tuple[int, int]:
    """The bytes that a buffer covers."""
    start = int(buffer.data.__array_interface__["data"][0])
    return start, start + buffer.data.size * buffer.data.itemsize
