"""Lints that the checker makes as scopes end and when a kernel is whole."""

from __future__ import annotations

from collections.abc import Iterable

from teenyc.check.context import Checked, Context, Symbol
from teenyc.diagnostics.model import Reporter
from teenyc.intrinsics import TABLE, spoken
from teenyc.intrinsics.spec import Effect
from teenyc.ir import nodes as ir
from teenyc.syntax import ast


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


def lint_result(context: Context, node: ast.Expression, value: Checked, start: int) -> None:
    """Reports a call whose value goes nowhere; `start` is where the operations begin that it became."""
    made = context.statements[start:]
    is_call = isinstance(node, ast.Call | ast.MethodCall) and isinstance(value, ir.Value)
    if not is_call or not made or not all(map(_is_idle, made)):
        return
    from teenyc.diagnostics.catalog.lints import UnusedResult

    last = made[-1].operation if isinstance(made[-1], ir.Let) else None
    name = spoken(last.intrinsic) if isinstance(last, ir.Call) else None
    context.report(UnusedResult(span=node.span, function=name))


def _is_idle(statement: ir.Statement) -> bool:
    """Whether a statement does nothing but give values."""
    if not isinstance(statement, ir.Let) or isinstance(statement.operation, ir.Apply):
        return False
    operation = statement.operation
    return not isinstance(operation, ir.Call) or TABLE[operation.intrinsic].effects <= {Effect.READS}
