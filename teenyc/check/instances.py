"""Instances: a call of a device function goes in; a call of a function of the program comes out, where it can.

A function of the program is generic over the dtypes and constants that are open in its caller, under its own names, and
over the shapes of its arguments, as Triton's functions are. So its body is checked once for all calls that look alike
from inside. What that body must say and cannot, since only the caller knows it, is why there may be none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.check.context import Checked, Context, Group, Invalid, Kept, Symbol
from teenyc.check.finish import finish_function
from teenyc.check.inlining import Called, body_value
from teenyc.check.lints import lint_symbols
from teenyc.check.merging import operands, regrouped
from teenyc.check.signature import trait_of
from teenyc.check.types import annotated
from teenyc.diagnostics.model import Reporter
from teenyc.ir import nodes as ir
from teenyc.ir.expand import FOREIGN
from teenyc.ir.walk import statements_of
from teenyc.record import record, replace
from teenyc.syntax import ast
from teenyc.types import (
    Compute,
    DType,
    Element,
    Extent,
    Pointer,
    Shape,
    TensorType,
    TypeVar,
    is_float,
)


def kept(context: Context, called: Called) -> Checked | None:
    """The value of a call of a function of the program; None where the body must stand at the call."""
    if called.functions or not context.keeps_functions or not _is_passable(context, called):
        return None
    view = view_of(context, called)
    key = (called.function.span, *view.key)
    library = context.library
    if key not in library.kept:
        library.kept[key] = None  # while it is checked
        library.kept[key] = _instance(context, called, view)
    found = library.kept[key]
    return None if found is None else applied(context, called, view, found)


def concrete_key(context: Context, called: Called) -> tuple[object, ...]:
    """What a check of a call depends on: its types, and its constants as numbers over those of the caller."""
    types = tuple(tuple(context.type_of(o) for o in operands(v)) for v in called.arguments.values())
    constants = tuple(_number(context, o) for o in called.generics.constants.values())
    names = tuple(called.generics.elements.items())
    return called.function.span, types, names, constants, tuple(called.functions.values())


def _number(context: Context, operand: ir.Operand) -> object:
    extent = context.extent_of(operand)
    if extent is not None:
        return extent
    return context.truths.get(operand.id, operand) if isinstance(operand, ir.Value) else operand


def _is_passable(context: Context, called: Called) -> bool:
    """Whether all arguments are values, and all dtypes are known or those of the caller."""
    types = (context.type_of(o) for v in called.arguments.values() for o in operands(v))
    if not all(isinstance(t, TensorType) for t in types):
        return False
    return all(isinstance(e, DType | TypeVar | Compute) for e in called.generics.elements.values())


# ---- the caller's types as a function sees them ---------------------------------------------------------------------


@record
class View:
    """The caller's types in a function's own terms, and back.

    `elements` are those of the function; `outer` are the caller's, of the dtype parameters that stay open. `outward`
    maps the function's constants, and the names that are foreign to it, to the caller's extents. `arguments` holds, by
    parameter, the shapes of its values and how they are grouped.
    """

    elements: Mapping[str, Element]
    outer: Mapping[str, Element]
    outward: Mapping[str, int | Extent]
    arguments: Mapping[str, tuple[tuple[Shape, ...], object]]
    key: tuple[object, ...]


def view_of(context: Context, called: Called) -> View:
    elements: dict[str, Element] = {}
    outer: dict[str, Element] = {}
    for name, element in called.generics.elements.items():
        element = context.inference.final(element)
        elements[name] = element
        if isinstance(element, TypeVar | Compute):
            variable = element.of if isinstance(element, Compute) else element
            elements[name], outer[name] = TypeVar(name, variable.bound), element
    extents = {n: context.extent_of(o) for n, o in called.generics.constants.items()}
    inward = {e: Extent.of(n) for n, e in reversed(extents.items()) if e is not None}
    shapes = {n: tuple(_shapes(context, v)) for n, v in called.arguments.items()}
    foreign = {n for each in shapes.values() for s in each for e in s for n in e.names}
    outward: dict[str, int | Extent] = {n + FOREIGN: Extent.of(n) for n in foreign}
    outward |= {n: e for n, e in extents.items() if e is not None}
    own = {n: tuple(tuple(_own(e, inward) for e in s) for s in each) for n, each in shapes.items()}
    arguments = {n: (own[n], _form(v)) for n, v in called.arguments.items()}
    types = tuple(o.type for o in called.generics.constants.values())
    key = (tuple(elements.items()), tuple(arguments.items()), types, _facts(context))
    return View(elements, outer, outward, arguments, key)


def _facts(context: Context) -> object:
    """What the caller's functions are, where a nested function of the same place could see others."""
    return tuple(context.declarations.functions)


