"""Source text and places in it: a `SourceFile` turns offsets into lines and columns for reports and source maps."""

from __future__ import annotations

import re
from bisect import bisect_right

from teenyc.record import field, record


@record(order=True)
class Span:
    """A half-open range `[start, end)` of code points in one source text."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of `other`."""
        return Span(self.start, max(self.end, other.end))


@record
class Position:
    """A place as people count it: line and column from 1, columns in code points, a tab is one."""

    line: int
    column: int


@record
class Comments:
    """The author's `//` comments at a statement: lines before it, and one behind it. Without the slashes."""

    leading: tuple[str, ...] = ()
    trailing: str = ""

    def __bool__(self) -> bool:
        return bool(self.leading or self.trailing)


NO_COMMENTS = Comments()


@record
class SourceFile:
    """One source text under the name that reports print.

    `text` is decoded and without a byte-order mark; `bom` says that the file had one, so that byte offsets still count
    it. Line ends stay as they are in the file.
    """

    name: str
    text: str
    bom: bool = False
    _starts: list[int] = field(default_factory=list, compare=False, repr=False)

    @property
    def _line_starts(self) -> list[int]:
        """Where lines start, found when first asked for."""
        if not self._starts:
            self._starts.append(0)
            self._starts.extend(end.end() for end in re.finditer("\n", self.text))
        return self._starts

    @property
    def line_count(self) -> int:
        return len(self._line_starts)

    def position(self, offset: int) -> Position:
        """The line and column of a code-point offset."""
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def place(self, offset: int) -> str:
        """`line:column` of a code-point offset; one behind the end is the end."""
        position = self.position(min(offset, len(self.text)))
        return f"{position.line}:{position.column}"

    def line_text(self, line: int) -> str:
        """The text of a line (from 1) without its end."""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] if line < self.line_count else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def byte_offset(self, offset: int) -> int:
        """The offset in bytes of the UTF-8 file, byte-order mark included."""
        return len(self.text[:offset].encode("utf-8", "surrogatepass")) + (3 if self.bom else 0)
