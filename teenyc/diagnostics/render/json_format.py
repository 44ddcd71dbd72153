"""Reports as JSON for editors and other programs; the schema is described in docs/diagnostics-json.md."""

from __future__ import annotations

import json
from collections.abc import Sequence

from teenyc.diagnostics.edits import as_one
from teenyc.diagnostics.model import Fix, Label, Severity
from teenyc.diagnostics.render.report import Report, clamp, count, ends, shown
from teenyc.source import SourceFile, Span

VERSION = 1
"""Rises when a field goes or changes its meaning; new fields may come without."""


def render_json(reports: Sequence[Report]) -> str:
    """One JSON object, in ASCII, the same for the same reports. It is there also when there are no reports."""
    visible = shown(reports)
    document = {
        "version": VERSION,
        "diagnostics": [_diagnostic(report) for report in visible],
        "summary": {
            "errors": count(reports, Severity.ERROR),
            "warnings": count(reports, Severity.LINT),
            "omitted": len(reports) - len(visible),
        },
    }
    return json.dumps(document, indent=2)


def _diagnostic(report: Report) -> dict[str, object]:
    diagnostic, source = report.diagnostic, report.source
    fix = diagnostic.fix()
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message(),
        "file": source.name if source else None,
        "span": span_of(diagnostic.span, source),
        "labels": _labels(report),
        "notes": list(diagnostic.notes()),
        "help": diagnostic.help(),
        "fix": _fix(fix, source) if fix and source else None,
    }


def _fix(fix: Fix, source: SourceFile) -> dict[str, object]:
    """The fix as one edit, and the edits of which it is made."""
    whole = as_one(fix, source.text)
    edits = [{"span": span_of(e.span, source), "replacement": e.replacement} for e in fix.edits]
    return {"span": span_of(whole.span, source), "replacement": whole.replacement, "edits": edits}


def _labels(report: Report) -> list[dict[str, object]]:
    """The place of the report, then the other places that explain it."""
    diagnostic = report.diagnostic
    if diagnostic.span is None or report.source is None:
        return []
    labels = [Label(diagnostic.span, diagnostic.label()), *diagnostic.secondary()]
    return [
        {"span": span_of(label.span, report.source), "text": label.text, "primary": index == 0}
        for index, label in enumerate(labels)
    ]


def span_of(span: Span | None, source: SourceFile | None) -> dict[str, object] | None:
    """A place as programs read it."""
    if span is None or source is None:
        return None
    inside = clamp(span, source)
    start, end = ends(inside, source)
    start_byte = source.byte_offset(inside.start)
    return {
        "file": source.name,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "start_byte": start_byte,
        "end_byte": source.byte_offset(inside.end),
    }
