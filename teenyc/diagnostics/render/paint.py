"""Colour: a `Palette` turns text and what it is into ANSI sequences, or leaves the text alone."""

from __future__ import annotations

from enum import Enum
from itertools import groupby

from teenyc.record import record


class Tone(Enum):
    """What a piece of text is, with its ANSI attributes (rustc's colours)."""

    PLAIN = ""
    STRONG = "1"
    ERROR = "1;31"
    WARNING = "1;33"
    QUIET = "1;34"  # the gutter, and marks beside the main one
    HELP = "1;36"
    NOTE = "1;32"


@record
class Palette:
    """Paints if `color`; without it, text stays as it is."""

    color: bool

    def paint(self, text: str, tone: Tone) -> str:
        return f"\x1b[{tone.value}m{text}\x1b[0m" if self.color and text and tone.value else text


class Row:
    """One line of output under construction: ASCII marks at columns, then words at the end."""

    def __init__(self) -> None:
        self._cells: list[tuple[str, Tone]] = []

    def put(self, column: int, text: str, tone: Tone) -> None:
        """Writes `text`, one cell a character, over what is there; cells in between become spaces."""
        self._cells += [(" ", Tone.PLAIN)] * (column + len(text) - len(self._cells))
        self._cells[column : column + len(text)] = [(character, tone) for character in text]

    def add(self, text: str, tone: Tone) -> None:
        """Writes `text` behind all that is there."""
        self._cells.append((text, tone))

    @property
    def width(self) -> int:
        return len(self._cells)

    def paint(self, palette: Palette) -> str:
        """The line, neighbours of one tone painted together."""
        runs = groupby(self._cells, key=lambda cell: cell[1])
        return "".join(palette.paint("".join(text for text, _ in run), tone) for tone, run in runs)
