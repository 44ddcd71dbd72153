"""Shorter texts: a text and a test of texts go in, a text comes out that still passes and from which nothing can go."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

PIECES = (rb"[^\n]*\n|[^\n]+", rb"[^;{}]*[;{}]|[^;{}]+", rb"\s+|\w+|[^\w\s]")
"""A text as lines, as statements, as tokens."""


def shortened(text: bytes, passes: Callable[[bytes], bool], *, seconds: float) -> bytes:
    """The shortest text that was found until nothing more could go, or the time was over."""
    until = time.monotonic() + seconds
    for pattern in PIECES:
        pieces = re.findall(pattern, text)
        text = b"".join(_without_what_can_go(pieces, lambda kept: passes(b"".join(kept)), until))
    return text


def _without_what_can_go(pieces: list[bytes], passes: Callable[[list[bytes]], bool], until: float) -> list[bytes]:
    """Leaves out runs of pieces, long ones first, as long as what is left passes."""
    length = max(1, len(pieces) // 2)
    while True:
        place = 0
        while place < len(pieces):
            if time.monotonic() > until:
                return pieces
            kept = pieces[:place] + pieces[place + length :]
            if kept and passes(kept):
                pieces = kept
            else:
                place += length
        if length == 1:
            return pieces
        length = max(1, length // 2)
