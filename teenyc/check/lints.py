"""Lints that the checker makes as scopes end and when a kernel is whole."""

from __future__ import annotations

from collections.abc import Iterable

from teenyc.check.context import Symbol
from teenyc.diagnostics.model import Reporter


def lint_symbols(symbols: Iterable[Symbol], reporter: Reporter) -> None:
    """Reports variables and parameters that nobody reads, and `mut` that nobody needs."""
    for symbol in symbols:
        if symbol.is_silent:
            continue
        if not symbol.is_read:
            _report_unused(symbol, reporter)
        elif symbol.mutable and not symbol.is_assigned:
            from teenyc.diagnostics.catalog.lints import UnusedMutable

            reporter.report(UnusedMutable(span=symbol.span, name=symbol.name))


def _report_unused(symbol: Symbol, reporter: Reporter) -> None:
    from teenyc.diagnostics.catalog.lints import UnusedParameter, UnusedVariable

    kind = UnusedParameter if symbol.is_parameter else UnusedVariable
    reporter.report(kind(span=symbol.span, name=symbol.name))
