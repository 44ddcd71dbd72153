"""Puts flat lists of operands and infix operators in order by Rust's precedence, and reports what Rust forbids."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.syntax.context import Context
from teenyc.syntax.tokens import Token

PRECEDENCE: Mapping[str, int] = MappingProxyType(
    {
        operator: level
        for level, operators in enumerate(
            ("||", "&&", "== != < <= > >=", "|", "^", "&", "<< >>", "+ -", "* / %"),
        )
        for operator in operators.split()
    }
)
"""How tight an operator binds; all associate to the left, but comparisons to no side."""

_COMPARISON = PRECEDENCE["=="]
COMPARISONS = frozenset(operator for operator, level in PRECEDENCE.items() if level == _COMPARISON)


def operator(context: Context, start: int, end: int, *parts: Token) -> Token:
    """`>>` and `>=`, which the grammar reads as two tokens each."""
    text = "".join(p.text for p in parts)
    if end - start != len(text):
        from teenyc.diagnostics.catalog.syntax import SplitOperator

        context.report(SplitOperator(span=Span(start, end), operator=text))
    return Token(text, start, end, text)


def operation(context: Context, _start: int, _end: int, first: ast.Expression, *rest: Any) -> ast.Expression:
    """Operands and operators in turn, to one tree; long chains take no recursion."""
    operands: list[ast.Expression] = [first]
    waiting: list[Token] = []
    for sign, operand in zip(rest[::2], rest[1::2], strict=True):
        _check_cast(context, operands[-1], sign)
        level = PRECEDENCE[sign.text]
        while waiting and PRECEDENCE[waiting[-1].text] >= level:
            _combine(context, operands, waiting.pop())
        operands.append(operand)
        waiting.append(sign)
    while waiting:
        _combine(context, operands, waiting.pop())
    return operands[0]


def _combine(context: Context, operands: list[ast.Expression], sign: Token) -> None:
    right = operands.pop()
    left = operands.pop()
    span = Span(left.span.start, right.span.end)
    at = Span(sign.start, sign.end)
    if sign.text in COMPARISONS and (first := _bare_comparison(left)):
        from teenyc.diagnostics.catalog.syntax import ChainedComparison

        hint = _chain_hint(context, left, sign, right)
        context.report(ChainedComparison(span=at, hint=hint, first=first.operator_span))
    operands.append(ast.Binary(operator=sign.text, left=left, right=right, operator_span=at, span=span))


def _bare_comparison(side: ast.Expression) -> ast.Binary | None:
    """A comparison that is not in parentheses: those would make its span wider than its operands."""
    if isinstance(side, ast.Binary) and side.operator in COMPARISONS and side.span.start == side.left.span.start:
        return side
    return None


def _chain_hint(context: Context, left: ast.Expression, sign: Token, right: ast.Expression) -> str:
    assert isinstance(left, ast.Binary)
    if left.operator == "<" and sign.text == ">" and isinstance(left.left, ast.PathExpression):
        name = context.text_of(left.left.span)
        if context.text[right.span.start : right.span.start + 1] == "(":
            return f"generic arguments of a function need `::`: `{name}::<…>(…)`"
    middle = left.right
    if isinstance(middle, ast.Binary) and middle.operator in ("&", "|", "^"):
        return f"`{middle.operator}` binds tighter than a comparison: put parentheses around the comparisons"
    return "compare twice, with parentheses: `(a < b) & (b < c)`"


def _check_cast(context: Context, operand: ast.Expression, sign: Token) -> None:
    """Rust takes `<` behind a type for the start of generic arguments."""
    if sign.text not in ("<", "<<") or not isinstance(operand, ast.Cast):
        return
    is_bare = operand.span.end == operand.target.span.end  # no parentheses around the cast
    if is_bare and isinstance(operand.target, ast.PathType) and not operand.target.segments[-1].generics:
        from teenyc.diagnostics.catalog.syntax import CastThenLess

        text = context.text_of(operand.span)
        span = Span(sign.start, sign.end)
        context.report(CastThenLess(span=span, cast=operand.span, text=text, operator=sign.text))
