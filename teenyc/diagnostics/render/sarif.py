"""Reports as SARIF 2.1.0, which code hosts and editors show beside the source."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePath
from urllib.parse import quote

from teenyc.diagnostics.explain import explanation
from teenyc.diagnostics.model import Diagnostic, Fix, Severity
from teenyc.diagnostics.render.report import Report, clamp, ends, shown
from teenyc.source import SourceFile, Span
from teenyc.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.LINT: "warning"}

Json = dict[str, object]


def render_sarif(reports: Sequence[Report]) -> str:
    """One SARIF log with one run, in ASCII. Its rules are the codes that occur, in order."""
    visible = shown(reports)
    kinds = {report.diagnostic.code: type(report.diagnostic) for report in visible}
    rules = {code: index for index, code in enumerate(sorted(kinds))}
    driver = {"name": "teenyc", "semanticVersion": __version__, "rules": [_rule(kinds[code]) for code in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(report, rules) for report in visible],
        "properties": {"omitted": len(reports) - len(visible)},
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(kind: type[Diagnostic]) -> Json:
    text = explanation(kind)
    summary = " ".join(text.partition("\n\n")[0].split())
    return {
        "id": kind.code,
        "name": kind.__name__,
        "shortDescription": {"text": summary.partition(". ")[0].removesuffix(".") + "."},
        "fullDescription": {"text": text},
        "help": {"text": f"{text}\n\nThe same text is printed by: teenyc explain {kind.code}"},
        "defaultConfiguration": {"level": _LEVELS[kind.severity]},
    }


def _result(report: Report, rules: dict[str, int]) -> Json:
    diagnostic, source = report.diagnostic, report.source
    result: Json = {
        "ruleId": diagnostic.code,
        "ruleIndex": rules[diagnostic.code],
        "level": _LEVELS[diagnostic.severity],
        "message": _message(_words(diagnostic)),
    }
    if source is None:
        return result
    result["locations"] = [{"physicalLocation": _place(report.span, source)}]
    related = [
        {"id": number, "physicalLocation": _place(label.span, source), "message": _message(label.text or "see here")}
        for number, label in enumerate(diagnostic.secondary(), start=1)
    ]
    fix = diagnostic.fix()
    return result | ({"relatedLocations": related} if related else {}) | ({"fixes": [_fix(report, fix)]} if fix else {})


def _words(diagnostic: Diagnostic) -> str:
    """All that a report says, since most viewers show the message only."""
    label, advice = diagnostic.label(), diagnostic.help()
    lines = [diagnostic.message() + (f": {label}" if label else "")]
    lines += [f"note: {note}" for note in diagnostic.notes()]
    return "\n".join(lines + ([f"help: {advice}"] if advice else []))


def _message(text: str) -> Json:
    """A message with what SARIF would read as a placeholder or a link escaped (3.11.5, 3.11.6)."""
    escaped = text.replace("{", "{{").replace("}", "}}")
    if "](" in escaped:
        escaped = escaped.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return {"text": escaped}


def _place(span: Span | None, source: SourceFile) -> Json:
    artifact: Json = {"artifactLocation": {"uri": _uri(source.name)}}
    return artifact | {"region": _region(span, source)} if span else artifact


def _region(span: Span, source: SourceFile) -> Json:
    start, end = ends(clamp(span, source), source)
    return {
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    }


def _fix(report: Report, fix: Fix) -> Json:
    assert report.source is not None
    replacements = [
        {"deletedRegion": _region(edit.span, report.source), "insertedContent": {"text": edit.replacement}}
        for edit in fix.edits
    ]
    change = {"artifactLocation": {"uri": _uri(report.source.name)}, "replacements": replacements}
    return {"description": _message(report.diagnostic.help() or "apply the edit"), "artifactChanges": [change]}


def _uri(name: str) -> str:
    """A file name as a URI: relative to the working directory, or absolute. Bytes stay, UTF-8 or not."""
    path = PurePath(name)
    try:
        return path.as_uri() if path.is_absolute() else quote(path.as_posix(), errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(path.as_posix(), errors="replace")
