"""How often programs go through a loop, and whether they ever leave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from teenyc.evaluate.numbers import Array

if TYPE_CHECKING:
    from teenyc.evaluate.memory import Memory

PATIENCE = 1024
"""After so many iterations it is looked whether anything still changes, and after as many again."""


@dataclass(slots=True, eq=False)
class Standstill:
    """Sees whether a `while` goes on forever: an iteration that changes nothing is followed by the same one."""

    memory: Memory
    changes: int = -1
    count: int = 0

    def is_reached(self, now: Sequence[object], following: Sequence[object]) -> bool:
        """Whether an iteration carries on what it was given and has left memory as it was."""
        self.count += 1
        before, self.changes = self.changes, self.memory.changes
        if self.count % PATIENCE or before != self.changes:
            return False
        return all(_are_same(a, b) for a, b in zip(now, following, strict=True))


def _are_same(now: object, following: object) -> bool:
    is_array = isinstance(now, np.ndarray) and isinstance(following, np.ndarray)
    return np.array_equal(now, following, equal_nan=now.dtype.kind == "f") if is_array else now == following  # type: ignore


def range_of(start: int, stop: int, step: int, inclusive: bool) -> range:
    """The numbers that a loop of one program counts through."""
    if inclusive:
        stop += 1 if step > 0 else -1
    return range(start, stop, step)


def trips(start: Array, stop: Array, step: Array, inclusive: bool) -> Array:
    """How often each program goes through a loop; counted in Python's integers, which do not overflow."""
    first, last, by = np.broadcast_arrays(*(a.astype(object) for a in (start, stop, step)))
    return np.array([len(range_of(*bounds, inclusive)) for bounds in zip(first, last, by, strict=True)], np.int64)
