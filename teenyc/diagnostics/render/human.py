"""Reports for people: the source with marks and words under it, as rustc shows them.

error[E0201]: unknown name `scal`
 --> softmax.tk:3:13
  |
3 |     let a = scal + 1;
  |             ^^^^ not found in this kernel
help: a similar name is in scope: `scale`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teenyc.diagnostics.edits import as_one
from teenyc.diagnostics.model import Diagnostic, Fix, Label, Severity
from teenyc.diagnostics.render.paint import Palette, Row, Tone
from teenyc.diagnostics.render.report import Report, clamp, plural, shown, tally
from teenyc.diagnostics.render.snippet import NARROWEST, Layout, Mark, place, snippet
from teenyc.diagnostics.render.text import excerpt, printable
from teenyc.record import replace
from teenyc.source import SourceFile

_TONES = {Severity.ERROR: Tone.ERROR, Severity.LINT: Tone.WARNING}
_CODES_NAMED = 6
_FIX_LINES = 6


def render_human(reports: Sequence[Report], *, color: bool, width: int) -> str:
    """All reports with a blank line between two, then how many there are and where to read more."""
    if not reports:
        return ""
    palette = Palette(color)
    visible = shown(reports)
    blocks = ["\n".join(_report(report, palette, width)) for report in visible]
    return "\n\n".join([*blocks, "\n".join(_summary(reports, visible, palette))])


def _report(report: Report, palette: Palette, width: int) -> Iterator[str]:
    diagnostic, source, span = report.diagnostic, report.source, report.span
    yield _header(diagnostic, palette)
    marks = _marks(diagnostic, source) if source and span else []
    fix = diagnostic.fix() if source else None
    layout = Layout(_gutter(marks, fix, source), width, palette)
    if source:
        arrow = palette.paint(f"{' ' * layout.gutter}-->", Tone.QUIET)
        yield f"{arrow} {_location(report)}"
    if source and marks:
        yield from snippet(source, marks, layout)
    yield from _notes(diagnostic, layout, separate=bool(marks))
    yield from _help(diagnostic, palette)
    if source and fix:
        yield from _edited(fix, source, layout)


def _header(diagnostic: Diagnostic, palette: Palette) -> str:
    kind = palette.paint(f"{diagnostic.severity.value}[{diagnostic.code}]", _TONES[diagnostic.severity])
    return kind + palette.paint(f": {printable(diagnostic.message())}", Tone.STRONG)


def _location(report: Report) -> str:
    assert report.source is not None
    name = printable(report.source.name)
    if report.span is None:
        return name
    position = report.source.position(report.span.start)
    return f"{name}:{position.line}:{position.column}"


def _marks(diagnostic: Diagnostic, source: SourceFile) -> list[Mark]:
    assert diagnostic.span is not None
    primary = Label(diagnostic.span, diagnostic.label())
    others = [place(label, source, Tone.QUIET, "-") for label in diagnostic.secondary()]
    return [place(primary, source, _TONES[diagnostic.severity], "^"), *others]


def _gutter(marks: Sequence[Mark], fix: Fix | None, source: SourceFile | None) -> int:
    """The width of the largest line number that a report shows."""
    largest = max((mark.last for mark in marks), default=1)
    if fix and source:
        for part in _parts(fix, source):
            first = source.position(clamp(part.span, source).start).line
            largest = max(largest, first + min(len(_edit(part, source)), _FIX_LINES) - 1)
    return len(str(largest))


def _notes(diagnostic: Diagnostic, layout: Layout, *, separate: bool) -> Iterator[str]:
    notes = diagnostic.notes()
    if notes and separate:
        yield layout.blank
    sign = layout.palette.paint(f"{' ' * layout.gutter} =", Tone.QUIET) + layout.palette.paint(" note", Tone.STRONG)
    indent = " " * (layout.gutter + len(" = note: "))
    for note in notes:
        yield f"{sign}: {_lines(note, indent)}"


def _help(diagnostic: Diagnostic, palette: Palette) -> Iterator[str]:
    text = diagnostic.help() or ("write instead" if diagnostic.fix() else None)
    if text:
        yield f"{palette.paint('help', Tone.HELP)}: {_lines(text, ' ' * len('help: '))}"


def _lines(text: str, indent: str) -> str:
    """Several lines of words, those after the first indented under it."""
    return f"\n{indent}".join(printable(line) for line in text.split("\n"))


def _edited(fix: Fix, source: SourceFile, layout: Layout) -> Iterator[str]:
    """The lines that a fix changes as they are after it, with `~` under what it puts in."""
    yield layout.blank
    previous = 0
    for part in _parts(fix, source):
        span = clamp(part.span, source)
        if previous and source.position(span.start).line > previous + 1:
            yield layout.palette.paint("...", Tone.QUIET)
        yield from _edited_part(part, source, layout)
        previous = source.position(span.end).line


def _parts(fix: Fix, source: SourceFile) -> list[Fix]:
    """The edits of a fix, those that meet on a line as one."""
    parts: list[list[Fix]] = []
    for edit in fix.edits:
        if parts and source.position(parts[-1][-1].span.end).line == source.position(edit.span.start).line:
            parts[-1].append(edit)
        else:
            parts.append([edit])
    return [as_one(replace(first, others=tuple(others)), source.text) for first, *others in parts]


def _edited_part(fix: Fix, source: SourceFile, layout: Layout) -> Iterator[str]:
    first = source.position(clamp(fix.span, source).start)
    lines = _edit(fix, source)
    room = max(NARROWEST, layout.width - layout.gutter - 3)
    inserted = len(fix.replacement.partition("\n")[0])
    for number, line in enumerate(lines[:_FIX_LINES], start=first.line):
        start = first.column - 1 if number == first.line else 0
        part = excerpt(line, start, start + inserted, room)
        yield layout.line(str(number), part.text)
        if len(lines) == 1 and inserted:
            row = Row()
            row.put(part.column(start), "~" * max(1, part.column(start + inserted) - part.column(start)), Tone.HELP)
            yield layout.line("", row.paint(layout.palette))
    if len(lines) > _FIX_LINES:
        yield layout.palette.paint("...", Tone.QUIET)


def _edit(fix: Fix, source: SourceFile) -> list[str]:
    """The lines that a fix touches, with the fix applied."""
    span = clamp(fix.span, source)
    start, end = source.position(span.start), source.position(span.end)
    before = source.line_text(start.line)[: start.column - 1]
    after = source.line_text(end.line)[end.column - 1 :]
    return [line.removesuffix("\r") for line in (before + fix.replacement + after).split("\n")]


def _summary(reports: Sequence[Report], visible: Sequence[Report], palette: Palette) -> Iterator[str]:
    """What was left out, how many reports there are, and where to read more."""
    if left_out := len(reports) - len(visible):
        yield f"{palette.paint('note', Tone.NOTE)}: {plural(left_out, 'more report')} not shown"
    worst = Severity.ERROR if any(r.diagnostic.severity is Severity.ERROR for r in reports) else Severity.LINT
    yield palette.paint(worst.value, _TONES[worst]) + palette.paint(f": {printable(tally(reports))}", Tone.STRONG)
    codes = sorted({report.diagnostic.code for report in visible})
    others = ", ".join(codes[1:_CODES_NAMED]) + (", …" if len(codes) > _CODES_NAMED else "")
    yield f"for more information: teenyc explain {codes[0]}" + (f" (or {others})" if others else "")
