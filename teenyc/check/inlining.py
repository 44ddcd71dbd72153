"""Inlining: a call of a device function goes in; its body is checked where the call is, and its value comes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from teenyc.check.context import NOTHING, Checked, Context, FunctionValue, Symbol
from teenyc.check.returns import without_returns
from teenyc.check.signature import Generics, result_of, trait_of, type_parameters
from teenyc.record import record
from teenyc.source import Span
from teenyc.syntax import ast


@record
class Called:
    """One call: the function, its arguments by parameter, in its types, and what its generics are."""

    function: ast.Function
    arguments: Mapping[str, Checked]
    generics: Generics
    functions: Mapping[str, FunctionValue]
    span: Span


def inlined(context: Context, called: Called) -> Checked:
    """The value of a call, after the statements of the body."""
    with inside(context, called):
        for constant, value in called.generics.constants.items():
            context.declare(Symbol(constant, called.span, value, is_read=True))
        declare(context, called.function, called.arguments, called.functions)
        return body_value(context, called.function)


@contextmanager
def inside(context: Context, called: Called) -> Iterator[None]:
    """The scopes of the function's own: nothing of the caller is visible in it."""
    saved = (context.scopes, context.calling, context.elements, context.loop_depth, context.trait, context.declarations)
    shown = context.declarations.shown(called.function)
    context.scopes, context.calling, context.loop_depth = [{}], (*context.calling, shown), 0
    context.declarations = context.declarations.at(called.function.span)
    context.elements = dict(context.elements)
    for generic in type_parameters(called.function):
        context.elements.pop(generic.name.text, None)
    context.elements.update(called.generics.elements)
    context.trait = trait_of(called.function) or context.trait
    try:
        yield
    finally:
        context.close_scope()
        context.scopes, context.calling, context.elements, context.loop_depth, context.trait = saved[:5]
        context.declarations = saved[5]


def declare(
    context: Context, function: ast.Function, given: Mapping[str, Checked], functions: Mapping[str, FunctionValue]
) -> None:
    """The parameters as variables of the innermost scope."""
    for parameter in function.parameters:
        name = parameter.name.text
        passed = functions.get(name)
        value = given.get(name)
        if passed is not None or value is not None:
            symbol = Symbol(name, parameter.name.span, NOTHING if value is None else value, function=passed)
            symbol.mutable, symbol.mut, symbol.is_parameter = parameter.mutable, parameter.mut, True
            symbol.is_public = name in context.declarations.tree.named
            context.declare(symbol)


def body_value(context: Context, function: ast.Function) -> Checked:
    """The value of a function's body, whose early returns become branches."""
    from teenyc.check.statements import block_value

    def unreachable(statement: Span, jump: Span) -> None:
        from teenyc.diagnostics.catalog.lints import UnreachableCode

        context.report(UnreachableCode(span=statement, jump=jump))

    body = without_returns(function.body, unreachable)
    value = block_value(context, body)
    if body is not function.body:  # a branch gives the result, not the last of what the branches give
        value = context.named(value, "result", function.name.span)
    span = body.value.span if body.value is not None else function.name.span
    return result_of(context, function, value, span)
