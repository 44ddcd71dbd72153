"""Functions given to intrinsics: `reduce(x, 0, f)` goes in, a call that names a function of the program comes out.

`f` takes the elements of what is combined, two of each, and gives one of each. It becomes straight code, since Triton
takes no other: both sides of its branches are computed. A constant of the kernel that a turbofish binds cannot be named
there; it comes along as one more value that is combined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from teenyc.check import arguments, expressions, operators
from teenyc.check.combined import combine, mapped
from teenyc.check.context import INVALID, Checked, Context, FunctionValue, Group, Invalid, describe
from teenyc.check.functions import function_value
from teenyc.check.generics import stated_generics
from teenyc.check.inlining import Called, inlined
from teenyc.check.merging import operands, regrouped
from teenyc.check.misfits import word
from teenyc.check.signature import Generics, bind_types
from teenyc.check.types import annotated
from teenyc.intrinsics.attributes import attributes_of
from teenyc.intrinsics.spec import Given, Intrinsic, Role, Site
from teenyc.ir import nodes as ir
from teenyc.record import record, replace
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import F32, ONE, DType, Element, Extent, Kind, Shape, TensorType, is_float, is_integer


@record
class _Input:
    """One of the values whose elements are combined."""

    operand: ir.Operand
    type: TensorType
    span: Span


def call(
    context: Context,
    record: Intrinsic,
    bound: Mapping[str, ast.Expression],
    generics: tuple[Element, ...],
    span: Span,
) -> Checked:
    """The value of a call of an intrinsic that is given a function."""
    functions = {p.name for p in record.params if p.role is Role.FUNCTION}
    (name,) = functions
    inputs = _inputs(context, record, bound["input"])
    first = context.inference.final(inputs[0].type.element) if inputs else F32
    words = [word(bound["input"]) or "x"] + ([f"axis = {word(bound['axis']) or '…'}"] if "axis" in bound else [])
    passed = function_value(context, bound[name], first, called=record.name, operands=", ".join(words))
    plain = replace(record, params=tuple(p for p in record.params if p.name not in ("input", *functions)))
    read = arguments.read(context, plain, bound, generics)
    if inputs is None or passed is None or read is None:
        return INVALID
    if not _counts(context, record, passed, inputs, bound[name].span):
        return INVALID
    called = _called(context, record, passed, inputs, bound[name].span)
    if called is None:
        return INVALID
    converted = _converted(context, record, called, inputs, bound[name].span)
    if converted is None:
        return INVALID
    if record.name == "map_elementwise":
        return _mapped(context, record, called, converted, bound[name].span, span)
    found = combine(context, called)
    if found is None:
        return _refused(context, record, called, bound[name].span)
    is_whole = record.name == "reduce" and "axis" not in read.given
    shape = converted[0].type.shape
    if is_whole:  # in the order of the elements, which Triton does not promise for several axes
        converted = [_flat(context, each) for each in converted]
        read.given["axis"] = Given(span, None, 0)
    given = {_numbered("input", i): Given(each.span, each.type) for i, each in enumerate(converted)}
    site = Site(record, span, {**given, **read.given}, generics, context.reporter.report, context.require)
    results = record.rule(site)
    if results is None:
        return INVALID
    carried = [_filled(context, o, converted[0], span) for o in found.carried]
    values = [each.operand for each in converted] + carried
    attributes = {**dict(attributes_of(site, results)), name: found.kept.function.name}
    order = [p.name for p in record.params]
    operation = ir.Call(
        intrinsic=record.name,
        operands=(*((_numbered("input", i), o) for i, o in enumerate(values)), *read.operands),
        attributes=tuple((n, attributes[n]) for n in order if n in attributes),
    )
    made = tuple(context.value(type) for type in results)
    extra = tuple(context.value(_like(results[0], o)) for o in found.carried)
    context.statements.append(ir.Let(results=(*made, *extra), operation=operation, span=span))
    if is_whole:
        made = tuple(_kept_axes(context, value, len(shape), span) for value in made)
    return made[0] if len(made) == 1 else Group(made)


def _flat(context: Context, each: _Input) -> _Input:
    """A tensor of several axes along one."""
    if len(each.type.shape) < 2:
        return each
    count = Extent.of(1)
    for extent in each.type.shape:
        count = count * extent
    type = TensorType(each.type.element, (count,))
    flat = context.emit(ir.Call(intrinsic="ravel", operands=(("x", each.operand),)), type, each.span)
    return _Input(flat, type, each.span)


def _kept_axes(context: Context, value: ir.Value, rank: int, span: Span) -> ir.Value:
    """A total that keeps its axis gets as many as there were, each of extent 1."""
    type = value.type
    assert isinstance(type, TensorType)
    if not type.shape or rank < 2:
        return value
    whole = TensorType(type.element, (ONE,) * rank)
    return context.emit(ir.ExpandDims(operand=value, axes=tuple(range(1, rank))), whole, span)


def _numbered(name: str, index: int) -> str:
    return f"{name}{index or ''}"


def _inputs(context: Context, record: Intrinsic, node: ast.Expression) -> list[_Input] | None:
    """The values: one, or several in a tuple or list; None after a report."""
    nodes = node.items if isinstance(node, ast.Array | ast.Tuple) else (node,)
    found: list[_Input] = []
    for each in nodes:
        checked = expressions.expression(context, each)
        if isinstance(checked, Invalid):
            return None
        for operand in operands(checked):
            type = context.tensor_of(operand)
            if type is None:
                from teenyc.diagnostics.catalog.calls import NotAValue

                shown = describe(checked, context).strip("`")
                context.report(NotAValue(span=each.span, function=record.name, name="input", found=shown))
                return None
            found.append(_Input(operand, type, each.span))
    return found


def _filled(context: Context, operand: ir.Operand, like: _Input, span: Span) -> ir.Operand:
    """A constant in the shape of an input."""
    assert isinstance(operand.type, TensorType)
    type = TensorType(operand.type.element, like.type.shape)
    attributes = (("shape", type.shape), ("dtype", type.element))
    return context.emit(ir.Call(intrinsic="full", operands=(("value", operand),), attributes=attributes), type, span)


def _like(type: object, operand: ir.Operand) -> TensorType:
    assert isinstance(type, TensorType)
    assert isinstance(operand.type, TensorType)
    return TensorType(operand.type.element, type.shape)


# ---- the function ---------------------------------------------------------------------------------------------------


def _counts(context: Context, record: Intrinsic, passed: FunctionValue, inputs: Sequence[_Input], span: Span) -> bool:
    """Whether the function takes as many parameters as there are elements; reports where not."""
    times = 1 if record.name == "map_elementwise" else 2
    if len(passed.function.parameters) == times * len(inputs):
        return True
    _wrong(context, record, passed, inputs, span)
    return False


def _wrong(
    context: Context, record: Intrinsic, passed: FunctionValue, inputs: Sequence[_Input], span: Span, reason: str = ""
) -> None:
    from teenyc.diagnostics.catalog.functions import WrongCombine

    names = [str(context.inference.final(each.type.element)) for each in inputs]
    is_map = record.name == "map_elementwise"
    result = "…" if is_map else names[0] if len(names) == 1 else f"({', '.join(names)})"
    expected = f"fn({', '.join(names if is_map else names * 2)}) -> {result}"
    found = passed.function
    context.report(
        WrongCombine(
            span=span,
            function=record.name,
            combine=found.name.text,
            expected=expected,
            reason=reason or f"takes {len(found.parameters)} parameter{'s' * (len(found.parameters) != 1)}",
            declared=found.name.span,
        )
    )


def _called(
    context: Context, record: Intrinsic, passed: FunctionValue, inputs: Sequence[_Input], span: Span
) -> Called | None:
    """The function on elements of the inputs, in the types that it states; None after a report."""
    function = passed.function
    context.library.called.add(function.span)
    stated = stated_generics(context, function, passed.generics, span)
    if stated is None:
        return None
    elements = dict(stated.elements)
    names = [p.name.text for p in function.parameters]
    places = [inputs[i % len(inputs)] for i in range(len(names))]
    given = {n: (context.value(TensorType(e.type.element)), span) for n, e in zip(names, places, strict=True)}
    context.call_span = span
    if not bind_types(context, function, given, elements):
        return None
    generics = Generics(elements, stated.constants)
    types = _stated_types(context, function, generics)
    if types is None:
        return None
    values: dict[str, Checked] = {n: context.value(TensorType(t)) for n, t in zip(names, types, strict=True)}
    halves = [types[i : i + len(inputs)] for i in range(0, len(types), len(inputs))]
    if any(half != halves[0] for half in halves):
        _wrong(context, record, passed, inputs, span, "takes other types on the left than on the right")
        return None
    return Called(function, values, generics, {}, span)


def _stated_types(context: Context, function: ast.Function, generics: Generics) -> list[Element] | None:
    """The element types of the parameters at this call."""
    saved, context.elements = context.elements, {**context.elements, **generics.elements}
    types = [annotated(context, p.type) for p in function.parameters]
    context.elements = saved
    return None if any(t is None for t in types) else [context.inference.final(t) for t in types if t is not None]


def _converted(
    context: Context, record: Intrinsic, called: Called, inputs: Sequence[_Input], span: Span
) -> list[_Input] | None:
    """The inputs in the types that the function takes: floats as other floats, integers as wider ones."""
    converted: list[_Input] = []
    types = [context.tensor_of(o) for v in called.arguments.values() for o in operands(v)]
    for each, type in zip(inputs, types, strict=False):
        assert type is not None, "elements have a type"
        if context.inference.unify(each.type.element, type.element) is not None:
            converted.append(replace(each, type=replace(each.type, element=type.element)))
        elif _widens(each.type.element, type.element):
            operand = operators.cast(context, each.operand, type.element, each.span, implicit=True)
            converted.append(_Input(operand, replace(each.type, element=type.element), each.span))
        else:
            passed = FunctionValue(called.function)
            _wrong(context, record, passed, inputs, span, f"takes `{type.element}`")
            return None
    return converted


def _widens(source: Element, target: Element) -> bool:
    """Whether elements may be combined in another type: the result has the type of the function."""
    if is_float(source) and is_float(target):
        is_sure = isinstance(source, DType) and isinstance(target, DType)
        return not is_sure or source.bits <= target.bits  # type: ignore[union-attr]  # both are dtypes
    if not (is_integer(source) and is_integer(target)):
        return False
    if not isinstance(source, DType) or not isinstance(target, DType):
        return False
    fits = target.minimum <= source.minimum and source.maximum <= target.maximum
    return fits and source.kind in (Kind.SIGNED, Kind.UNSIGNED)


def _refused(context: Context, record: Intrinsic, called: Called, span: Span) -> Checked:
    """Says why a function cannot be combined with: what is wrong in it, or that it is not straight."""
    before = context.reporter.count
    with context.block():
        value = inlined(context, called)
    if context.reporter.count > before:
        return INVALID
    half = list(called.arguments.values())[: len(called.arguments) // 2]
    needed = [context.type_of(o) for v in half for o in operands(v)]
    given = [context.type_of(o) for o in operands(value)]
    if given != needed:
        shown = ", ".join(map(str, given)) or "nothing"
        inputs = [_Input(o, t, span) for v in half for o in operands(v) if (t := context.tensor_of(o)) is not None]
        _wrong(context, record, FunctionValue(called.function), inputs, span, f"gives `{shown}`")
        return INVALID
    from teenyc.diagnostics.catalog.functions import NotStraight

    name, declared = called.function.name.text, called.function.name.span
    return context.report(NotStraight(span=span, function=record.name, combine=name, declared=declared))


def _mapped(
    context: Context, record: Intrinsic, called: Called, inputs: Sequence[_Input], at: Span, span: Span
) -> Checked:
    """`map_elementwise(f, x)`: straight code computes whole tensors; what loops goes through its elements in Triton."""
    shape = _common_shape(context, record, inputs)
    if shape is None:
        return INVALID
    given: dict[str, Checked] = {n: each.operand for n, each in zip(called.arguments, inputs, strict=True)}
    value = mapped(context, called, replace(called, arguments=given, span=span))
    if value is not None:
        return _spread(context, value, shape, span)
    found = combine(context, called, is_map=True)
    if found is None:
        return _refused(context, record, called, at)
    results = tuple(context.value(replace(t, shape=shape)) for t in found.kept.function.results if _is_tensor(t))
    names = (_numbered("input", i) for i in range(len(inputs)))
    operation = ir.Call(
        intrinsic=record.name,
        operands=tuple(zip(names, (each.operand for each in inputs), strict=True)),
        attributes=(("combine_fn", found.kept.function.name),),
    )
    context.statements.append(ir.Let(results=results, operation=operation, span=span))
    return regrouped(found.kept.form, iter(results))


def _is_tensor(type: object) -> TypeGuard[TensorType]:
    return isinstance(type, TensorType)


def _common_shape(context: Context, record: Intrinsic, inputs: Sequence[_Input]) -> Shape | None:
    """The broadcast of the inputs' shapes; None after a report."""
    shape: Shape = ()
    for each in inputs:
        whole = operators.shapes_meet(context, shape, each.type.shape, (inputs[0].span, each.span, each.span))
        if whole is None:
            return None
        shape = whole
    return shape


def _spread(context: Context, checked: Checked, shape: Shape, span: Span) -> Checked:
    """A result for every element, also where the function gives the same for all."""
    if isinstance(checked, Group):
        return Group(tuple(_spread(context, item, shape, span) for item in checked.items))
    type = None if isinstance(checked, Invalid) else context.tensor_of(checked)
    if isinstance(checked, Invalid) or type is None or type.shape == shape:
        return checked
    call = ir.Call(intrinsic="broadcast_to", operands=(("input", checked),), attributes=(("shape", shape),))
    return context.emit(call, replace(type, shape=shape), span)
