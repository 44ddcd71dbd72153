"""Arguments that cannot be what a parameter takes, judged by their form, before they are read for their value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import assert_never

from teenyc.check.context import Context
from teenyc.intrinsics.spec import REQUIRED, Param, Role
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import DTYPES

NEEDS: Mapping[Role, str] = MappingProxyType(
    {
        Role.VALUE: "a number or a tensor",
        Role.POINTER: "a pointer",
        Role.MASK: "a bool or a mask",
        Role.SHAPE: "a list such as `&[N, 4]`",
        Role.EXTENT: "an integer known at compile time",
        Role.AXIS: "an axis: an integer known at compile time",
        Role.INDICES: "a list such as `&[i, j]`, of integers",
        Role.AXES: "a list of axes such as `&[1, 0]`",
        Role.FLAG: "`true` or `false`, known at compile time",
        Role.DTYPE: "a type such as `f32`",
        Role.TEXT: "a string",
    }
)
"""What each role takes, in the words of reports; a choice names its own."""


LISTS = (Role.SHAPE, Role.AXES, Role.INDICES)
"""The roles that take a list."""


def is_misfit(context: Context, function: str, param: Param, node: ast.Expression) -> bool:
    """Whether the form of an argument rules it out; reports it then."""
    found = _form(context, node)
    if found is None:
        return False
    wrong(context, function, param, node.span, found)
    return True


def wrong(
    context: Context, function: str, param: Param, span: Span, found: str, node: ast.Expression | None = None
) -> None:
    """Reports an argument that is not what its parameter takes; `node` may name a type, or lack brackets."""
    from teenyc.diagnostics.catalog.types import WrongArgument

    listed = ", ".join(f'`"{choice}"`' for choice in param.choices)
    needs = NEEDS.get(param.role) or f"one of {listed}"
    type = _type_name(context, node)
    advice = ""
    if node is not None and param.role in LISTS and word(node) and not type:
        advice = f"write `{as_list([node])}`"
    elif type and param.role is Role.DTYPE:
        advice = f"write `{type}`"
    elif type and _takes_dtype(function):
        advice = f"a type is given by name, `dtype = {type}`, or by a cast, `x as {type}`"
    wrong = WrongArgument(span=span, function=function, name=param.name, needs=needs, found=found, advice=advice)
    context.report(wrong)


def is_spread(context: Context, function: str, by_place: Sequence[Param], positional: Sequence[ast.Argument]) -> bool:
    """Whether the parts of a list, such as a shape, stand there one by one; reports it then."""
    param = next((p for p in by_place[: len(positional)] if p.role in LISTS), None)
    items = items_of_list(by_place, param, positional) if param is not None else []
    if param is None or len(items) < 2 or not all(map(word, items)):
        return False
    from teenyc.diagnostics.catalog.types import WrongArgument

    advice, found = f"write `{as_list(items)}`", "a list without its `&[…]`"
    span, needs = items[0].span.to(items[-1].span), NEEDS[param.role]
    context.report(
        WrongArgument(span=span, function=function, name=param.name, needs=needs, found=found, advice=advice)
    )
    return True


def items_of_list(by_place: Sequence[Param], param: Param, positional: Sequence[ast.Argument]) -> list[ast.Expression]:
    """The arguments from where a list belongs up to a type, or to those that a call must give behind it."""
    place = by_place.index(param)
    behind = sum(p.default is REQUIRED for p in by_place[place + 1 :])
    items = [a.value for a in positional[place : len(positional) - behind]]
    return list(takewhile(lambda item: word(item) not in DTYPES, items))


def as_list(items: Sequence[ast.Expression]) -> str:
    """Numbers and names as the list that they are meant to be; `…` for what is longer."""
    words = [word(item) for item in items]
    return f"&[{', '.join(w or '…' for w in words)}]" if any(words) else "&[…]"


def word(node: ast.Expression) -> str:
    """A number or a name as it is written; nothing for what is longer."""
    match node:
        case ast.IntegerLiteral():
            return str(node.value)
        case ast.Unary(operator="-", operand=ast.IntegerLiteral() as number):
            return f"-{number.value}"
        case ast.PathExpression(segments=(only,)) if only.name.text != "None":
            return only.name.text
        case _:
            return ""


def _type_name(context: Context, node: ast.Expression | None) -> str:
    """The type of this language that an expression such as `f16`, `float16` or `tl.float16` is meant to name."""
    from teenyc.check import other_names

    name = ""
    if isinstance(node, ast.PathExpression):
        name = node.segments[-1].name.text
    elif isinstance(node, ast.FieldAccess) and isinstance(node.operand, ast.PathExpression):
        name = node.name.text if node.operand.segments[0].name.text in other_names.MODULES else ""
    if name in DTYPES or name in context.elements:
        return name
    advice = other_names.type_(name) if name else ""
    return advice.removeprefix("write `").partition("`")[0] if advice.startswith("write `") else ""


def _takes_dtype(function: str) -> bool:
    """Whether a function has a parameter for a type."""
    from teenyc.intrinsics import find, find_operator

    record = find(function) or find_operator(function)
    return record is not None and any(p.role is Role.DTYPE for p in record.params)


def form_of(context: Context, node: ast.Expression) -> str | None:
    """What an argument is where a function is needed; None for what a report need not name."""
    found = None if isinstance(node, ast.PathExpression) else form(context, node)
    return None if found == "one value" else found


def form(context: Context, node: ast.Expression) -> str:
    """What an argument is, for a report on one that was not read."""
    found = _form(context, node)
    if found is not None:
        return found
    match node:
        case ast.IntegerLiteral() | ast.FloatLiteral():
            return f"the number `{node.value}`"
        case ast.BoolLiteral():
            return f"`{str(node.value).lower()}`"
        case _:
            return "one value"


def _form(context: Context, node: ast.Expression) -> str | None:
    """What an expression is that has no value of its own; None for one that has, or may have."""
    match node:
        case ast.StringLiteral():
            return "a string"
        case ast.Array():
            return "a list"
        case ast.Tuple():
            return "a tuple"
        case ast.Range():
            return "a range"
        case ast.Closure():
            return "a closure"
        case ast.PathExpression():
            return _path_form(context, node)
        case (
            ast.IntegerLiteral()
            | ast.FloatLiteral()
            | ast.BoolLiteral()
            | ast.Unary()
            | ast.Binary()
            | ast.Cast()
            | ast.Call()
            | ast.MethodCall()
            | ast.FieldAccess()
            | ast.Index()
            | ast.If()
            | ast.Match()
            | ast.Block()
        ):
            return None
        case _:
            assert_never(node)


def _path_form(context: Context, node: ast.PathExpression) -> str | None:
    from teenyc.intrinsics import find

    name = node.segments[-1].name.text
    is_variable = context.lookup(name) is not None or name in context.declarations.constants
    if len(node.segments) != 1 or is_variable:
        return None
    if name in context.elements or name in DTYPES:
        return f"the type `{name}`"
    is_function = name in context.declarations.functions or find(name) is not None
    return f"the function `{name}`" if is_function else None
