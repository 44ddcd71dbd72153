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
    from teenyc.evaluate.memory import Buffer, Memory
    from teenyc.ir.nodes import Let, Program


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

    def only(self, chosen: Array) -> Lanes:
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
    """Lanes that reach for what is not in a tensor: `index` is the first such element. `name` may be empty."""

    lanes: Lanes
    name: str
    index: int
    size: int
    is_write: bool


@record
class Unwritten:
    """Lanes that read what nothing has written: `index` is the first such element."""

    lanes: Lanes
    name: str
    index: int


class FaultError(Exception):
    """What stops a run: something at a place in the source, in the first program and lane that it happens to."""

    def __init__(self, what: Outside | Unwritten | Broken | Impossible) -> None:
        super().__init__(what)
        self.what = what


@record
class Broken:
    """Lanes in which what the author states does not hold."""

    lanes: Lanes
    text: str
    function: str


@record
class Race:
    """Lanes that meet an access of another program, or another lane, that may come before or after: by chance.

    `how` says what that one does, `other` is its program, None for several, and `span` its place.
    """

    lanes: Lanes
    name: str
    index: int
    how: str
    other: tuple[int, int, int] | None
    span: Span


@record
class Undefined:
    """Lanes that a mask left out of a load, and that reach what they must not."""

    lanes: Lanes
    function: str


@record
class Wrapped:
    """Lanes in which a sum, difference or product has left its type, and the operands of the first."""

    lanes: Lanes
    operator: str
    left: int
    right: int
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


@record
class Impossible:
    """A function that needs a GPU, or a number that it cannot work with."""

    span: Span
    function: str
    why: str


class Watcher:
    """Sees what a run does. The methods here stop it at a fault and let everything else be.

    Only an `is_curious` watcher is told of accesses, with their lanes, which takes time to find out.
    """

    is_curious = False

    def began(self, program: Program) -> None:
        """A launch begins, of this program."""

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

    def left_out(self, numbers: Array, mask: Array) -> Array:
        """What a load without `other` gives: `numbers` where the mask is true."""
        return numbers

    def stored(self, buffer: Buffer, index: Array, lanes: Lanes, numbers: Array) -> None:
        """Elements are about to be written, one for each lane."""

    def updated(self, buffer: Buffer, index: Array, lanes: Lanes) -> None:
        """Elements are about to be updated by an atomic, one for each lane."""

    def computed(self, frame: Frame, let: Let, results: tuple[object, ...], active: Array | None) -> None:
        """An operation has given its results; `active` are the programs that it is done for, all where it is None."""
