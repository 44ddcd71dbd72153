"""Builders of the grammar's section on statements: productions in, nodes of `ast` out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from teenyc.record import replace
from teenyc.source import NO_COMMENTS, Comments, Span
from teenyc.syntax import ast
from teenyc.syntax.build_items import with_attributes
from teenyc.syntax.build_types import name_of
from teenyc.syntax.context import Context
from teenyc.syntax.tokens import Token


def block(context: Context, start: int, end: int, *parts: Any) -> ast.Block:
    """A block; what stands last without `;` is its value, unless it is an `if` without `else`, which has none."""
    *statements, tail = parts
    comments: Comments = NO_COMMENTS
    if isinstance(tail, ast.Jump):
        statements.append(replace(tail, comments=context.comments(tail.span.start, tail.span.end)))
        tail = None
    elif tail is not None:
        comments = context.comments(tail.span.start, tail.span.end)
    elif statements and (value := _block_value(statements[-1])):
        comments = statements.pop().comments
        tail = value
    if tail is None:
        comments = context.comments(max(start, end - 1), -1)
    kept = tuple(s for s in statements if s is not None)
    return ast.Block(statements=kept, value=tail, span=Span(start, end), comments=comments)


def _block_value(statement: ast.Statement | None) -> ast.Expression | None:
    if not isinstance(statement, ast.ExpressionStatement) or statement.span != statement.value.span:
        return None
    value = statement.value
    return None if isinstance(value, ast.If) and not _has_else(value) else value


def _has_else(chain: ast.If) -> bool:
    """Whether the last of `if … else if …` has an `else`."""
    while isinstance(chain.otherwise, ast.If):
        chain = chain.otherwise
    return chain.otherwise is not None


def let(
    context: Context,
    start: int,
    end: int,
    pattern: ast.Pattern,
    annotation: ast.TypeExpression | None,
    value: ast.Expression | None,
) -> ast.Let:
    comments = context.comments(start, end)
    return ast.Let(pattern=pattern, annotation=annotation, value=value, span=Span(start, end), comments=comments)


def assign(
    context: Context, start: int, end: int, target: ast.Expression, sign: Token, value: ast.Expression
) -> ast.Assign:
    comments = context.comments(start, end)
    return ast.Assign(target=target, operator=sign.text, value=value, span=Span(start, end), comments=comments)


def expression_statement(context: Context, start: int, end: int, value: ast.Expression) -> ast.ExpressionStatement:
    return ast.ExpressionStatement(value=value, span=Span(start, end), comments=context.comments(start, end))


def empty(_context: Context, _start: int, _end: int) -> None:
    """A `;` alone."""


def for_(
    context: Context,
    start: int,
    end: int,
    label: Token | None,
    pattern: ast.Pattern,
    iterable: ast.Expression,
    body: ast.Block,
) -> ast.For:
    comments = context.comments(start, end)
    span = Span(start, end)
    return ast.For(pattern=pattern, iterable=iterable, body=body, label=_label(label), span=span, comments=comments)


def while_(
    context: Context, start: int, end: int, label: Token | None, condition: ast.Expression, body: ast.Block
) -> ast.While:
    comments = context.comments(start, end)
    return ast.While(condition=condition, body=body, label=_label(label), span=Span(start, end), comments=comments)


def loop(context: Context, start: int, end: int, label: Token | None, body: ast.Block) -> ast.While:
    comments = context.comments(start, end)
    return ast.While(condition=None, body=body, label=_label(label), span=Span(start, end), comments=comments)


def jump(context: Context, start: int, end: int, keyword: Token, *parts: Any) -> ast.Jump:
    label = next((_label(p) for p in parts if isinstance(p, Token)), None)
    value = next((p for p in parts if p is not None and not isinstance(p, Token)), None)
    if value is not None and keyword.text == "break":
        from teenyc.diagnostics.catalog.habits import NotInTheLanguage

        instead = "declare a variable with `let mut` before the loop and assign to it before the `break`"
        context.report(NotInTheLanguage(span=value.span, construct="`break` with a value", instead=instead))
    return ast.Jump(keyword=keyword.text, label=label, value=value, span=Span(start, end))


def jump_statement(context: Context, start: int, end: int, bare: ast.Jump) -> ast.Jump:
    return replace(bare, span=Span(start, end), comments=context.comments(start, end))


def attributed(context: Context, start: int, end: int, attribute: Token | ast.Attribute, statement: Any) -> Any:
    """A statement under an attribute: a function keeps it, anything else only the comments before it."""
    context.allow((attribute,), Span(start, end))
    if isinstance(statement, ast.Function):
        return with_attributes(context, start, [attribute], statement)
    leading = context.comments(start, -1).leading
    if statement is None or isinstance(statement, ast.ConstItem) or not leading:
        return statement
    comments = Comments((*leading, *statement.comments.leading), statement.comments.trailing)
    return replace(statement, comments=comments)


def name_pattern(context: Context, _start: int, _end: int, mut: Token | None, name: Token) -> ast.NamePattern:
    is_plain = mut is not None and not context.text[mut.end : name.start].strip()
    place = Span(mut.start, name.start) if mut is not None and is_plain else None
    return ast.NamePattern(name=name_of(name), mutable=mut is not None, mut=place)


def tuple_pattern(_context: Context, start: int, end: int, *items: ast.Pattern) -> ast.TuplePattern:
    return ast.TuplePattern(items=items, span=Span(start, end))


def _label(token: Token | None) -> ast.Name | None:
    """A label with its quote: `'outer`."""
    return name_of(token) if token else None


BUILDERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "block": block,
        "let": let,
        "assign": assign,
        "expression_statement": expression_statement,
        "block_statement": expression_statement,
        "empty": empty,
        "for": for_,
        "while": while_,
        "loop": loop,
        "jump": jump,
        "jump_statement": jump_statement,
        "attributed": attributed,
        "name_pattern": name_pattern,
        "tuple_pattern": tuple_pattern,
    }
)