def _shapes(context: Context, checked: Checked) -> Iterator[Shape]:
    for operand in operands(checked):
        type = context.tensor_of(operand)
        assert type is not None, "only values are passed"
        yield tuple(context.canonical(e) for e in type.shape)


def _form(checked: Checked) -> object:
    """How a value is grouped; as a key."""
    return tuple(map(_form, checked.items)) if isinstance(checked, Group) else None


def _own(extent: Extent, inward: Mapping[Extent, Extent]) -> Extent:
    """An extent of the caller as the function may say it: a constant of its own, a number, or a foreign name."""
    found = inward.get(extent)
    return found if found is not None else extent.substitute({n: Extent.of(n + FOREIGN) for n in extent.names})


# ---- instances ------------------------------------------------------------------------------------------------------


def _instance(context: Context, called: Called, view: View) -> Kept | None:
    """The function, checked in its own terms; None where it says what only the caller knows, or gives a descriptor."""
    inner = inner_context(context, called, view)
    constants = declare_constants(inner, called)
    parameters = declare_parameters(inner, called, view)
    made = None if parameters is None else checked_body(inner, called, view, constants, parameters)
    if made is None or is_number(inner, made[1]):
        return None
    for lint in inner.reporter:
        context.report(lint)
    return Kept(made[0], made[1], tuple(dict.fromkeys(inner.requirements)), inner.others)


def inner_context(context: Context, called: Called, view: View) -> Context:
    """A context for the function by itself, with reports of its own."""
    return Context(
        Reporter(),
        context.declarations.at(called.function.span),
        trait=trait_of(called.function) or context.trait,
        elements=dict(view.elements),
        library=context.library,
        calling=(*context.calling, context.declarations.shown(called.function)),
        call_span=called.span,
        depth=context.depth,
    )


def checked_body(
    inner: Context,
    called: Called,
    view: View,
    constants: tuple[ir.ConstantParameter, ...],
    parameters: tuple[ir.Parameter, ...],
    carried: tuple[ir.Value, ...] = (),
) -> tuple[ir.Function, Checked] | None:
    """The function of the program and the form of its value; `carried` are given behind that."""
    function = called.function
    inner.scopes.append({})
    value = body_value(inner, function)
    inner.close_scope()
    lint_symbols(inner.scopes.pop().values(), inner)
    if isinstance(value, Invalid) or inner.reporter.has_errors:
        return None
    results = (*operands(value), *carried)
    if not all(isinstance(o.type, TensorType) for o in results):
        return None
    span = function.body.value.span if function.body.value is not None else function.name.span
    inner.statements.append(ir.Return(values=results, span=span))
    made = ir.Function(
        name=inner.library.name(function.name.text),
        doc=function.doc,
        type_variables=tuple(v for v in view.elements.values() if isinstance(v, TypeVar)),
        constants=constants,
        parameters=parameters,
        results=tuple(o.type for o in results),
        body=ir.Block(statements=tuple(inner.statements)),
        span=function.name.span,
    )
    finished = finish_function(inner, made)
    return None if finished is None or not _is_expressible(finished) else (finished, value)


def declare_constants(inner: Context, called: Called) -> tuple[ir.ConstantParameter, ...]:
    generics = {g.name.text: g for g in called.function.generics}
    inner.scopes.append({})
    constants: list[ir.ConstantParameter] = []
    for name, operand in called.generics.constants.items():
        type = operand.type
        assert isinstance(type, TensorType)
        type = replace(type, element=inner.inference.final(type.element))
        inner.declare(Symbol(name, called.span, ir.Constant(name, type), is_read=True))
        constants.append(ir.ConstantParameter(name=name, type=type, span=generics[name].name.span))
    return tuple(constants)


