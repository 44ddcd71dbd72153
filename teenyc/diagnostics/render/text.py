"""Text that nobody vouches for, made fit for a terminal: nothing in it is obeyed, and its width is known.

Sources, file names and the names in messages are untrusted. Widths are in columns of the terminal, offsets in code
points.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from unicodedata import category, east_asian_width

from teenyc.record import record

TAB = " " * 4
_ELLIPSIS = "…"
_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_JOINERS = "\u00ad\u200c\u200d"  # soft hyphen and joiners: format characters that writing needs


def printable(text: str) -> str:
    """`text` on one line, with control, direction and invisible characters escaped as Rust writes them."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def glyph(character: str) -> str:
    """How a character of a source line is shown: a tab as four spaces, all else as `printable` has it."""
    return TAB if character == "\t" else printable(character)


def columns(text: str) -> int:
    """How many columns a terminal gives to printable text."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    hidden = category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in _JOINERS
    return f"\\u{{{ord(character):x}}}" if hidden else character


def _width(character: str) -> int:
    if category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":  # the last: joined Hangul vowels
        return 1 if character == "\u00ad" else 0
    return 2 if east_asian_width(character) in "WF" else 1


@record
class Excerpt:
    """The part of a line that is shown, and the column in which each of its code points starts.

    `edges[i]` is the column of the code point `first + i`; the last edge is the column behind the part.
    """

    text: str
    first: int
    edges: tuple[int, ...]

    def column(self, offset: int) -> int:
        """The column, from 0, of a code point of the line; what is cut off lies under the ellipsis."""
        if offset < self.first:
            return 0
        return self.edges[min(offset - self.first, len(self.edges) - 1)]


def excerpt(line: str, start: int, end: int, width: int) -> Excerpt:
    """What `width` columns hold of a line, cut so that the code points from `start` to `end` are in sight.

    Only the neighbourhood of these is looked at, so that a line of megabytes costs no more than a short one.
    """
    start = min(start, len(line))
    end = min(max(end, start), len(line), start + width)
    low, high = max(0, start - width), min(len(line), end + width)
    glyphs = [glyph(character) for character in line[low:high]]
    edges = [0, *accumulate(map(columns, glyphs))]
    left, right = 0, len(glyphs)
    if low > 0 or high < len(line) or edges[-1] > width:
        left, right = _window(edges, start - low, end - low, width - 2 * len(_ELLIPSIS), whole_start=low == 0)
    before = _ELLIPSIS if low + left > 0 else ""
    after = _ELLIPSIS if low + right < len(line) else ""
    shift = len(before) - edges[left]
    return Excerpt(
        before + "".join(glyphs[left:right]) + after, low + left, tuple(e + shift for e in edges[left : right + 1])
    )


def _window(edges: list[int], start: int, end: int, room: int, *, whole_start: bool) -> tuple[int, int]:
    """The first and last edge of the part that fits into `room` columns, with `start` in it, and `end` if possible."""
    left = 0
    if not (whole_start and edges[end] <= room):
        spare = max(0, room - (edges[end] - edges[start]))
        behind = min(spare // 2, edges[-1] - edges[end])
        left = bisect_left(edges, edges[start] - (spare - behind))
        left = min(start, bisect_right(edges, edges[left]) - 1)  # not in the middle of a combined character
    right = max(start, bisect_right(edges, edges[left] + room) - 1)
    return left, right
