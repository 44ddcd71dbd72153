"""Lints that the checker makes as scopes end and when a kernel is whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeGuard

from teenyc.check.context import NOTHING, Checked, Context, Invalid, Symbol
from teenyc.check.operators import COMPARISON
from teenyc.diagnostics.model import Reporter
from teenyc.intrinsics import TABLE, spoken
from teenyc.intrinsics.spec import Effect
from teenyc.ir import nodes as ir
from teenyc.syntax import ast
from teenyc.types import BOOL, TensorType


def lint_symbols(symbols: Iterable[Symbol], context: Context) -> None:
    """Reports variables and parameters that nobody reads, and `mut` that nobody needs. Masks that nobody reads may be
    meant for an access: they are noted, and judged at the end."""
    for symbol in symbols:
        if symbol.is_silent:
            continue
        if not symbol.is_read and _is_mask(symbol):
            context.idle_masks.append(symbol)
        elif not symbol.is_read:
            report_unused(symbol, context.reporter)
        elif symbol.mutable and not symbol.is_assigned:
            from teenyc.diagnostics.catalog.lints import UnusedMutable

            context.report(UnusedMutable(span=symbol.span, name=symbol.name, mut=symbol.mut))


def _is_mask(symbol: Symbol) -> bool:
    type = symbol.current.type if isinstance(symbol.current, ir.Value) else None
    return isinstance(type, TensorType) and type.element == BOOL and bool(type.shape) and not symbol.is_parameter


def report_unused(symbol: Symbol, reporter: Reporter) -> None:
    """Reports a variable or parameter that nobody reads."""
    from teenyc.diagnostics.catalog.lints import UnusedParameter, UnusedVariable

    kind = UnusedParameter if symbol.is_parameter else UnusedVariable
    is_free = not symbol.is_assigned and not symbol.is_public
    reporter.report(kind(span=symbol.span, name=symbol.name, is_free=is_free))


def lint_result(context: Context, node: ast.Expression, value: Checked, start: int) -> None:
    """Reports a statement whose value goes nowhere; `start` is where the operations begin that it became."""
    made = context.statements[start:]
    if isinstance(value, Invalid) or value == NOTHING:
        return
    if not isinstance(node, ast.Call | ast.MethodCall):
        _lint_operation(context, node)
    elif isinstance(value, ir.Value) and made and all(map(_is_idle, made)):
        from teenyc.diagnostics.catalog.lints import UnusedResult

        last = made[-1].operation if isinstance(made[-1], ir.Let) else None
        name = spoken(last.intrinsic) if isinstance(last, ir.Call) else None
        context.report(UnusedResult(span=node.span, function=name))


def _lint_operation(context: Context, node: ast.Expression) -> None:
    """Reports an operator, a name or a number as a statement; what has blocks says nothing itself."""
    kind = "comparison" if _is_comparison(node) else _KINDS.get(type(node))
    if kind is not None:
        from teenyc.diagnostics.catalog.lints import UnusedOperation

        context.report(UnusedOperation(span=node.span, kind=kind, instead=_meant(context, node)))


_KINDS: Mapping[type, str] = {
    ast.Unary: "operation",
    ast.Binary: "operation",
    ast.Cast: "conversion",
    ast.Index: "expression",
    ast.FieldAccess: "expression",
    ast.Tuple: "tuple",
    ast.PathExpression: "name",
    ast.IntegerLiteral: "number",
    ast.FloatLiteral: "number",
    ast.BoolLiteral: "number",
}
"""What stands as a statement only by mistake, in words."""


def _is_comparison(node: ast.Expression) -> TypeGuard[ast.Binary]:
    return isinstance(node, ast.Binary) and node.operator in COMPARISON


def _meant(context: Context, node: ast.Expression) -> str | None:
    """The assignment that `n == 5;`, `n + 1;` and `--n;` may stand for, where `n` can be assigned."""
    match node:
        case ast.Binary(left=ast.PathExpression(segments=(only,)), operator=sign):
            change = "= …" if sign == "==" else None if _is_comparison(node) else f"{sign}= …"
        case ast.Unary(operator="-", operand=ast.Unary(operator="-", operand=ast.PathExpression(segments=(only,)))):
            change = "-= 1"
        case _:
            return None
    symbol = context.lookup(only.name.text)
    is_assignable = change is not None and symbol is not None and symbol.mutable
    return f"to change it, write `{only.name.text} {change}`" if is_assignable else None


def _is_idle(statement: ir.Statement) -> bool:
    """Whether a statement does nothing but give values."""
    if not isinstance(statement, ir.Let) or isinstance(statement.operation, ir.Apply):
        return False
    operation = statement.operation
    return not isinstance(operation, ir.Call) or TABLE[operation.intrinsic].effects <= {Effect.READS}