def declare_parameters(inner: Context, called: Called, view: View) -> tuple[ir.Parameter, ...] | None:
    """The parameters as variables; one that is a tuple becomes several. None where a type is wrong."""
    parameters: list[ir.Parameter] = []
    for parameter in called.function.parameters:
        name = parameter.name.text
        shapes, form = view.arguments[name]
        elements = list(_elements(inner, parameter.type))
        if None in elements or len(elements) != len(shapes):
            return None
        is_one = len(shapes) == 1
        values = [
            inner.value(TensorType(e, s), name if is_one else f"{name}_{i}")
            for i, (e, s) in enumerate(zip(elements, shapes, strict=True))
            if e is not None
        ]
        grouped = _grouped(form, iter(values))
        symbol = Symbol(name, parameter.name.span, grouped, mutable=parameter.mutable, is_parameter=True)
        symbol.mut, symbol.is_public = parameter.mut, name in inner.declarations.tree.named
        inner.declare(symbol)
        parameters += (ir.Parameter(value=v, span=parameter.name.span) for v in values)
        if values:
            parameters[-len(values)] = replace(parameters[-len(values)], comments=parameter.comments)
    return tuple(parameters)


def _elements(inner: Context, type: ast.TypeExpression) -> Iterator[Element | None]:
    if isinstance(type, ast.TupleTypeExpression):
        for item in type.items:
            yield from _elements(inner, item)
    else:
        yield annotated(inner, type)


def _grouped(form: object, values: Iterator[ir.Value]) -> Checked:
    return Group(tuple(_grouped(f, values) for f in form)) if isinstance(form, tuple) else next(values)


def is_number(context: Context, checked: Checked) -> bool:
    """Whether a result is an integer or bool that is known at compile time, so that the caller may need it then."""
    return any(context.is_known(o) and _is_countable(o) for o in operands(checked))


def _is_countable(operand: ir.Operand) -> bool:
    type = operand.type
    return isinstance(type, TensorType) and not type.shape and not is_float(type.element)


def _is_expressible(function: ir.Function) -> bool:
    """Whether the body names nothing that only the caller knows."""
    lets = (s for _, s in statements_of(function.body) if isinstance(s, ir.Let))
    calls = (let.operation for let in lets if isinstance(let.operation, ir.Call))
    return not any(_is_foreign(a) for call in calls for _, a in call.attributes)


def _is_foreign(attribute: object) -> bool:
    if isinstance(attribute, tuple):
        return any(map(_is_foreign, attribute))
    return isinstance(attribute, Extent) and any(n.endswith(FOREIGN) for n in attribute.names)


# ---- calls ----------------------------------------------------------------------------------------------------------


def applied(context: Context, called: Called, view: View, found: Kept) -> Checked:
    """The call in the IR, with results in the caller's terms."""
    function = found.function
    results = tuple(context.value(_outer_type(t, view)) for t in function.results)
    operation = ir.Apply(
        function=function.name,
        operands=tuple(o for v in called.arguments.values() for o in operands(v)),
        elements=tuple(view.outer[v.name] for v in function.type_variables),
        constants=tuple((n, _constant(context, o)) for n, o in called.generics.constants.items()),
    )
    context.statements.append(ir.Let(results=results, operation=operation, span=called.span))
    for requirement in found.requirements:
        extent = requirement.extent.substitute(view.outward)
        if extent.known is None:  # a number was looked at when the body was checked with it
            context.require(extent, requirement.rule, requirement.what, requirement.span)
    return regrouped(found.form, iter(results))


def _constant(context: Context, operand: ir.Operand) -> ir.Operand | Extent:
    extent = context.extent_of(operand)
    return operand if extent is None else extent


def _outer_type(type: object, view: View) -> TensorType:
    assert isinstance(type, TensorType), "functions give values"
    shape = tuple(e.substitute(view.outward) for e in type.shape)
    return TensorType(_outer_element(type.element, view), shape)


def _outer_element(element: Element, view: View) -> Element:
    match element:
        case Pointer():
            return Pointer(_outer_element(element.to, view))
        case TypeVar():
            return view.outer.get(element.name, element)
        case Compute():
            outer = view.outer.get(element.of.name, element.of)
            return Compute(outer) if isinstance(outer, TypeVar) else outer
        case _:
            return element
