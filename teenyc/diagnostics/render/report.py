"""What is rendered: a `Report` is a diagnostic with its source; which reports are shown, where they are, how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from teenyc.diagnostics.model import LIMIT, Diagnostic, Severity
from teenyc.record import record
from teenyc.source import Position, SourceFile, Span


@record
class Report:
    """A diagnostic and the source that it is about, None for what has no source (a missing file)."""

    diagnostic: Diagnostic
    source: SourceFile | None = None

    @property
    def span(self) -> Span | None:
        """The place of the report, inside its source; None where there is no source to point into."""
        span = self.diagnostic.span
        return None if span is None or self.source is None else clamp(span, self.source)


def clamp(span: Span, source: SourceFile) -> Span:
    """The part of a span that lies in the source."""
    start = min(max(span.start, 0), len(source.text))
    return Span(start, min(max(span.end, start), len(source.text)))


def ends(span: Span, source: SourceFile) -> tuple[Position, Position]:
    """Line and column where a span starts, and where it ends (exclusive)."""
    return source.position(span.start), source.position(span.end)


def shown(reports: Sequence[Report]) -> list[Report]:
    """The reports to show: all, or of a source with more than `LIMIT` the first errors, then the first lints.

    They stay in the given order. What is left out is only counted.
    """
    room = dict.fromkeys((_name(r) for r in reports), LIMIT)
    chosen: set[int] = set()
    for index in sorted(range(len(reports)), key=lambda i: reports[i].diagnostic.severity is not Severity.ERROR):
        name = _name(reports[index])
        if room[name] > 0:
            room[name] -= 1
            chosen.add(index)
    return [report for index, report in enumerate(reports) if index in chosen]


def count(reports: Sequence[Report], severity: Severity) -> int:
    """How many of the reports are of one severity."""
    return sum(report.diagnostic.severity is severity for report in reports)


def tally(reports: Sequence[Report]) -> str:
    """How many errors and warnings there are, and where: `2 errors, 1 warning in softmax.tk`."""
    counts = Counter(report.diagnostic.severity for report in reports)
    kinds = [plural(counts[s], s.value) for s in Severity if counts[s]]
    names = sorted({report.source.name for report in reports if report.source})
    where = f" in {names[0]}" if len(names) == 1 else f" in {len(names)} files" if names else ""
    return ", ".join(kinds) + where


def plural(number: int, word: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _name(report: Report) -> str:
    return report.source.name if report.source else ""
