"""What the terminal allows: colour, and a line of progress on work that takes longer than a second."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.0
"""Seconds before progress is shown."""


def wants_color(choice: str, *, machine_readable: bool) -> bool:
    """Whether reports are coloured: as `--color` says, by default on a terminal unless `NO_COLOR` is set."""
    if machine_readable or choice == "never":
        return False
    if choice == "always":
        return True
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextmanager
def progress(text: str) -> Iterator[None]:
    """Shows `text` on standard error, if a terminal, when the work inside takes over a second; clears it afterwards."""
    if not sys.stderr.isatty():
        yield
        return
    from threading import Timer

    timer = Timer(PATIENCE, lambda: print(f"\r{text} …", end="", file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
