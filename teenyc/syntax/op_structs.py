"""Finds how the `new` of an Op struct fills its fields: the `impl` groups of a file go in, arguments come out."""

from __future__ import annotations

from collections.abc import Iterable

from teenyc.record import replace
from teenyc.syntax import ast
from teenyc.syntax.brackets import Nested
from teenyc.syntax.build_items import Constructor
from teenyc.syntax.items import RawItem


def constructor_range(nested: Nested, struct: RawItem, items: Iterable[RawItem]) -> tuple[int, int] | None:
    """The tokens of `fn new` in an `impl` of the struct that implements no trait."""
    tokens, partner = nested.tokens, nested.partner
    for item in items:
        body = _body(nested, item) if item.kind == "impl" else None
        if body is None:
            continue
        header = tokens[item.keyword : body]
        if any(t.kind == "for" for t in header) or not any(t.text == struct.name for t in header):
            continue
        index = body + 1
        while index < partner[body]:
            if tokens[index].kind == "fn" and tokens[index + 1].text == "new":
                return index, _end(nested, index, partner[body])
            index = max(partner[index], index) + 1
    return None


def _body(nested: Nested, item: RawItem) -> int | None:
    index = item.last - 1
    return nested.partner[index] if nested.tokens[index].kind == "}" else None


def _end(nested: Nested, index: int, last: int) -> int:
    while index < last and nested.tokens[index].kind != "{":
        index = max(nested.partner[index], index) + 1
    return nested.partner[index] + 1 if index < last else last


def with_constructor(struct: ast.OpStruct, constructor: Constructor) -> ast.OpStruct:
    """The struct with the parameters of `new`, where that makes each field by `Kernel::new(…)`; else as it is."""
    values = {name.text: value for name, value in constructor.fields}
    arguments = [_argument(field, values.get(field.name.text)) for field in struct.fields]
    made = tuple(a for a in arguments if a is not None)
    if len(made) < len(arguments):
        return struct
    return replace(struct, parameters=constructor.parameters, arguments=made)


def _argument(field: ast.OpField, value: ast.Expression | None) -> ast.OpArgument | None:
    if not isinstance(value, ast.Call) or not isinstance(value.callee, ast.PathExpression):
        return None
    segments = value.callee.segments
    if len(segments) < 2 or segments[-1].name.text != "new" or any(a.name for a in value.arguments):
        return None
    given = tuple(a.value for a in value.arguments)
    return ast.OpArgument(name=field.name, type=segments[-2].name, arguments=given)
