"""One kernel: its signature, its body and its attributes, from syntax to typed IR."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.check.attributes import is_padded, kernel_attributes
from teenyc.check.context import NOTHING, Context, Declarations, Invalid, Library, Symbol
from teenyc.check.finish import finish
from teenyc.check.lints import lint_symbols
from teenyc.check.statements import block_value
from teenyc.check.types import BOUNDS, element_of
from teenyc.diagnostics.model import Reporter
from teenyc.ir import nodes as ir
from teenyc.syntax import ast
from teenyc.types import BOOL, I32, Bound, Compute, DType, Element, Pointer, TensorType, TypeVar, scalar


def check_kernel(
    node: ast.Function,
    declarations: Declarations,
    reporter: Reporter,
    known: Mapping[str, int | bool],
    dtypes: Mapping[str, DType],
    library: Library,
) -> ir.Kernel | None:
    """The kernel, or None where its signature or body is wrong; the functions that it calls go to the library.

    Mistakes in other kernels make no difference.
    """
    own = Reporter()
    kernel = _checked(node, Context(own, declarations, scopes=[{}], library=library), known, dtypes)
    for diagnostic in own:
        reporter.report(diagnostic)
    return kernel


def _checked(
    node: ast.Function, context: Context, known: Mapping[str, int | bool], dtypes: Mapping[str, DType]
) -> ir.Kernel | None:
    constants = _generics(context, node, known)
    parameters = _parameters(context, node)
    _check_bound(context, node, parameters)
    if node.result is not None and not _is_unit(node.result):
        from teenyc.diagnostics.catalog.structure import KernelResult

        context.report(KernelResult(span=node.result.span))
    context.keeps_functions = not is_padded(node)
    context.scopes.append({})
    value = block_value(context, node.body)
    gives_value = not isinstance(value, Invalid) and value != NOTHING
    if node.body.value is not None and node.result is None and gives_value:
        from teenyc.diagnostics.catalog.structure import KernelResult

        context.report(KernelResult(span=node.body.value.span))
    context.close_scope()
    attributes = kernel_attributes(context, node, parameters, constants)
    lint_symbols(context.scopes.pop().values(), context)
    kernel = ir.Kernel(
        name=node.name.text,
        doc=node.doc,
        type_variables=tuple(v for v in context.elements.values() if isinstance(v, TypeVar)),
        constants=tuple(constants),
        parameters=tuple(parameters),
        body=ir.Block(statements=tuple(context.statements)),
        requirements=tuple(dict.fromkeys(context.requirements)),
        attributes=attributes,
        elements=tuple((n, dtypes[n]) for n in context.elements if n in dtypes),
        span=node.name.span,
    )
    finished = finish(context, kernel)
    if finished is not None and attributes.tile is not None:
        from teenyc.check.tile_names import check_tile_names

        check_tile_names(context, node, finished)
    return finished


def _is_unit(node: ast.TypeExpression) -> bool:
    return isinstance(node, ast.TupleTypeExpression) and not node.items


def _generics(context: Context, node: ast.Function, known: Mapping[str, int | bool]) -> list[ir.ConstantParameter]:
    """Declares type parameters and constants; the constants."""
    constants: list[ir.ConstantParameter] = []
    for generic in node.generics:
        if isinstance(generic, ast.ConstantParameter):
            constants.append(_constant(context, generic, known))
            continue
        bounds = [b.text for b in generic.bounds]
        bound = next((BOUNDS[b] for b in bounds if b in BOUNDS), None)
        if "Triton" in bounds:
            context.trait = generic.name.text
        elif bound is not None:
            context.elements[generic.name.text] = TypeVar(generic.name.text, bound)
        else:
            _wrong_bound(context, generic)
            context.elements[generic.name.text] = TypeVar(generic.name.text, Bound.FLOAT)
    return constants


def _wrong_bound(context: Context, generic: ast.TypeParameter) -> None:
    from teenyc.diagnostics.catalog.names import WrongBound

    bound = generic.bounds[0] if generic.bounds else None
    span = bound.span if bound else generic.name.span
    context.report(WrongBound(span=span, name=generic.name.text, bound=bound.text if bound else ""))


def _constant(
    context: Context, generic: ast.ConstantParameter, known: Mapping[str, int | bool]
) -> ir.ConstantParameter:
    name = generic.name.text
    element = element_of(context, generic.type)
    if element not in (I32, BOOL, None):
        from teenyc.diagnostics.catalog.types import MismatchedTypes

        why = "constants of a kernel are `i32` or `bool`"
        context.report(MismatchedTypes(span=generic.type.span, expected="i32", found=str(element), why=why))
        _declare(context, generic.name, None)
        return ir.ConstantParameter(name=name, type=scalar(I32), known=None, span=generic.name.span)
    type = scalar(BOOL if element == BOOL else I32)
    _declare(context, generic.name, ir.Constant(name, type))
    value = known.get(name)
    if value is not None and isinstance(value, bool) != (element == BOOL):
        from teenyc.diagnostics.catalog.types import MismatchedTypes

        found = "bool" if isinstance(value, bool) else "i32"
        context.report(MismatchedTypes(span=generic.name.span, expected=str(type), found=found, why="set by an option"))
        value = None
    if value is not None and not I32.minimum <= value <= I32.maximum:
        from teenyc.diagnostics.catalog.types import LiteralRange

        limits = (int(I32.minimum), int(I32.maximum))
        context.report(LiteralRange(span=generic.name.span, value=value, type="i32", limits=limits))
        value = None
    return ir.ConstantParameter(name=name, type=type, known=value, span=generic.name.span)


def _parameters(context: Context, node: ast.Function) -> list[ir.Parameter]:
    parameters: list[ir.Parameter] = []
    for parameter in node.parameters:
        element = element_of(context, parameter.type)
        if isinstance(element, TypeVar | Compute):
            _scalar_variable(context, parameter, element)
            element = None
        if element is None:
            _declare(context, parameter.name, None, parameter)
            continue
        value = context.value(scalar(element), parameter.name.text)
        _declare(context, parameter.name, value, parameter)
        parameters.append(ir.Parameter(value=value, span=parameter.name.span, comments=parameter.comments))
    return parameters


def _scalar_variable(context: Context, parameter: ast.Parameter, element: Element) -> None:
    from teenyc.diagnostics.catalog.structure import Unsupported

    what = f"a scalar parameter of type `{element}`"
    context.report(Unsupported(span=parameter.type.span, what=what, instead="use `f32`, or load it from memory"))


def _declare(
    context: Context, name: ast.Name, value: ir.Operand | None, parameter: ast.Parameter | None = None
) -> None:
    """A parameter of the kernel, or a constant."""
    from teenyc.check.context import INVALID

    known = context.scopes[-1].get(name.text)
    if known is not None:
        from teenyc.diagnostics.catalog.names import DuplicateName

        context.report(DuplicateName(span=name.span, what="parameter", name=name.text, first=known.span))
        return
    silent = value is None
    symbol = Symbol(name.text, name.span, INVALID if value is None else value, is_parameter=True, is_read=silent)
    symbol.is_public = True
    if parameter is not None:
        symbol.mutable, symbol.mut = parameter.mutable, parameter.mut
    context.scopes[-1][name.text] = symbol


def _check_bound(context: Context, node: ast.Function, parameters: list[ir.Parameter]) -> None:
    """Every dtype parameter must occur in a pointer: the launch finds it there."""
    found: set[str] = set()
    for parameter in parameters:
        type = parameter.value.type
        element: Element | None = type.element if isinstance(type, TensorType) else None
        while isinstance(element, Pointer):
            element = element.to
        if isinstance(element, TypeVar):
            found.add(element.name)
    for generic in node.generics:
        name = generic.name.text
        is_bounded = isinstance(generic, ast.TypeParameter) and any(b.text in BOUNDS for b in generic.bounds)
        if is_bounded and name not in found and len(parameters) == len(node.parameters):
            from teenyc.diagnostics.catalog.types import UnboundDtype

            context.report(UnboundDtype(span=generic.name.span, name=name))
