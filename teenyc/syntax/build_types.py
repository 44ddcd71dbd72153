"""Builders of the grammar's section on types, and of paths: productions in, nodes of `ast` out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from teenyc.record import replace
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.syntax.context import Context
from teenyc.syntax.tokens import Token

Generics: TypeAlias = "tuple[ast.TypeExpression | ast.Expression, ...]"
Segments: TypeAlias = "tuple[ast.Segment, ...]"


def name_of(token: Token) -> ast.Name:
    """A name: `r#type` is `type`, and what Unicode writes in two ways is one (NFC), as in Rust."""
    text = token.text.removeprefix("r#")
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFC", text)
    return ast.Name(text, Span(token.start, token.end))


def last_name(type_: ast.TypeExpression) -> ast.Name | None:
    """The last name of a path: `Float` of `teeny::dtype::Float`."""
    return type_.segments[-1].name if isinstance(type_, ast.PathType) else None


def path_type(_context: Context, start: int, end: int, *parts: Segments | ast.Segment | Generics) -> ast.PathType:
    return ast.PathType(segments=_joined(parts), span=Span(start, end))


def type_segment(_context: Context, _start: int, _end: int, name: Token, generics: Generics | None) -> ast.Segment:
    return ast.Segment(name=name_of(name), generics=generics or ())


def qualified(
    _context: Context, _start: int, _end: int, type_: ast.TypeExpression, _trait: ast.PathType | None
) -> Segments:
    """`<T as Triton>` before `::`: the trait says nothing that teenyc does not know."""
    return type_.segments if isinstance(type_, ast.PathType) else ()


def type_arguments(_context: Context, _start: int, _end: int, *arguments: Any) -> _Generics:
    kept = (_unwrapped(a) for a in arguments if a is not None and not isinstance(a, Token))
    return _Generics(kept)


class _Generics(tuple[Any, ...]):
    """Generic arguments, told apart from the segments of a path."""

    __slots__ = ()


def _unwrapped(argument: ast.TypeExpression | ast.Expression) -> ast.TypeExpression | ast.Expression:
    """`{N * 2}` is the expression in it."""
    if isinstance(argument, ast.Block) and not argument.statements and argument.value is not None:
        return argument.value
    return argument


def _joined(parts: tuple[Any, ...]) -> Segments:
    """One tuple of segments from words, segments, tuples of them, and generic arguments of the segment before."""
    segments: list[ast.Segment] = []
    for part in parts:
        if isinstance(part, Token):
            segments.append(ast.Segment(name=name_of(part)))
        elif isinstance(part, _Generics):
            if segments:
                segments[-1] = replace(segments[-1], generics=tuple(part))
        elif isinstance(part, ast.Segment):
            segments.append(part)
        else:
            segments += part
    return tuple(segments)


def path(_context: Context, _start: int, _end: int, *parts: Any) -> Segments:
    return _joined(parts)


def binding(_context: Context, _start: int, _end: int, *_parts: Any) -> None:
    """`Output = T` says nothing that teenyc does not know."""


def bound(_context: Context, _start: int, _end: int, *parts: Any) -> ast.Name | None:
    """The name of a trait; None for a lifetime. The arguments of `Fn(A) -> B` are dropped."""
    trait = next((part for part in parts if isinstance(part, ast.PathType)), None)
    return None if trait is None else last_name(trait)


def bounds(_context: Context, _start: int, _end: int, *names: ast.Name | None) -> tuple[ast.Name, ...]:
    return tuple(name for name in names if name is not None)


def where(_context: Context, _start: int, _end: int, *_predicates: Any) -> None:
    """Where-clauses are dropped."""


def tuple_type(_context: Context, start: int, end: int, *items: ast.TypeExpression) -> ast.TupleTypeExpression:
    return ast.TupleTypeExpression(items=items, span=Span(start, end))


def parenthesized_type(_context: Context, start: int, end: int, type_: ast.TypeExpression) -> ast.TypeExpression:
    return replace(type_, span=Span(start, end))


def other_type(context: Context, start: int, end: int, *_parts: Any) -> ast.OtherType:
    return ast.OtherType(text=context.text[start:end], span=Span(start, end))


BUILDERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "path_type": path_type,
        "type_segment": type_segment,
        "qualified": qualified,
        "type_arguments": type_arguments,
        "path": path,
        "long_path": path,
        "binding": binding,
        "bound": bound,
        "bounds": bounds,
        "where": where,
        "tuple_type": tuple_type,
        "parenthesized_type": parenthesized_type,
        "other_type": other_type,
    }
)
