"""Views: what the templates print, as plain strings. A line of a body carries its source line behind a mark."""

from __future__ import annotations

from teenyc.codegen.helpers import Saturation
from teenyc.codegen.libdevice import LibraryView
from teenyc.record import record

MARK = "\x00"
"""Stands between a line and the number of its source line until the module is rendered; no text of an author has it."""


@record
class KernelView:
    """A kernel or device function: decorated, its signature, docstring and body as finished lines."""

    name: str
    signature: tuple[str, ...]
    doc: tuple[str, ...]
    body: tuple[str, ...]


@record
class ModuleView:
    """A whole module; the host part has a view of its own.

    `origin` are comments about the file, `imports` come before Triton's own, `triton`. `helpers` are templates, `casts`
    fill one template, `rounds` says that one helper rounds to bfloat16, `numbers` are the constants of
    the source, `interprets` says that one asks whether Triton interprets. `library` is what kernels call of libdevice.
    """

    doc: tuple[str, ...]
    origin: tuple[str, ...]
    imports: tuple[str, ...]
    triton: tuple[str, ...]
    rounds: bool
    numbers: tuple[str, ...]
    interprets: bool
    library: LibraryView | None
    helpers: tuple[str, ...]
    casts: tuple[Saturation, ...]
    functions: tuple[KernelView, ...]
    kernels: tuple[KernelView, ...]


def marked(line: str, source: int | None) -> str:
    """A line that knows its source line."""
    return line if source is None else f"{line}{MARK}{source}"


def unmarked(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text without marks, and pairs of output line and source line."""
    lines: list[str] = []
    pairs: list[tuple[int, int]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        plain, mark, source = line.partition(MARK)
        lines.append(plain)
        if mark:
            pairs.append((number, int(source)))
    return "\n".join(lines), tuple(pairs)
