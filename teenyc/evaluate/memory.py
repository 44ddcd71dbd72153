"""Memory: the tensors that a launch is given, each a run of elements with an address of its own.

An address is a number: the tensor's base and the index of an element. Bases lie so far apart that no sum of offsets
which stays near one tensor reaches another, so that pointers may be chosen, carried and compared like integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from teenyc.evaluate.numbers import Array, converted, decoded, encoded, held_dtype, stored_dtype
from teenyc.evaluate.order import Meeting
from teenyc.evaluate.watch import FaultError, Impossible, Lanes, Outside, Place, Unwritten, Watcher
from teenyc.record import record
from teenyc.types import DType

SPACING = 44
"""Bases are multiples of 2 to this power, and a tensor's addresses reach half as far to both sides."""

HALF = 1 << (SPACING - 1)


@dataclass(slots=True, eq=False)
class Buffer:
    """The elements of one tensor, in the dtype in which they are stored.

    `origin` is the element that its pointer points to. `written` says which elements hold something, where the tensor
    came without contents. `axes` are the extent and the stride of each axis, in elements, where they are known.
    """

    name: str
    element: DType
    data: Array
    written: Array | None = None
    origin: int = 0
    is_changed: bool = False
    axes: tuple[tuple[int, int], ...] = ()

    def place_of(self, index: int) -> tuple[int, ...]:
        """Where an element lies along each of several axes; beyond the ends the first axis goes on."""
        strides = [stride for _, stride in self.axes]
        if len(strides) < 2 or min(strides) < 1 or strides != sorted(strides, reverse=True):
            return ()
        place = []
        for stride in strides:
            place.append(index // stride)
            index %= stride
        return tuple(place)

    def belongs(self) -> Array:
        """Which elements are some of the tensor's, and not between them."""
        if prod(extent for extent, _ in self.axes) == self.data.size:
            return np.ones(self.data.size, bool)
        found = np.zeros(self.data.size, bool)
        places = np.full(1, self.origin)
        for extent, stride in self.axes:
            places = (places[:, None] + np.arange(extent) * stride).reshape(-1)
        found[places if self.axes else slice(None)] = True
        return found

    def read(self, index: Array) -> Array:
        return decoded(self.data.take(index), self.element)

    def write(self, index: Array, numbers: Array) -> None:
        """Writes held numbers, one after the other: where an index occurs twice, the last one stays."""
        self.data[index] = encoded(numbers, self.element)
        self.is_changed = True
        if self.written is not None:
            self.written[index] = True


@record
class _Part:
    """The lanes of an access that go to one buffer: which of all that are active, and the elements."""

    buffer: Buffer
    chosen: Array | slice
    index: Array


@dataclass(slots=True, eq=False)
class Memory:
    """The buffers of a launch, in the order of its parameters; `changes` counts what may have changed something."""

    watcher: Watcher
    buffers: list[Buffer] = field(default_factory=list)
    changes: int = 0

    def add(self, buffer: Buffer) -> int:
        """The address that the pointer to a new buffer is."""
        self.buffers.append(buffer)
        return (len(self.buffers) << SPACING) + buffer.origin

    # ---- accesses ---------------------------------------------------------------------------------------------------

    def load(self, address: Array, mask: Array | None, other: Array | None, place: Place) -> Array:
        """The elements at addresses, held; where the mask is false `other`, or 0."""
        near = self._one(address)
        if near is None or near[0].written is not None:
            return self._load_parts(address, mask, other, place)
        buffer, index = near
        numbers = buffer.read(index)
        if mask is None:
            return numbers
        if mask.all():
            return np.broadcast_to(numbers, np.broadcast_shapes(numbers.shape, mask.shape))
        return np.where(mask, numbers, numbers.dtype.type(0) if other is None else _as_stored(other, buffer))

    def store(self, address: Array, numbers: Array, mask: Array | None, place: Place) -> None:
        """Writes held numbers to addresses where the mask is true, in the order of programs and lanes."""
        shape = np.broadcast_shapes(address.shape, numbers.shape, () if mask is None else mask.shape)
        numbers = np.broadcast_to(numbers, shape)
        self.changes += 1
        near = self._one(address)
        if near is None:
            lanes = _lanes(address, mask, shape, place)
            numbers = numbers.reshape(-1)[lanes.flat]
            for part in self._parts(lanes, is_write=True):
                self.expect_writable(part.buffer, place)
                self.watcher.stored(part.buffer, part.index, lanes.only(part.chosen), numbers[part.chosen])
                part.buffer.write(part.index, numbers[part.chosen])
            return
        buffer, index = near
        self.expect_writable(buffer, place)
        index = np.broadcast_to(index, shape)
        if mask is None or mask.all():
            buffer.write(index, numbers)
        else:
            chosen = np.broadcast_to(mask, shape)
            buffer.write(index[chosen], numbers[chosen])

    def update(
        self,
        address: Array,
        values: Sequence[Array],
        mask: Array | None,
        update: Callable[..., Any],
        place: Place,
        meeting: Meeting,
    ) -> Array:
        """Changes elements one after the other, in the order of programs and lanes; gives what was there before."""
        shape = np.broadcast_shapes(address.shape, *(v.shape for v in values), () if mask is None else mask.shape)
        lanes = _lanes(address, mask, shape, place)
        given = [np.broadcast_to(v, shape).reshape(-1)[lanes.flat] for v in values]
        before: Array | None = None
        for part in self._parts(lanes, is_write=True):
            self.expect_writable(part.buffer, place)
            self.watcher.updated(part.buffer, part.index, lanes.only(part.chosen), meeting)
            if not meeting.begins:
                self._expect_contents(part, lanes)
            old = _updated(part, [v[part.chosen] for v in given], update)
            if before is None:
                before = np.zeros(int(np.prod(shape)), old.dtype)
            before[lanes.flat[part.chosen]] = old
            self.changes += not np.array_equal(old, part.buffer.read(part.index))
        return np.zeros(shape, np.int32) if before is None else before.reshape(shape)

    @staticmethod
    def expect_writable(buffer: Buffer, place: Place) -> None:
        if not buffer.data.flags.writeable:
            raise FaultError(Impossible(place.span, "store", f"the array for `{buffer.name}` is read-only"))

    # ---- where an address leads -------------------------------------------------------------------------------------

    def _one(self, address: Array) -> tuple[Buffer, Array] | None:
        """The buffer in which all of the addresses lie, and the elements; None where there is no such buffer.

        None also for a watcher that wants to see each lane.
        """
        return None if address.size == 0 or self.watcher.is_curious else self._inside(address)

    def _inside(self, address: Array) -> tuple[Buffer, Array] | None:
        first, last = int(address.min()), int(address.max())
        number = (first + HALF) >> SPACING
        if not 0 < number <= len(self.buffers):
            return None
        buffer, base = self.buffers[number - 1], number << SPACING
        return (buffer, address - base) if first >= base and last - base < buffer.data.size else None

    def _parts(self, lanes: Lanes, *, is_write: bool) -> Iterator[_Part]:
        """What of an access goes to which buffer; what lies outside is reported and left out."""
        whole = self._whole(lanes)
        if whole is not None:
            yield whole
            return
        numbers = (lanes.address + HALF) >> SPACING
        for number in np.unique(numbers).tolist():
            chosen = np.flatnonzero(numbers == number)
            is_known = 0 < number <= len(self.buffers)
            buffer = self.buffers[number - 1] if is_known else None
            index = lanes.address[chosen] - (number << SPACING)
            size = buffer.data.size if buffer is not None else 0
            outside = (index < 0) | (index >= size)
            if outside.any():
                first = int(np.flatnonzero(outside)[0])
                name = buffer.name if buffer is not None else ""
                lost = lanes.only(chosen[outside])
                at = int(index[first])
                place = buffer.place_of(at) if buffer is not None else ()
                self.watcher.outside(Outside(lost, name, at, size, is_write, place))
                chosen, index = chosen[~outside], index[~outside]
            if buffer is not None and index.size:
                yield _Part(buffer, chosen, index)

    def _whole(self, lanes: Lanes) -> _Part | None:
        """All lanes, where they go to one buffer."""
        near = self._inside(lanes.address) if lanes.address.size else None
        return None if near is None else _Part(near[0], slice(None), near[1])

    def _load_parts(self, address: Array, mask: Array | None, other: Array | None, place: Place) -> Array:
        shape = np.broadcast_shapes(address.shape, () if mask is None else mask.shape)
        lanes = _lanes(address, mask, shape, place)
        found: Array | None = None
        for part in self._parts(lanes, is_write=False):
            self._expect_contents(part, lanes)
            self.watcher.loaded(part.buffer, part.index, lanes.only(part.chosen))
            numbers = part.buffer.read(part.index)
            if found is None:
                found = np.zeros(int(np.prod(shape)), numbers.dtype)
                if other is not None:
                    found[:] = np.broadcast_to(_as_stored(other, part.buffer), shape).reshape(-1)
            found[lanes.flat[part.chosen]] = converted(numbers, found.dtype)
        if found is not None:
            return found.reshape(shape)
        return np.zeros(shape, np.int32) if other is None else np.broadcast_to(other, shape)

    def _expect_contents(self, part: _Part, lanes: Lanes) -> None:
        written = part.buffer.written
        if written is None or written[part.index].all():
            return
        missing = np.flatnonzero(~written[part.index])
        first = int(part.index[missing[0]])
        lost, buffer = lanes.only(part.chosen).only(missing), part.buffer
        self.watcher.unwritten(Unwritten(lost, buffer.name, first, buffer.place_of(first)))


def _as_stored(numbers: Array, buffer: Buffer) -> Array:
    """Held numbers as they would be if they came from a buffer."""
    return decoded(encoded(numbers, buffer.element), buffer.element)


def _lanes(address: Array, mask: Array | None, shape: tuple[int, ...], place: Place) -> Lanes:
    flat = np.arange(int(np.prod(shape))) if mask is None else np.flatnonzero(np.broadcast_to(mask, shape))
    return Lanes(place, shape, flat, np.broadcast_to(address, shape).reshape(-1)[flat])


# ---- atomics --------------------------------------------------------------------------------------------------------


def _updated(part: _Part, values: list[Array], update: Callable[..., Any]) -> Array:
    """Updates elements in order and gives what each saw, held.

    Elements are apart from one another, so their updates go side by side: round after round, an element in each
    at most once, or element after element where few are updated often.
    """
    buffer, index = part.buffer, part.index
    values = [_as_stored(v, buffer) for v in values]
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    counts = np.diff(np.r_[starts, index.size])
    before = np.empty(index.size, held_dtype(buffer.element))
    is_exact = stored_dtype(buffer.element) == before.dtype
    if isinstance(update, np.ufunc) and is_exact and starts.size < counts.max():
        for start, count in zip(starts.tolist(), counts.tolist(), strict=True):
            _accumulated(buffer, order[start : start + count], index, values[0], update, before)
        return before
    turn = np.arange(index.size) - np.repeat(starts, counts)
    for number in range(int(counts.max())):
        now = order[turn == number]
        before[now] = buffer.read(index[now])
        buffer.write(index[now], converted(update(before[now], *(v[now] for v in values)), before.dtype))
    return before


def _accumulated(buffer: Buffer, places: Array, index: Array, values: Array, update: np.ufunc, before: Array) -> None:
    """Updates one element by each of the values at `places`."""
    at = index[places[:1]]
    steps = update.accumulate(np.r_[buffer.read(at), values[places]], dtype=before.dtype)
    before[places] = steps[:-1]
    buffer.write(at, steps[-1:])
