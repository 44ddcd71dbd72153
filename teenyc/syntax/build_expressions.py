"""Builders of the grammar's section on expressions: productions in, nodes of `ast` out, mistakes reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from teenyc.record import replace
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.syntax.build_operators import operation, operator
from teenyc.syntax.build_types import Generics, Segments, name_of
from teenyc.syntax.context import Context
from teenyc.syntax.literals import read_number, read_string
from teenyc.syntax.tokens import Token


def literal(context: Context, start: int, end: int, token: Token) -> ast.Expression:
    span = Span(start, end)
    if token.kind in ("INTEGER", "FLOAT"):
        return read_number(token, context.report)
    if token.kind in ("true", "false"):
        return ast.BoolLiteral(value=token.kind == "true", span=span)
    return ast.StringLiteral(value=read_string(token, context.report), span=span)


def negative(context: Context, start: int, end: int, token: Token) -> ast.Unary:
    return ast.Unary(operator="-", operand=read_number(token, context.report), span=Span(start, end))


def path_expression(_context: Context, start: int, end: int, path: Token | Segments) -> ast.PathExpression:
    segments = (ast.Segment(name=name_of(path)),) if isinstance(path, Token) else path
    return ast.PathExpression(segments=segments, span=Span(start, end))


def wildcard(_context: Context, start: int, end: int, token: Token) -> ast.PathExpression:
    return ast.PathExpression(segments=(ast.Segment(name=name_of(token)),), span=Span(start, end))


def parenthesized(_context: Context, start: int, end: int, inner: ast.Expression) -> ast.Expression:
    """The expression in parentheses; they belong to its span, so that the span can be wrapped, cast, or moved."""
    return replace(inner, span=Span(start, end))


def tuple_(_context: Context, start: int, end: int, *items: ast.Expression) -> ast.Tuple:
    return ast.Tuple(items=items, span=Span(start, end))


def array(_context: Context, start: int, end: int, *items: ast.Expression) -> ast.Array:
    return ast.Array(items=items, span=Span(start, end))


# ---- prefixes and suffixes ------------------------------------------------------------------------------------------


def prefix(context: Context, start: int, end: int, sign: Token, *operands: Any) -> ast.Expression:
    operand: ast.Expression = operands[-1]
    if sign.text in ("-", "!"):
        return ast.Unary(operator=sign.text, operand=operand, span=Span(start, end))
    if sign.text == "&" and len(operands) == 1 and isinstance(operand, ast.Array):
        return replace(operand, span=Span(start, end))
    from teenyc.diagnostics.catalog.syntax import HostExpression

    if sign.text == "*" and context.text[start - 1] == "*":
        context.report(HostExpression(span=Span(start - 1, start + 1), operator="**"))
    else:
        context.report(HostExpression(span=Span(start, start + len(sign.text)), operator=sign.text))
    return operand


def cast(_context: Context, start: int, end: int, operand: ast.Expression, target: Segments) -> ast.Cast:
    span = Span(target[0].name.span.start, end)
    return ast.Cast(operand=operand, target=ast.PathType(segments=target, span=span), span=Span(start, end))


def arguments(_context: Context, _start: int, _end: int, *given: ast.Argument) -> tuple[ast.Argument, ...]:
    return given


def argument(context: Context, start: int, end: int, *parts: Any) -> ast.Argument:
    name = name_of(parts[0]) if len(parts) > 1 else None
    if name is not None:
        context.named.add(name.text)
    return ast.Argument(value=parts[-1], name=name, span=Span(start, end))


def call(
    context: Context, start: int, end: int, callee: ast.Expression, given: tuple[ast.Argument, ...]
) -> ast.Call | ast.MethodCall:
    """A call; of `x.f` without parentheses around it, the call of a method."""
    _check_order(context, given)
    span = Span(start, end)
    if isinstance(callee, ast.FieldAccess) and callee.span.end == callee.name.span.end:
        method = ast.Segment(name=callee.name)
        return ast.MethodCall(receiver=callee.operand, method=method, arguments=given, span=span)
    return ast.Call(callee=callee, arguments=given, span=span)


def _check_order(context: Context, given: tuple[ast.Argument, ...]) -> None:
    named: ast.Argument | None = None
    for argument in given:
        if argument.name:
            named = named or argument
        elif named:
            from teenyc.diagnostics.catalog.syntax import PositionalAfterNamed

            context.report(PositionalAfterNamed(span=argument.span, named=named.span))
            return


def method_call(
    context: Context,
    start: int,
    end: int,
    receiver: ast.Expression,
    name: Token,
    generics: Generics,
    given: tuple[ast.Argument, ...],
) -> ast.MethodCall:
    _check_order(context, given)
    method = ast.Segment(name=name_of(name), generics=tuple(generics))
    return ast.MethodCall(receiver=receiver, method=method, arguments=given, span=Span(start, end))


def field(_context: Context, start: int, end: int, operand: ast.Expression, name: Token) -> ast.FieldAccess:
    """`x.name` or `x.0`; in `x.0.1` the tokens are `x`, `.` and the float `0.1`."""
    if name.kind == "FLOAT":
        first, _, rest = name.text.partition(".")
        middle = name.start + len(first)
        operand = ast.FieldAccess(
            operand=operand, name=ast.Name(first, Span(name.start, middle)), span=Span(start, middle)
        )
        name = Token("INTEGER", middle + 1, name.end, rest)
    return ast.FieldAccess(operand=operand, name=name_of(name), span=Span(start, end))


def index(_context: Context, start: int, end: int, operand: ast.Expression, at: ast.Expression) -> ast.Index:
    return ast.Index(operand=operand, index=at, span=Span(start, end))


# ---- ranges, closures, ifs and matches ------------------------------------------------------------------------------


def range_(_context: Context, start: int, end: int, *parts: Any) -> ast.Range:
    inclusive = any(isinstance(p, Token) for p in parts)
    first, stop = (p for p in parts if not isinstance(p, Token))
    return ast.Range(start=first, stop=stop, inclusive=inclusive, span=Span(start, end))


def range_to(_context: Context, start: int, end: int, *parts: Any) -> ast.Range:
    return ast.Range(start=None, stop=parts[-1], inclusive=len(parts) > 1, span=Span(start, end))


def closure(context: Context, start: int, end: int, *parts: Any) -> ast.Closure:
    """A closure as far as a report needs it: how its parameters and its body are written."""
    *before, body = [p for p in parts if not isinstance(p, Token) and p is not None]
    if isinstance(body, ast.Block) and not body.statements and body.value is not None:
        body = body.value
    names: list[str] = []
    for part in before:
        if isinstance(part, ast.NamePattern):
            names.append(part.name.text)
        elif names and not isinstance(part, ast.TuplePattern):  # the type of the parameter before it, or of the result
            names[-1] += f": {context.text[part.span.start : part.span.end]}" if ":" not in names[-1] else ""
    is_simple = not isinstance(body, ast.Block) and not any(isinstance(p, ast.TuplePattern) for p in before)
    text = context.text[body.span.start : body.span.end] if is_simple else ""
    return ast.Closure(parameters=tuple(names), body=text, span=Span(start, end))


def if_(
    _context: Context,
    start: int,
    end: int,
    condition: ast.Expression,
    then: ast.Block,
    otherwise: ast.Block | ast.If | None,
) -> ast.If:
    return ast.If(condition=condition, then=then, otherwise=otherwise, span=Span(start, end))


def assignment_condition(
    context: Context, start: int, end: int, left: ast.Expression, sign: Token, right: ast.Expression
) -> ast.Expression:
    """`x = 0` as a condition: reported, and read as the comparison that was meant."""
    from teenyc.diagnostics.catalog.syntax import AssignmentInCondition

    span = Span(sign.start, sign.end)
    context.report(AssignmentInCondition(span=span))
    return ast.Binary(operator="==", left=left, right=right, operator_span=span, span=Span(start, end))


def match(_context: Context, start: int, end: int, scrutinee: ast.Expression, *arms: ast.MatchArm) -> ast.Match:
    return ast.Match(scrutinee=scrutinee, arms=arms, span=Span(start, end))


def match_arm(context: Context, start: int, end: int, *parts: Any) -> ast.MatchArm:
    patterns, guard, value = parts[-3:]
    context.allow(parts, Span(start, end))
    if isinstance(value, ast.Jump):
        value = ast.Block(statements=(value,), value=None, span=value.span)
    return ast.MatchArm(patterns=patterns, guard=guard, value=value, span=Span(start, end))


def alternatives(_context: Context, _start: int, _end: int, *patterns: ast.Expression) -> tuple[ast.Expression, ...]:
    return patterns


BUILDERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "literal": literal,
        "negative": negative,
        "path_expression": path_expression,
        "wildcard": wildcard,
        "parenthesized": parenthesized,
        "tuple": tuple_,
        "array": array,
        "prefix": prefix,
        "cast": cast,
        "operation": operation,
        "statement_operation": operation,
        "operator": operator,
        "arguments": arguments,
        "argument": argument,
        "call": call,
        "method_call": method_call,
        "field": field,
        "index": index,
        "range": range_,
        "range_to": range_to,
        "closure": closure,
        "if": if_,
        "assignment_condition": assignment_condition,
        "match": match,
        "match_arm": match_arm,
        "alternatives": alternatives,
    }
)
