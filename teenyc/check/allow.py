"""`#[allow(…)]`: the reports of a file go in; those that its attributes do not silence come out."""

from __future__ import annotations

from collections.abc import Iterable

from teenyc.diagnostics.model import Diagnostic, Severity
from teenyc.source import Span
from teenyc.syntax import ast

GROUPS = {"unused": "unused_", "warnings": ""}
"""Rust's names for several lints at once, and how the names of those begin."""

_TOOL = "teenyc::"


def unsilenced(diagnostics: Iterable[Diagnostic], allowances: tuple[ast.Allowance, ...]) -> tuple[Diagnostic, ...]:
    """The reports without the lints that are allowed where they stand, and with one for each name that means none."""
    reports = tuple(diagnostics)
    if not allowances:
        return reports
    unknown = [report for allowance in allowances for report in _unknown(allowance)]
    allowed = [(frozenset(map(_plain, a.names)), a.span) for a in allowances]
    kept = [r for r in (*reports, *unknown) if r.severity is Severity.ERROR or not _is_allowed(r, allowed)]
    return tuple(sorted(kept, key=lambda r: (r.span or Span(0, 0), r.code)))


def _is_allowed(report: Diagnostic, allowed: list[tuple[frozenset[str], Span]]) -> bool:
    from teenyc.diagnostics.catalog.lints import Lint

    if report.span is None or not isinstance(report, Lint):
        return False
    name = report.lint_name()
    names = {name, report.code, *(group for group, start in GROUPS.items() if name.startswith(start))}
    return any(s.start <= report.span.start < s.end and not names.isdisjoint(given) for given, s in allowed)


def _plain(name: ast.Name) -> str:
    return name.text.removeprefix(_TOOL)


def _unknown(allowance: ast.Allowance) -> Iterable[Diagnostic]:
    """Names of our own that no lint has; of names that Rust and its tools may know, nothing is said."""
    for name in allowance.names:
        if name.text.startswith(_TOOL):
            from teenyc.diagnostics.catalog.lints import UnknownLint, lint_names
            from teenyc.diagnostics.suggest import closest

            known = lint_names()
            if _plain(name) not in (*known, *known.values(), *GROUPS):
                yield UnknownLint(span=name.span, name=_plain(name), similar=closest(_plain(name), tuple(known)))
