"""Turbofish of device functions: `f::<f32, 64>` goes in, what each generic parameter is comes out."""

from __future__ import annotations

from teenyc.check import expressions
from teenyc.check.context import Context, Group, Invalid
from teenyc.check.signature import Generics, trait_of
from teenyc.check.types import element_of
from teenyc.ir import nodes as ir
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import DTYPES, Element, TensorType

Written = tuple["ast.TypeExpression | ast.Expression", ...]


def stated_generics(context: Context, function: ast.Function, written: Written, span: Span) -> Generics | None:
    """The generics of a call as far as it states them; None after a report. Constants must all be stated.

    The trait parameter may be left out, and the dtype parameters too where only constants are stated.
    """
    slots = _slots(function, len(written))
    if slots is None or any(_is_type_for_constant(context, *pair) for pair in zip(slots, written, strict=True)):
        from teenyc.diagnostics.catalog.types import WrongGenerics

        plain = [g for g in function.generics if g.name.text != trait_of(function)]
        context.report(
            WrongGenerics(
                span=span,
                function=function.name.text,
                expected=len(plain),
                found=len(written),
                parameters=tuple(g.name.text for g in plain),
                constants=tuple(g.name.text for g in plain if isinstance(g, ast.ConstantParameter)),
            )
        )
        return None
    elements: dict[str, Element] = {}
    constants: dict[str, ir.Operand] = {}
    for generic, given in zip(slots, written, strict=True):
        if isinstance(generic, ast.ConstantParameter):
            constant = _constant(context, function, generic, _as_expression(given))
            if constant is None:
                return None
            constants[generic.name.text] = constant
        elif generic.name.text != trait_of(function) and not is_open(given):
            element = _element(context, given)
            if element is None:
                return None
            elements[generic.name.text] = element
    return Generics(elements, constants)


def _slots(function: ast.Function, count: int) -> list[ast.Generic] | None:
    """The parameters that a turbofish of so many arguments states, in order."""
    every = list(function.generics)
    plain = [g for g in every if g.name.text != trait_of(function)]
    constants: list[ast.Generic] = [g for g in plain if isinstance(g, ast.ConstantParameter)]
    if count == 0:
        return None if constants else []
    return next((slots for slots in (every, plain, constants) if len(slots) == count), None)


def _is_type_for_constant(context: Context, generic: ast.Generic, given: ast.TypeExpression | ast.Expression) -> bool:
    """Whether a type is stated where a constant belongs, so that one argument is missing."""
    if not isinstance(generic, ast.ConstantParameter) or not isinstance(given, ast.PathType | ast.PathExpression):
        return False
    name = given.segments[-1].name.text
    return len(given.segments) == 1 and (name in DTYPES or name in context.elements) and context.lookup(name) is None


def is_open(given: ast.TypeExpression | ast.Expression) -> bool:
    """Whether `_` stands there."""
    if isinstance(given, ast.OtherType):
        return given.text == "_"
    return isinstance(given, ast.PathType | ast.PathExpression) and given.segments[-1].name.text == "_"


def _element(context: Context, given: ast.TypeExpression | ast.Expression) -> Element | None:
    if isinstance(given, ast.PathExpression):
        given = ast.PathType(segments=given.segments, span=given.span)
    if isinstance(given, ast.PathType | ast.OtherType | ast.TupleTypeExpression):
        return element_of(context, given)
    from teenyc.check.types import unknown

    unknown(context, "a number", given.span)
    return None


def _as_expression(given: ast.TypeExpression | ast.Expression) -> ast.Expression | None:
    """A lone name reads as a type."""
    if isinstance(given, ast.PathType):
        return ast.PathExpression(segments=given.segments, span=given.span)
    return None if isinstance(given, ast.TupleTypeExpression | ast.OtherType) else given


def _constant(
    context: Context, function: ast.Function, generic: ast.ConstantParameter, given: ast.Expression | None
) -> ir.Operand | None:
    """A constant argument, which is known at compile time; None after a report."""
    element = element_of(context, generic.type)
    operand = expressions.operand(context, given) if given is not None else None
    if element is None or operand is None or isinstance(operand, Invalid) or given is None:
        return None
    why = f"the type of `{generic.name.text}`"
    value = expressions.expect(context, operand, TensorType(element), given.span, why)
    if isinstance(value, Invalid | Group):
        return None
    if context.is_known(value):
        return value
    from teenyc.diagnostics.catalog.types import NotConstant

    context.report(NotConstant(span=given.span, what=f"`{generic.name.text}` of `{function.name.text}`"))
    return None
