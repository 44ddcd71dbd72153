"""Who watches a run: hooks that the runner calls at accesses of memory and at results, and what goes wrong there.

A run without a watcher of its own stops at the first fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from teenyc.evaluate.numbers import Array
from teenyc.record import record
from teenyc.source import Span

if TYPE_CHECKING:
    from teenyc.evaluate.machine import Frame
    from teenyc.evaluate.marks import Marked
    from teenyc.evaluate.memory import Buffer, Memory
    from teenyc.evaluate.order import Meeting
    from teenyc.ir.nodes import Kernel, Let, Program


@record
class Place:
    """Where a run is: a place in the source, and the programs, one row of indices each; `active` are those there."""

    span: Span
    programs: Array
    active: Array | None = None


@record
class Lanes:
    """The active lanes of an access: their places in the flattened `shape`, and the address of each.

    The first axis of the shape is that of the programs, of extent 1 where all do the same.
    """

    place: Place
    shape: tuple[int, ...]
    flat: Array
    address: Array

    def only(self, chosen: Array | slice) -> Lanes:
        """Some of the lanes."""
        return Lanes(self.place, self.shape, self.flat[chosen], self.address[chosen])

    @property
    def first(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The program of the first of the lanes, and the lane in it."""
        program, *lane = (int(i) for i in np.unravel_index(self.flat[0], self.shape))
        if self.shape[0] == 1 and self.place.active is not None:
            program = int(np.argmax(self.place.active))
        indices = self.place.programs[program]
        return tuple(int(i) for i in indices), tuple(lane)


@record
class Outside:
    """Lanes that reach for what is not in a tensor: `index` is the first such element, and `place` where that is along
    several axes. `name` may be empty."""

    lanes: Lanes
    name: str
    index: int
    size: int
    is_write: bool
    place: tuple[int, ...] = ()


@record
class Unwritten:
    """Lanes that read what nothing has written: `index` is the first such element."""

    lanes: Lanes
    name: str
    index: int
    place: tuple[int, ...] = ()


class FaultError(Exception):
    """What stops a run: something at a place in the source, in the first program and lane that it happens to."""

    def __init__(self, what: Outside | Unwritten | Broken | Impossible | Endless) -> None:
        super().__init__(what)
        self.what = what


@record
class Broken:
    """Lanes in which what the author states does not hold."""

    lanes: Lanes
    text: str
    function: str


@record
class Other:
    """The earlier access that another one races with: what it did, its program, and its place in the source.

    `lane` is its lane where it is of the same program, -1 for what is no tensor.
    """

    how: str
    program: tuple[int, int, int]
    lane: int | None
    span: Span


@record
class Race:
    """Lanes that meet an access of another program, or another lane, that may come before or after: by chance."""

    lanes: Lanes
    name: str
    index: int
    other: Other
    place: tuple[int, ...] = ()


@record
class Undefined:
    """Lanes that a mask left out of a load, and that reach what they must not."""

    lanes: Lanes
    function: str


@record
class Wrapped:
    """Lanes in which a result has left its type: the operands of the first, or what a sum of many lanes would be."""

    lanes: Lanes
    operator: str
    operands: tuple[int, ...]
    type: str


@record
class DividedByZero:
    """Lanes in which an integer is divided by zero, and the first such integer."""

    lanes: Lanes
    left: int


@record
class MadeNan:
    """The first lanes that are no number: what made them, and of which numbers."""

    lanes: Lanes
    what: str
    given: tuple[str, ...]


@record
class Missed:
    """A tensor of which elements were never written: the first of them, how many, and of how many."""

    name: str
    index: int
    count: int
    size: int
    place: tuple[int, ...] = ()


@record
class Impossible:
    """A function that needs a GPU, or a number that it cannot work with."""

    span: Span
    function: str
    why: str


@record
class Endless:
    """Programs in a loop that goes on as it is forever."""

    place: Place

    @property
    def program(self) -> tuple[int, ...]:
        """The first of them."""
        first = 0 if self.place.active is None else int(np.argmax(self.place.active))
        return tuple(int(i) for i in self.place.programs[first])


class Watcher:
    """Sees what a run does. The methods here stop it at a fault and let everything else be.

    Only an `is_curious` watcher is told of accesses, with their lanes, which takes time to find out.
    """

    is_curious = False

    def began(self, program: Program, kernel: Kernel, grid: tuple[int, int, int], memory: Memory) -> None:
        """A launch begins, of this kernel of a program."""

    def ended(self, memory: Memory) -> None:
        """All programs are done."""

    def outside(self, fault: Outside) -> None:
        """Lanes reach beyond a tensor; where this returns, they are left out."""
        raise FaultError(fault)

    def unwritten(self, fault: Unwritten) -> None:
        """Lanes read what was never written."""
        raise FaultError(fault)

    def broken(self, fault: Broken) -> None:
        """An assertion does not hold."""
        raise FaultError(fault)

    def loaded(self, buffer: Buffer, index: Array, lanes: Lanes) -> None:
        """Elements are read, one for each lane."""

    def stored(self, buffer: Buffer, index: Array, lanes: Lanes, numbers: Array) -> None:
        """Elements are about to be written, one for each lane."""

    def updated(self, buffer: Buffer, index: Array, lanes: Lanes, meeting: Meeting) -> None:
        """Elements are about to be updated by an atomic, one for each lane."""

    def decided(self, held: Marked, place: Place) -> None:
        """The way of programs depends on a marked value."""

    def computed(self, frame: Frame, let: Let, results: tuple[object, ...], active: Array | None) -> None:
        """An operation has given its results; `active` are the programs that it is done for, all where it is None."""
