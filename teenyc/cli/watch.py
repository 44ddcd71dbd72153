"""`--watch`: builds again whenever a source changes, until interrupted."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from teenyc.cli.inputs import collect

INTERVAL = 0.3
"""Seconds between two looks at the sources."""


def watch(files: tuple[str, ...], build: Callable[[], int]) -> int:
    """Runs `build` now and after each change of what `files` name; ends only by an interrupt."""
    while True:
        seen = _state(files)
        build()
        print(f"watching {len(seen)} source{'' if len(seen) == 1 else 's'}; Ctrl-C ends", file=sys.stderr, flush=True)
        while _state(files) == seen:
            time.sleep(INTERVAL)


def _state(files: tuple[str, ...]) -> dict[str, tuple[int, int] | None]:
    """Each source with its time of change and size, None while it is missing."""
    state: dict[str, tuple[int, int] | None] = {}
    for each in collect(files)[0]:
        try:
            status = each.path.stat() if each.path else None
        except OSError:
            status = None
        state[each.name] = (status.st_mtime_ns, status.st_size) if status else None
    return state
