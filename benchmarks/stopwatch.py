"""Times of contenders that take turns: functions go in, milliseconds by contender and round come out.

What happens to the machine so happens to all of them. Each call is timed by events on the GPU, after the L2 cache was
overwritten, and behind a pause that lets the CPU run ahead: the time to launch is not in it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import torch

FEWEST, MOST = 5, 50
"""How many rounds are timed, whatever a budget of seconds says."""

PAUSE = 2_000_000
"""Cycles that the GPU waits before a timed launch, about a millisecond."""

Times = Mapping[str, Sequence[float]]
"""Milliseconds of every round, by contender."""


class Stopwatch:
    """Milliseconds of one call: on the GPU between two events, on the CPU by the clock."""

    def __init__(self, device: str) -> None:
        self._events = [torch.cuda.Event(enable_timing=True) for _ in range(2)] if device == "cuda" else []
        self._cache = torch.empty(2**28 if self._events else 0, dtype=torch.int8, device=device)

    def __call__(self, run: Callable[[], object]) -> float:
        if not self._events:
            started = time.perf_counter()
            run()
            return (time.perf_counter() - started) * 1e3
        start, end = self._events
        self._cache.zero_()
        torch.cuda._sleep(PAUSE)
        start.record()
        run()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end))

    def turns(self, contenders: Mapping[str, Callable[[], object]], seconds: float) -> Times:
        """Rounds in which every contender runs once, for about so many seconds; a first round does not count."""
        first = sum(self(run) for run in contenders.values())
        rounds = min(MOST, max(FEWEST, int(seconds * 1e3 / first)))
        times: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(rounds):
            for name, run in contenders.items():
                times[name].append(self(run))
        return times


def ratio(mine: Sequence[float], theirs: Sequence[float]) -> float:
    """How fast I am beside another: the median over rounds of their time over mine."""
    return statistics.median(b / a for a, b in zip(mine, theirs, strict=True))


def spread(times: Sequence[float]) -> float:
    """(slowest − fastest) / median."""
    return (max(times) - min(times)) / statistics.median(times)
