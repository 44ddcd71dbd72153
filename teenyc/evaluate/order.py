"""What is done before what: releases and acquires of addresses go in; what a program comes after comes out.

A program that acquires an address knows all that was done before the releases of it which it has seen: those since the
last plain atomic store to it. An atomic whose result nobody uses acquires nothing: its program goes on in the same way
whoever came first, so that the order in which they came is chance.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from teenyc.evaluate.numbers import Array
from teenyc.record import record


@record
class Meeting:
    """What an atomic does beside changing memory: whether it acquires and releases.

    One that `begins` is a plain store, and one that `only_reads` changes nothing. One that `is_local` is an atomic to
    the lanes of its program alone.
    """

    acquires: bool = False
    releases: bool = False
    begins: bool = False
    only_reads: bool = False
    is_local: bool = False


@dataclass(slots=True, eq=False)
class _Address:
    """The releases of one address in order, each with its program and time, and where those of the last store begin."""

    programs: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    start: int = 0


_REMEMBERED = 16
"""Of so many programs it is kept what they know: each is an array of all programs."""


@dataclass(slots=True, eq=False)
class Order:
    """Who has met whom so far; times count statements.

    `acquired` are the acquires of each program by time: the address, and which of its releases were seen.
    """

    programs: int
    is_needed: bool
    addresses: dict[int, _Address] = field(default_factory=dict)
    acquired: dict[int, list[tuple[int, int, int, int]]] = field(default_factory=dict)
    remembered: dict[tuple[int, int], Array] = field(default_factory=dict)

    def meet(self, programs: Array, addresses: Array, time: int, meeting: Meeting) -> None:
        """Atomics, one after the other."""
        if not self.is_needed or not (meeting.acquires or meeting.releases or meeting.begins):
            return
        pairs = dict.fromkeys(zip(programs.tolist(), addresses.tolist(), strict=True))
        for program, at in pairs:
            address = self.addresses.setdefault(at, _Address())
            if meeting.acquires and len(address.times) > address.start:
                seen = (time, at, address.start, len(address.times))
                self.acquired.setdefault(program, []).append(seen)
            if meeting.begins:
                address.start = len(address.times)
            if meeting.releases:
                address.programs.append(program)
                address.times.append(time)

    def known(self, program: int, now: int) -> Array | None:
        """For each program the time up to which all that it did is done before `now`; None where nothing is known."""
        count = bisect_left(self.acquired.get(program, ()), (now,))
        if not count:
            return None
        found = self.remembered.get((program, count))
        if found is None:
            found = self._collected(program, count)
            while len(self.remembered) >= _REMEMBERED:
                del self.remembered[next(iter(self.remembered))]
            self.remembered[program, count] = found
        return found

    def _collected(self, program: int, count: int) -> Array:
        times = np.zeros(self.programs + 1, np.int64)
        seen: dict[tuple[int, int], int] = {}
        done: dict[int, int] = {}
        todo = [(program, count)]
        while todo:
            who, last = todo.pop()
            first, done[who] = done.get(who, 0), max(last, done.get(who, 0))
            for other, time in self._releases(who, first, last, seen):
                if time > times[other]:
                    times[other] = time
                    if other in self.acquired:
                        todo.append((other, bisect_left(self.acquired[other], (time + 1,))))
        return times

    def _releases(self, who: int, first: int, last: int, seen: dict[tuple[int, int], int]) -> Iterable[tuple[int, int]]:
        """The releases that some acquires of a program have seen, without those that were gone through before."""
        for _, at, start, stop in self.acquired[who][first:last]:
            begin = max(start, seen.get((at, start), 0))
            if begin < stop:
                seen[at, start] = stop
                address = self.addresses[at]
                yield from zip(address.programs[begin:stop], address.times[begin:stop], strict=True)
