"""`teenyc check --fix` and `--diff`: sources in; sources with their fixes, or what these would change, reports out."""

from __future__ import annotations

import re
import sys
from difflib import unified_diff

from teenyc.cli import DIAGNOSTICS, OK
from teenyc.cli.build import fails, options_for, show
from teenyc.cli.inputs import Input, collect, read
from teenyc.cli.settings import Settings
from teenyc.cli.shared_options import unshared
from teenyc.cli.terminal import progress
from teenyc.diagnostics.model import Diagnostic
from teenyc.diagnostics.render import Report
from teenyc.diagnostics.render.report import plural
from teenyc.diagnostics.render.text import printable
from teenyc.fixes import Fixed, fixed
from teenyc.record import field, state
from teenyc.runtime.files import BOM, read_bytes, write_atomically
from teenyc.source import SourceFile


@state
class _Tally:
    """What was done over all sources."""

    fixed: int = 0
    files: int = 0
    refused: list[tuple[Diagnostic, SourceFile]] = field(default_factory=list)


def fix(settings: Settings) -> int:
    """Fixes every source, shows what is left, says how much was done. The status is that of a check of what is left;
    with `--diff` also 1 where something would change."""
    inputs, problems = collect(settings.files)
    reports = [Report(problem) for problem in problems]
    tally = _Tally()
    if not problems:
        sources = [read(each) for each in inputs]
        for each, source, lacking in zip(inputs, sources, unshared(sources, settings), strict=True):
            if isinstance(source, Diagnostic):
                reports.append(Report(source))
                continue
            with progress(f"fixing {each.name}"):
                found = fixed(source, options_for(settings, lacking))
            if each.below is None or not found.compiled.is_host_code:
                reports += _deliver(each, source, found, settings, tally)
    show(reports, settings)
    for report, file in tally.refused:
        _say_refused(report, file)
    print(_summary(tally, len(reports), settings), file=sys.stderr)
    would_change = settings.diff and tally.fixed > 0
    return DIAGNOSTICS if would_change or fails(reports, settings) else OK


def _deliver(each: Input, source: SourceFile, found: Fixed, settings: Settings, tally: _Tally) -> list[Report]:
    """Writes or prints what became of a source, and gives the reports that are left."""
    problem = None
    if settings.diff:
        _print_diff(source, found.file)
    elif each.path is None:
        print(found.file.text, end="")
    elif found.count:
        problem = _write(each, source, found.file)
    if problem is not None:
        return [Report(problem), *(Report(d, source) for d in found.compiled.diagnostics)]
    tally.fixed += found.count
    tally.files += found.count > 0
    tally.refused += [(report, found.file) for report in found.refused]
    return [Report(d, found.file) for d in found.compiled.diagnostics]


def _write(each: Input, source: SourceFile, made: SourceFile) -> Diagnostic | None:
    """Puts the new text in the place of the old one, unless that is no longer what was read."""
    from teenyc.diagnostics.catalog.inputs import OutputUnwritable, reason_of

    assert each.path is not None, "standard input is no file"
    if read_bytes(each.name) != _content(source):
        return OutputUnwritable(path=each.name, reason="it changed while it was fixed")
    try:
        write_atomically(each.path, _content(made))
    except OSError as error:
        return OutputUnwritable(path=each.name, reason=reason_of(error))
    return None


def _content(file: SourceFile) -> bytes:
    return (BOM if file.bom else b"") + file.text.encode("utf-8")


def _print_diff(before: SourceFile, after: SourceFile) -> None:
    for line in unified_diff(_lines(before.text), _lines(after.text), before.name, before.name):
        print(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n", end="")


def _lines(text: str) -> list[str]:
    """The lines of a text with their ends, of which the last may have none."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _say_refused(report: Diagnostic, file: SourceFile) -> None:
    """Says that a fix was left out."""
    place = file.position(report.span.start) if report.span is not None else None
    where = f"{file.name}:{place.line}:{place.column}" if place is not None else file.name
    print(
        f"{printable(where)}: the fix of {report.code} was left out: other mistakes would come of it", file=sys.stderr
    )


def _summary(tally: _Tally, left: int, settings: Settings) -> str:
    """`fixed 3 problems in 1 file; 1 left`."""
    done = "would fix" if settings.diff else "fixed"
    where = f" in {plural(tally.files, 'file')}" if tally.files else ""
    return f"{done} {plural(tally.fixed, 'problem')}{where}; {left or 'none'} left"
