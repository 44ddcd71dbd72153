"""Device functions: a call is checked by checking the function's body with the arguments in place of the parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from teenyc.check import arguments, expressions
from teenyc.check.context import INVALID, NOTHING, Checked, Context, Group, Invalid, Symbol, describe
from teenyc.check.descriptors import stands_for
from teenyc.check.types import annotated, element_of, is_tensor
from teenyc.intrinsics.spec import Param, Role
from teenyc.ir import nodes as ir
from teenyc.syntax import ast
from teenyc.types import DescriptorType, Element, Pointer, TensorType, TypeVar

Generics: TypeAlias = "tuple[ast.TypeExpression | ast.Expression, ...]"


def inline(context: Context, function: ast.Function, node: ast.Call, generics: Generics) -> Checked:
    """The value of `function(arguments)`."""
    name = function.name.text
    if name in context.calling:
        from teenyc.diagnostics.catalog.structure import Recursion

        start = context.calling.index(name)
        return context.report(Recursion(span=node.span, path=(*context.calling[start:], name)))
    params = tuple(Param(p.name.text, Role.VALUE) for p in function.parameters)
    bound = arguments.bind(context, name, params, node.arguments, node.callee.span)
    if bound is None:
        return INVALID
    given = {n: expressions.operand(context, e) for n, e in bound.items()}
    constants = _constants(context, function, generics)
    if constants is None or any(isinstance(v, Invalid) for v in given.values()):
        return INVALID
    with _inside(context, function, name):
        for constant, value in constants.items():
            context.declare(Symbol(constant, node.span, value, is_read=True))
        if not _declare_parameters(context, function, bound, given):
            return INVALID
        return _body(context, function)


@contextmanager
def _inside(context: Context, function: ast.Function, name: str) -> Iterator[None]:
    """The scopes of the function's own: nothing of the caller is visible in it."""
    saved = (context.scopes, context.calling, context.elements, context.loop_depth)
    context.scopes, context.calling, context.loop_depth = [{}], (*context.calling, name), 0
    context.elements = dict(context.elements)
    for generic in function.generics:
        if isinstance(generic, ast.TypeParameter):
            context.elements.pop(generic.name.text, None)
    try:
        yield
    finally:
        context.close_scope()
        context.scopes, context.calling, context.elements, context.loop_depth = saved


def _constants(context: Context, function: ast.Function, generics: Generics) -> Mapping[str, ir.Operand] | None:
    """Constant parameters from a turbofish, in order."""
    names = [g.name.text for g in function.generics if isinstance(g, ast.ConstantParameter)]
    values = [g for g in generics if not isinstance(g, ast.PathType | ast.TupleTypeExpression | ast.OtherType)]
    if len(generics) >= len(names) and len(values) < len(names):  # a lone name reads as a type
        values = [_as_expression(g) for g in generics[len(generics) - len(names) :]]
    found: dict[str, ir.Operand] = {}
    for name, value in zip(names, values, strict=False):
        operand = expressions.operand(context, value)
        if isinstance(operand, Invalid):
            return None
        found[name] = operand
    if len(found) < len(names):
        from teenyc.diagnostics.catalog.types import WrongGenerics

        context.report(
            WrongGenerics(
                span=function.name.span, function=function.name.text, expected=len(names), found=len(generics)
            )
        )
        return None
    return found


def _as_expression(generic: ast.TypeExpression | ast.Expression) -> ast.Expression:
    if isinstance(generic, ast.PathType):
        return ast.PathExpression(segments=generic.segments, span=generic.span)
    assert not isinstance(generic, ast.TupleTypeExpression | ast.OtherType)
    return generic


def _declare_parameters(
    context: Context,
    function: ast.Function,
    bound: Mapping[str, ast.Expression],
    given: Mapping[str, ir.Operand | Invalid],
) -> bool:
    variables = {g.name.text for g in function.generics if isinstance(g, ast.TypeParameter)}
    for parameter in function.parameters:
        name = parameter.name.text
        value = given[name]
        assert not isinstance(value, Invalid)
        _bind_variable(context, parameter.type, value, variables)
        checked = _checked_parameter(context, parameter.type, value, bound[name])
        if isinstance(checked, Invalid):
            return False
        context.declare(Symbol(name, parameter.name.span, checked, mutable=parameter.mutable, is_parameter=True))
    return True


def _bind_variable(context: Context, type: ast.TypeExpression, value: ir.Operand, variables: set[str]) -> None:
    """Binds a dtype parameter of the function to the type that an argument has in its place."""
    if not isinstance(type, ast.PathType):
        return
    last = type.segments[-1]
    found = context.type_of(value)
    if not isinstance(found, TensorType | DescriptorType):
        return
    element: Element = found.element
    if last.name.text in ("Pointer", "Tensor") and last.generics and isinstance(last.generics[0], ast.PathType):
        inner = last.generics[0].segments[-1].name.text
        element = element.to if isinstance(element, Pointer) else element
        if inner in variables:
            context.elements.setdefault(inner, element)
    elif last.name.text in variables:
        context.elements.setdefault(last.name.text, element)


def _checked_parameter(context: Context, type: ast.TypeExpression, value: ir.Operand, node: ast.Expression) -> Checked:
    if is_tensor(type):
        element = annotated(context, type)
        found = context.tensor_of(value)
        if element is None or found is None:
            return INVALID
        return expressions.expect(context, value, TensorType(element, found.shape), node.span, "the parameter's type")
    element = element_of(context, type)
    if element is None:
        return INVALID
    if stands_for(value, element):
        return value
    found = context.tensor_of(value)
    shape = found.shape if found is not None and isinstance(element, TypeVar | Pointer) else ()
    return expressions.expect(context, value, TensorType(element, shape), node.span, "the parameter's type")


def _body(context: Context, function: ast.Function) -> Checked:
    from teenyc.check.statements import block_value

    body = function.body
    last = body.statements[-1] if body.statements else None
    if body.value is None and isinstance(last, ast.Jump) and last.keyword == "return":
        body = ast.Block(statements=body.statements[:-1], value=last.value, span=body.span)
    result = block_value(context, body)
    if isinstance(result, Invalid) or function.result is None:
        return result if isinstance(result, Invalid) else NOTHING
    return _result(context, function, result, body)


def _result(context: Context, function: ast.Function, result: Checked, body: ast.Block) -> Checked:
    assert function.result is not None
    span = body.value.span if body.value is not None else function.name.span
    if isinstance(function.result, ast.TupleTypeExpression):
        return result
    if isinstance(result, Group | Invalid):
        from teenyc.diagnostics.catalog.types import NoValue

        return context.report(NoValue(span=span, found=describe(result, context)))
    element = annotated(context, function.result)
    if element is not None and stands_for(result, element):
        return result
    found = context.tensor_of(result)
    if element is None or found is None:
        return INVALID
    shape = found.shape if is_tensor(function.result) else ()
    if isinstance(element, Pointer):
        shape = found.shape
    return expressions.expect(context, result, TensorType(element, shape), span, "the function's result type")
