"""Values with lanes that something is wrong with: which lanes, and what, as long as it is not known to matter."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeAlias

import numpy as np

from teenyc.evaluate.arithmetic import aligned
from teenyc.evaluate.numbers import Array
from teenyc.record import record

Marks: TypeAlias = "Mapping[Hashable, Array]"
"""By what is wrong, the lanes in which it is: flags with an axis for programs in front, like the value's own."""

LEFT_OUT = "left out"
"""What is wrong with lanes that a mask left out of a load without `other`."""


@record
class Marked:
    """An array with marks, which only a watcher makes."""

    numbers: Array
    marks: Marks

    def chosen(self, mask: Array, other: Marked) -> Marked:
        """This value where the mask is true, the other one elsewhere; the mask has a flag for each program."""
        rank = self.numbers.ndim - 1
        flags, numbers = aligned(mask, rank), np.where(aligned(mask, rank), self.numbers, other.numbers)
        mine = {key: flags & lanes for key, lanes in self.marks.items()}
        return Marked(numbers, either(mine, {key: ~flags & lanes for key, lanes in other.marks.items()}))


def marked(numbers: Array, marks: Marks) -> Array | Marked:
    """An array with those marks that are on any lane."""
    left = {key: lanes for key, lanes in marks.items() if lanes.any()}
    return Marked(numbers, left) if left else numbers


def either(*several: Marks) -> dict[Hashable, Array]:
    """The marks that any of several have, lane by lane; their lanes have one number of axes."""
    found: dict[Hashable, Array] = {}
    for marks in several:
        for key, lanes in marks.items():
            found[key] = found[key] | lanes if key in found else lanes
    return found


def spread(marks: Marks, rank: int) -> dict[Hashable, Array]:
    """Marks on lanes with `rank` axes; new ones come in front."""
    return {key: aligned(lanes, rank) for key, lanes in marks.items()}


def where(marks: Marks, flags: Array) -> dict[Hashable, Array]:
    """The marks that are on lanes with a flag."""
    rank = flags.ndim - 1
    return {key: aligned(lanes, rank) & flags for key, lanes in marks.items()}
