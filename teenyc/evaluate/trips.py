"""How often programs go through a loop."""

from __future__ import annotations

import numpy as np

from teenyc.evaluate.numbers import Array


def range_of(start: int, stop: int, step: int, inclusive: bool) -> range:
    """The numbers that a loop of one program counts through."""
    if inclusive:
        stop += 1 if step > 0 else -1
    return range(start, stop, step)


def trips(start: Array, stop: Array, step: Array, inclusive: bool) -> Array:
    """How often each program goes through a loop; counted in Python's integers, which do not overflow."""
    first, last, by = np.broadcast_arrays(*(a.astype(object) for a in (start, stop, step)))
    return np.array([len(range_of(*bounds, inclusive)) for bounds in zip(first, last, by, strict=True)], np.int64)
