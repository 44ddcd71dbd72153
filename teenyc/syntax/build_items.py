"""Builders of the grammar's sections on items and Op structs: productions in, nodes of `ast` out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from teenyc.record import replace
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.syntax.build_types import Segments, last_name, name_of
from teenyc.syntax.context import Context
from teenyc.syntax.tokens import Token


def item(context: Context, start: int, _end: int, *parts: Any) -> ast.Function | ast.ConstItem:
    """A function with the attributes before it, or a constant."""
    *before, node = parts
    if isinstance(node, ast.ConstItem):
        return replace(node, doc=context.doc(start, node.name.span.start))
    attributes = [a for a in before if isinstance(a, Token | ast.Attribute)]
    return with_attributes(context, start, attributes, node)


def with_attributes(
    context: Context, start: int, attributes: Sequence[Token | ast.Attribute], function: ast.Function
) -> ast.Function:
    """A function with attributes put before its own; the first token of all is at `start`."""
    read = tuple(_folded(a) if isinstance(a, Token) else a for a in attributes)
    doc = context.doc(start, function.name.span.start)
    return replace(function, attributes=read + function.attributes, doc=doc)


_FOLDED = re.compile(r"#\s*!?\s*\[\s*([\w:\s]*\w)")


def _folded(token: Token) -> ast.Attribute:
    """An attribute other than `#[kernel]`: its arguments mean nothing here."""
    found = _FOLDED.match(token.text)
    name, (start, end) = (found[1], found.span(1)) if found else ("", (0, 0))
    span = Span(token.start + start, token.start + end)
    return ast.Attribute(name=ast.Name("".join(name.split()), span), span=Span(token.start, token.end))


def attribute(
    _context: Context, start: int, end: int, path: Segments, arguments: tuple[ast.Argument, ...] | None
) -> ast.Attribute:
    return ast.Attribute(name=path[-1].name, arguments=arguments or (), span=Span(start, end))


def function(context: Context, start: int, end: int, *parts: Any) -> ast.Function:
    name, generics, parameters, result, _where, body = parts[-6:]
    read = name_of(name)
    return ast.Function(
        name=read,
        attributes=(),
        generics=generics or (),
        parameters=parameters or (),
        result=result,
        body=body,
        doc=context.doc(start, read.span.start),
        span=Span(start, end),
    )


def const_item(
    context: Context, start: int, end: int, name: Token, type_: ast.TypeExpression, value: ast.Expression
) -> ast.ConstItem:
    doc = context.doc(start, name.start)
    return ast.ConstItem(name=name_of(name), type=type_, value=value, doc=doc, span=Span(start, end))


def parameters(_context: Context, _start: int, _end: int, *given: ast.Parameter) -> tuple[ast.Parameter, ...]:
    return given


def parameter(context: Context, start: int, end: int, *parts: Any) -> ast.Parameter:
    pattern, type_ = parts[-2:]
    context.allow(parts, Span(start, end))
    comments = context.comments(start, end)
    return ast.Parameter(name=pattern.name, type=type_, mutable=pattern.mutable, mut=pattern.mut, comments=comments)


def generics(_context: Context, _start: int, _end: int, *given: Any) -> tuple[ast.Generic, ...]:
    """Types and constants; lifetimes are dropped."""
    return tuple(g for g in given if not isinstance(g, Token))


def type_parameter(_context: Context, _start: int, _end: int, *parts: Any) -> ast.TypeParameter:
    name, bounds = [p for p in parts if not _is_attribute(p)][:2]
    return ast.TypeParameter(name=name_of(name), bounds=bounds or ())


def constant_parameter(_context: Context, _start: int, _end: int, *parts: Any) -> ast.ConstantParameter:
    name, type_ = parts[-2:]
    return ast.ConstantParameter(name=name_of(name), type=type_)


def _is_attribute(part: object) -> bool:
    return isinstance(part, Token) and part.kind == "ATTRIBUTE"


# ---- Op structs -----------------------------------------------------------------------------------------------------


class Constructor(NamedTuple):
    """The parameters of an Op's `new` and how it fills the fields; a field filled by its own name has no value."""

    parameters: tuple[ast.Name, ...]
    fields: tuple[tuple[ast.Name, ast.Expression | None], ...]


def op_struct(_context: Context, start: int, end: int, name: Token, *parts: Any) -> ast.OpStruct:
    fields = tuple(p for p in parts if isinstance(p, ast.OpField))
    return ast.OpStruct(name=name_of(name), fields=fields, parameters=None, arguments=(), span=Span(start, end))


def op_field(_context: Context, _start: int, _end: int, *parts: Any) -> ast.OpField | None:
    """A public field whose type has a name; None for any other."""
    is_public, name, type_ = parts[-3:]
    type_name = last_name(type_)
    if not is_public or type_name is None or type_name.text == "PhantomData":
        return None
    return ast.OpField(name=name_of(name), type=type_name)


def visibility(_context: Context, _start: int, _end: int, *_parts: Any) -> bool:
    return True


def op_constructor(_context: Context, _start: int, _end: int, _name: Token, *parts: Any) -> Constructor:
    names = tuple(p for p in parts if isinstance(p, ast.Name))
    return Constructor(names, tuple(p for p in parts if isinstance(p, tuple)))


def op_parameter(_context: Context, _start: int, _end: int, name: Token, _type: ast.TypeExpression) -> ast.Name:
    return name_of(name)


def op_initializer(
    _context: Context, _start: int, _end: int, name: Token, value: ast.Expression | None
) -> tuple[ast.Name, ast.Expression | None]:
    return name_of(name), value


BUILDERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "item": item,
        "function": function,
        "const_item": const_item,
        "attribute": attribute,
        "parameters": parameters,
        "parameter": parameter,
        "generics": generics,
        "type_parameter": type_parameter,
        "constant_parameter": constant_parameter,
        "op_struct": op_struct,
        "op_field": op_field,
        "visibility": visibility,
        "op_constructor": op_constructor,
        "op_parameter": op_parameter,
        "op_initializer": op_initializer,
    }
)
