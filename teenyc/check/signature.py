"""Signatures of device functions: what a call must give its parameters, and what the function itself must give."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.check import expressions
from teenyc.check.context import INVALID, NOTHING, Checked, Context, Group, Invalid, describe
from teenyc.check.descriptors import stands_for
from teenyc.check.types import BOUNDS, annotated, is_tensor, unknown
from teenyc.ir import nodes as ir
from teenyc.record import record
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import Bound, DescriptorType, Element, Pointer, TensorType, is_float

PARAMETER, RESULT = "the parameter's type", "the function's result type"


@record
class Generics:
    """What the generic parameters of a function are at one call: element types, and constants as operands."""

    elements: Mapping[str, Element]
    constants: Mapping[str, ir.Operand]


def type_parameters(function: ast.Function) -> list[ast.TypeParameter]:
    """The dtype parameters; the one that stands for Triton is none."""
    return [g for g in function.generics if isinstance(g, ast.TypeParameter) and not _is_trait(g)]


def trait_of(function: ast.Function) -> str:
    """The name that stands for Triton in a function, empty where it has none."""
    names = (g.name.text for g in function.generics if isinstance(g, ast.TypeParameter) and _is_trait(g))
    return next(names, "")


def _is_trait(generic: ast.TypeParameter) -> bool:
    return any(b.text == "Triton" for b in generic.bounds)


def bind_types(
    context: Context, function: ast.Function, given: Mapping[str, tuple[Checked, Span]], elements: dict[str, Element]
) -> bool:
    """Adds to `elements` what the arguments say about the dtype parameters; False after a report."""
    variables = {g.name.text for g in type_parameters(function)}
    for parameter in function.parameters:
        if parameter.name.text in given:
            _bind_type(context, parameter.type, given[parameter.name.text][0], variables, elements)
    bound = [_is_bound(context, function, g, elements) for g in type_parameters(function)]  # report on all
    return all(bound)


def _bind_type(
    context: Context, type: ast.TypeExpression, checked: Checked, variables: set[str], elements: dict[str, Element]
) -> None:
    """Binds dtype parameters of the function to the types that an argument has in their place."""
    if isinstance(type, ast.TupleTypeExpression) and isinstance(checked, Group):
        for inner, item in zip(type.items, checked.items, strict=False):
            _bind_type(context, inner, item, variables, elements)
    if not isinstance(type, ast.PathType) or isinstance(checked, Invalid | Group):
        return
    found = context.type_of(checked)
    if not isinstance(found, TensorType | DescriptorType):
        return
    element: Element | None = Pointer(found.element) if isinstance(found, DescriptorType) else found.element
    while element is not None and isinstance(type, ast.PathType):
        last = type.segments[-1]
        if last.name.text in variables:
            if len(type.segments) == 1:
                elements.setdefault(last.name.text, element)
            return
        if last.name.text not in ("Pointer", "Tensor") or not last.generics:
            return
        if last.name.text == "Pointer" or isinstance(element, Pointer):
            element = element.to if isinstance(element, Pointer) else None
        inner_type = last.generics[0]
        if not isinstance(inner_type, ast.PathType):
            return
        type = inner_type


def _is_bound(
    context: Context, function: ast.Function, generic: ast.TypeParameter, elements: Mapping[str, Element]
) -> bool:
    name = generic.name.text
    bound = next((BOUNDS[b.text] for b in generic.bounds if b.text in BOUNDS), None)
    element = elements.get(name)
    if element is None and bound is not None:
        from teenyc.diagnostics.catalog.functions import UnknownGeneric

        at = context.call_span or generic.name.span
        context.report(UnknownGeneric(span=at, function=function.name.text, name=name, declared=generic.name.span))
        return False
    if element is not None and bound is Bound.FLOAT and not is_float(element):
        from teenyc.diagnostics.catalog.functions import BrokenBound

        at = context.call_span or generic.name.span
        context.report(
            BrokenBound(
                span=at,
                function=function.name.text,
                name=name,
                found=str(context.inference.final(element)),
                declared=generic.name.span,
            )
        )
        return False
    return True


# ---- values ---------------------------------------------------------------------------------------------------------


def conformed(
    context: Context, checked: Checked, type: ast.TypeExpression, span: Span, why: str, open: frozenset[str]
) -> Checked:
    """A value where a signature states a type. `open` are the names of types that say nothing of a shape."""
    if isinstance(checked, Invalid):
        return INVALID
    if isinstance(type, ast.TupleTypeExpression):
        return _conformed_tuple(context, checked, type, span, why, open)
    if isinstance(checked, Group):
        from teenyc.diagnostics.catalog.types import NoValue

        return context.report(NoValue(span=span, found=describe(checked, context)))
    element, found = annotated(context, type), context.tensor_of(checked)
    if element is None:
        return INVALID
    if stands_for(checked, element):
        return checked
    if found is None:
        unknown(context, str(context.type_of(checked)), span)
        return INVALID
    is_open = is_tensor(type) or isinstance(element, Pointer) or _name(type) in open
    if found.shape and not is_open:
        return _not_a_scalar(context, found, element, span, why)
    return expressions.expect(context, checked, TensorType(element, found.shape if is_open else ()), span, why)


def _not_a_scalar(context: Context, found: TensorType, element: Element, span: Span, why: str) -> Checked:
    """Reports a tensor where a signature names a dtype alone, which is a scalar."""
    from teenyc.diagnostics.catalog.types import MismatchedTypes

    tensor = str(context.inference.type(found))
    advice = f"`{element}` is a scalar in a signature: write `Tensor<{element}>` there for a tensor of any shape"
    return context.report(MismatchedTypes(span=span, expected=str(element), found=tensor, why=why, advice=advice))


def _conformed_tuple(
    context: Context, checked: Checked, type: ast.TupleTypeExpression, span: Span, why: str, open: frozenset[str]
) -> Checked:
    if not isinstance(checked, Group) or len(checked.items) != len(type.items):
        from teenyc.diagnostics.catalog.types import NoValue

        needed = f"a tuple of {len(type.items)} values" if type.items else "no value"
        return context.report(NoValue(span=span, needed=needed, found=describe(checked, context)))
    pairs = zip(checked.items, type.items, strict=True)
    items = tuple(conformed(context, item, inner, span, why, open) for item, inner in pairs)
    return INVALID if any(isinstance(i, Invalid) for i in items) else Group(items)


def _name(type: ast.TypeExpression) -> str:
    return type.segments[-1].name.text if isinstance(type, ast.PathType) and len(type.segments) == 1 else ""


def open_names(function: ast.Function) -> frozenset[str]:
    """The dtype parameters of a function, which stand for scalars and for tensors alike."""
    return frozenset(g.name.text for g in type_parameters(function))


def result_of(context: Context, function: ast.Function, checked: Checked, span: Span) -> Checked:
    """The value of a body as the signature states it; what a function without a result gives is dropped."""
    if isinstance(checked, Invalid):
        return INVALID
    if function.result is None or _is_unit(function.result):
        return NOTHING
    return conformed(context, checked, function.result, span, RESULT, open_names(function))


def _is_unit(type: ast.TypeExpression) -> bool:
    return isinstance(type, ast.TupleTypeExpression) and not type.items
