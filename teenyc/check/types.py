"""Types as the source writes them: a type expression goes in, an element or a value type comes out."""

from __future__ import annotations

from teenyc.check.context import Context
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import BOOL, DTYPES, I32, Bound, Compute, Element, Pointer, TypeVar

BOUNDS = {"Float": Bound.FLOAT, "Num": Bound.NUM}
"""The traits that bound a dtype parameter."""

TENSORS = {"I32Tensor": I32, "BoolTensor": BOOL}


def element_of(context: Context, node: ast.TypeExpression) -> Element | None:
    """The element type that a scalar or pointer type names; None after a report."""
    if not isinstance(node, ast.PathType):
        unknown(context, _text(node), node.span)
        return None
    names = [segment.name.text for segment in node.segments]
    last = node.segments[-1]
    if names[-1] == "Pointer" and len(names) <= 2:
        return _pointer(context, last, node.span) if _is_trait(context, names, node.span) else None
    if len(names) == 2 and names[1] == "Compute" and names[0] in context.elements:
        variable = context.elements[names[0]]
        return Compute(variable) if isinstance(variable, TypeVar) else variable
    if len(names) == 1 and names[0] in context.elements:
        return context.elements[names[0]]
    if len(names) == 1 and names[0] in DTYPES:
        return DTYPES[names[0]]
    unknown(context, "::".join(names), node.span)
    return None


def annotated(context: Context, node: ast.TypeExpression) -> Element | None:
    """The element that a `let` annotation states; tensors state theirs as `Tensor<f32, …>`, of any shape."""
    if isinstance(node, ast.PathType):
        last = node.segments[-1]
        if last.name.text in TENSORS:
            return TENSORS[last.name.text]
        if last.name.text == "Tensor" and last.generics and isinstance(last.generics[0], ast.PathType):
            return element_of(context, last.generics[0])
    return element_of(context, node)


def is_tensor(node: ast.TypeExpression) -> bool:
    """Whether an annotation speaks of a tensor, whose shape it leaves open."""
    return isinstance(node, ast.PathType) and node.segments[-1].name.text in (*TENSORS, "Tensor")


def unknown(context: Context, name: str, span: Span) -> None:
    """Reports a type that kernels do not have."""
    from teenyc.check import other_names
    from teenyc.diagnostics.catalog.names import UnknownType
    from teenyc.diagnostics.suggest import closest

    known = [*DTYPES, *context.elements, "Pointer"]
    advice = other_names.type_(name)
    if not advice and len(name) == 1 and name.isupper():
        advice = f"declare it: `<{name}: Float>` behind the name of the function"
    context.report(UnknownType(span=span, name=name, similar=closest(name, known), advice=advice))


def _is_trait(context: Context, names: list[str], span: Span) -> bool:
    """Whether what stands before `Pointer` is nothing, a module, or the trait's parameter; reports it otherwise."""
    owner = names[0]
    if len(names) == 1 or owner == context.trait or not owner[0].isupper() or owner in ("Self", "Triton"):
        return True
    from teenyc.diagnostics.catalog.names import UnknownType

    declared = f"the trait is called `{context.trait}` here: write `{context.trait}::Pointer<…>`"
    advice = declared if context.trait else f"write `Pointer<…>`, or declare the trait: `<{owner}: Triton, …>`"
    context.report(UnknownType(span=span, name="::".join(names), advice=advice))
    return False


def _pointer(context: Context, segment: ast.Segment, span: Span) -> Element | None:
    if len(segment.generics) != 1 or not isinstance(
        segment.generics[0], ast.PathType | ast.TupleTypeExpression | ast.OtherType
    ):
        from teenyc.diagnostics.catalog.names import UnknownType

        advice = "state the type of the elements: `Pointer<f32>`, `Pointer<D>`"
        context.report(UnknownType(span=span, name="Pointer", advice=advice))
        return None
    to = element_of(context, segment.generics[0])
    return None if to is None else Pointer(to)


def _text(node: ast.TypeExpression) -> str:
    if isinstance(node, ast.OtherType):
        return node.text
    return "()" if isinstance(node, ast.TupleTypeExpression) and not node.items else "(…)"
