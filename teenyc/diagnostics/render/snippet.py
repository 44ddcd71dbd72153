"""Draws the part of a source that a report is about: its lines, with marks and words under them.

    3 |     let a = scal + 1;
      |             ^^^^ not found in this kernel

A mark within one line stands under it; a mark over several lines is a rail in the margin from its first to its last
line. Each mark that starts before others on its line has its words further down, on a line of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from teenyc.diagnostics.model import Label
from teenyc.diagnostics.render.paint import Palette, Row, Tone
from teenyc.diagnostics.render.report import clamp
from teenyc.diagnostics.render.text import Excerpt, excerpt, printable
from teenyc.record import record
from teenyc.source import SourceFile

NARROWEST = 20
"""Columns that a source line gets however narrow the output is."""


@record
class Mark:
    """A label in its source: lines from 1; `start` in the first line and `end` in the last, in code points from 0."""

    first: int
    last: int
    start: int
    end: int
    text: str
    tone: Tone
    sign: str


@record
class Layout:
    """What all lines of a snippet share: the width of the line numbers, of the whole, and the colours."""

    gutter: int
    width: int
    palette: Palette

    def line(self, number: str, row: str) -> str:
        """A line with its number, or another sign, to the left of the bar."""
        return f"{self.palette.paint(f'{number:>{self.gutter}} |', Tone.QUIET)} {row}".rstrip()

    @property
    def blank(self) -> str:
        return self.line("", "")


def place(label: Label, source: SourceFile, tone: Tone, sign: str) -> Mark:
    """The mark of a label; one that ends with a line end stays on that line."""
    span = clamp(label.span, source)
    start = source.position(span.start)
    last = source.position(max(span.start, span.end - 1))
    return Mark(
        first=start.line,
        last=last.line,
        start=start.column - 1,
        end=last.column if span.start < span.end else start.column - 1,
        text=printable(label.text),
        tone=tone,
        sign=sign,
    )


def snippet(source: SourceFile, marks: Sequence[Mark], layout: Layout) -> Iterator[str]:
    """The lines that the marks touch, in order, with `...` for what lies between."""
    rails = sorted((m for m in marks if m.first < m.last), key=lambda m: (m.first, m.start, -m.last))
    drawing = _Drawing(source, marks, rails, layout)
    yield layout.blank
    previous = 0
    for line in _lines(marks):
        if previous and line > previous + 1:
            yield drawing.gap()
        yield from drawing.line(line)
        previous = line


def _lines(marks: Iterable[Mark]) -> list[int]:
    """The numbers of the lines to show: where marks begin and end, and single lines between two of these."""
    touched = sorted({line for mark in marks for line in (mark.first, mark.last)})
    between = {a + 1 for a, b in pairwise(touched) if b == a + 2}
    return sorted({*touched, *between})


class _Drawing:
    """Draws one line after the other and remembers which rails are open."""

    def __init__(self, source: SourceFile, marks: Sequence[Mark], rails: list[Mark], layout: Layout) -> None:
        self._source = source
        self._marks = marks
        self._rails = rails
        self._layout = layout
        self._open: set[int] = set()
        self._margin = len(rails) + 1 if rails else 0

    def gap(self) -> str:
        """The line that stands for lines left out."""
        palette = self._layout.palette
        dots = palette.paint("...", Tone.QUIET)
        return (dots + " " * self._layout.gutter + self._row().paint(palette)).rstrip()

    def line(self, number: int) -> Iterator[str]:
        """A source line and the marks under it."""
        text = self._source.line_text(number)
        single = [m for m in self._marks if m.first == m.last == number]
        opening = [i for i, m in enumerate(self._rails) if m.first == number]
        closing = [i for i, m in enumerate(self._rails) if m.last == number]
        shown = excerpt(text, *self._focus(number, single, opening, closing), self._room)
        slashed = [i for i in opening if not text[: self._rails[i].start].strip()]
        row = self._row(slashed)
        self._open.update(slashed)
        row.put(self._margin, "", Tone.PLAIN)
        yield self._layout.line(str(number), row.paint(self._layout.palette) + shown.text)
        rows = [*self._under(single, shown), *self._openings(opening, shown), *self._closings(closing, shown)]
        yield from (self._layout.line("", row.paint(self._layout.palette)) for row in rows)

    @property
    def _room(self) -> int:
        return max(NARROWEST, self._layout.width - self._layout.gutter - 3 - self._margin)

    def _focus(self, number: int, single: list[Mark], opening: list[int], closing: list[int]) -> tuple[int, int]:
        """The code points of a line that must be in sight: all marks if they are near one another, else the first."""
        places = [(m.start, m.end) for m in single]
        places += [(self._rails[i].start, self._rails[i].start + 1) for i in opening]
        places += [(self._rails[i].end - 1, self._rails[i].end) for i in closing]
        if not places:
            return 0, 0
        start, end = min(a for a, _ in places), max(b for _, b in places)
        return (start, end) if end - start <= self._room // 2 else places[0]

    def _row(self, starting: Sequence[int] = ()) -> Row:
        """A row with the open rails in its margin, and `/` for those that start here."""
        row = Row()
        for index, rail in enumerate(self._rails):
            if index in starting or index in self._open:
                row.put(index, "/" if index in starting else "|", rail.tone)
        return row

    def _under(self, marks: list[Mark], shown: Excerpt) -> Iterator[Row]:
        """The marks within one line: all of them in one row with the last one's words, then the words of the others."""
        if not marks:
            return
        row = self._row()
        for mark in sorted(marks, key=lambda m: (m.start - m.end, m.sign == "^")):  # short ones over long ones
            row.put(self._column(mark, shown), mark.sign * _span_width(mark, shown), mark.tone)
        speaking = sorted((m for m in marks if m.text), key=lambda m: (m.start, m.end), reverse=True)
        if speaking and self._column(speaking[0], shown) + _span_width(speaking[0], shown) == row.width:
            row.add(f" {speaking[0].text}", speaking.pop(0).tone)
        yield row
        if speaking:
            yield self._hanging(speaking, shown)
        while speaking:
            mark = speaking.pop(0)
            row = self._hanging([m for m in speaking if m.start < mark.start], shown)
            row.put(self._column(mark, shown), "", Tone.PLAIN)
            row.add(mark.text, mark.tone)
            yield row

    def _hanging(self, marks: list[Mark], shown: Excerpt) -> Row:
        """A row of bars that lead from marks down to their words."""
        row = self._row()
        for mark in marks:
            row.put(self._column(mark, shown), "|", mark.tone)
        return row

    def _openings(self, indices: list[int], shown: Excerpt) -> Iterator[Row]:
        """Where rails start behind other text of their line: `____^` from the margin."""
        for index in indices:
            if index not in self._open:
                yield self._turn(index, self._column(self._rails[index], shown))
                self._open.add(index)

    def _closings(self, indices: list[int], shown: Excerpt) -> Iterator[Row]:
        """Where rails end: `|____^` and the words."""
        for index in reversed(indices):
            mark = self._rails[index]
            row = self._turn(index, self._margin + shown.column(mark.end - 1))
            if mark.text:
                row.add(f" {mark.text}", mark.tone)
            self._open.discard(index)
            yield row

    def _turn(self, index: int, column: int) -> Row:
        row, mark = self._row(), self._rails[index]
        row.put(index + 1, "_" * (column - index - 1) + mark.sign, mark.tone)
        return row

    def _column(self, mark: Mark, shown: Excerpt) -> int:
        return self._margin + shown.column(mark.start)


def _span_width(mark: Mark, shown: Excerpt) -> int:
    """How many signs a mark has: at least one, so that an empty span is seen."""
    return max(1, shown.column(mark.end) - shown.column(mark.start))
