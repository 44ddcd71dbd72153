"""Reports one a line, for editors and `grep`: `softmax.tk:3:13: error[E0201]: unknown name ...`."""

from __future__ import annotations

from collections.abc import Sequence

from teenyc.diagnostics.render.report import Report, plural, shown
from teenyc.diagnostics.render.text import printable


def render_short(reports: Sequence[Report]) -> str:
    """One line a report; where some are left out, a last line says how many."""
    visible = shown(reports)
    lines = [_line(report) for report in visible]
    if left_out := len(reports) - len(visible):
        lines.append(f"{plural(left_out, 'more report')} not shown")
    return "\n".join(lines)


def _line(report: Report) -> str:
    diagnostic, source, span = report.diagnostic, report.source, report.span
    place = f"{printable(source.name)}:" if source else ""
    if source and span:
        position = source.position(span.start)
        place += f"{position.line}:{position.column}:"
    words = f"{diagnostic.severity.value}[{diagnostic.code}]: {printable(diagnostic.message())}"
    return f"{place} {words}" if place else words
