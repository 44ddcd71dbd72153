"""Calls: which function a call means, and operations of the IR for intrinsics, operators and device functions."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.check import arguments, descriptors, expressions, operators
from teenyc.check.context import INVALID, NOTHING, Checked, Context, Group, Invalid, Symbol
from teenyc.check.generics import is_open
from teenyc.check.types import element_of
from teenyc.intrinsics import TABLE, attributes_of, find, find_operator
from teenyc.intrinsics.spec import Given, Intrinsic, Operator, Site
from teenyc.ir import nodes as ir
from teenyc.record import replace
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import DTYPES, F32, F64, I32, DType, Element, Extent, TensorType, is_float

CONVERSIONS = {"from_f64": F64, "from_f32": F32, "from_i32": I32}
"""`D::from_f64(x)` and kin: conversions from a known type."""


def call(context: Context, node: ast.Call) -> Checked:
    """`function(arguments)`, with a path of any form."""
    if not isinstance(node.callee, ast.PathExpression):
        from teenyc.diagnostics.catalog.structure import Unsupported

        return context.report(Unsupported(span=node.callee.span, what="a call of a computed function"))
    segments = node.callee.segments
    names = [s.name.text for s in segments]
    if len(names) == 2 and (names[0] == context.trait or _is_of_libdevice(names[0], names[1])):
        names = names[1:]
    generics = tuple(g for s in segments for g in s.generics)
    if names == ["Some"] and len(node.arguments) == 1:
        return expressions.expression(context, node.arguments[0].value)
    symbol = context.lookup(names[0]) if len(names) == 1 else None
    if symbol is not None and symbol.function is not None:
        from teenyc.check import functions

        symbol.is_read = True
        return functions.call(context, symbol.function.function, node, generics or symbol.function.generics)
    if symbol is not None and symbol.is_parameter and isinstance(symbol.current, Invalid):
        return INVALID
    if len(names) == 2:
        return _associated(context, names, node)
    function = context.declarations.function(names) if segments[0].name.text != context.trait else None
    if function is not None:
        from teenyc.check import functions

        return functions.call(context, function, node, generics)
    return _intrinsic(context, names[-1], node.arguments, generics, node.callee.span, node.span)


def method(context: Context, node: ast.MethodCall) -> Checked:
    """`receiver.method(arguments)`: the function of that name with the receiver as first argument."""
    from teenyc.check.methods import number_method, unknown_method
    from teenyc.intrinsics.methods import METHODS, RENAMED

    name = node.method.name.text
    if expressions.is_module(context, node.receiver):
        module = node.receiver.segments[0].name.text if isinstance(node.receiver, ast.PathExpression) else ""
        if not _is_of_libdevice(module, name):
            return expressions.of_module(context, node.receiver, node.method.name, is_called=True)
        return _intrinsic(context, name, node.arguments, node.method.generics, node.method.name.span, node.span)
    if name in METHODS and not (find(name) and _is_function(node, len(METHODS[name].arguments))):
        return number_method(context, node)
    name = RENAMED.get(name, name)
    receiver = ast.Argument(value=node.receiver, span=node.receiver.span)
    if find(name) is None and find_operator(name) is None:
        return unknown_method(context, node)
    given = (receiver, *node.arguments)
    return _intrinsic(context, name, given, node.method.generics, node.method.name.span, node.span)


def _is_of_libdevice(module: str, name: str) -> bool:
    """Whether `libdevice::atan(x)` or `libdevice.atan(x)` is called: Triton's own name, with its module."""
    return module == "libdevice" and find(name) is not None


def _is_function(node: ast.MethodCall, count: int) -> bool:
    """Whether `x.max(Some(1), true)`, `x.max()` or `x.max(axis = 1)` means the function, not Rust's method."""
    if len(node.arguments) != count or any(a.name is not None for a in node.arguments):
        return True
    values = [a.value for a in node.arguments]
    callees = [v.callee for v in values if isinstance(v, ast.Call)]
    is_some = any(isinstance(c, ast.PathExpression) and c.segments[-1].name.text == "Some" for c in callees)
    return is_some or any(map(arguments.is_none, values))


def _associated(context: Context, names: list[str], node: ast.Call) -> Checked:
    """`D::from_f64(x)`, or a path into a module of the file."""
    assert isinstance(node.callee, ast.PathExpression)
    owner, name = names
    element = context.elements.get(owner) or DTYPES.get(owner)
    if element is not None and name in (*CONVERSIONS, "from") and len(node.arguments) == 1:
        return _convert(context, element, CONVERSIONS.get(name), node)
    if isinstance(element, DType) and is_float(element) and name == "from_bits" and len(node.arguments) == 1:
        return _from_bits(context, element, node)
    function = context.declarations.function(names) if element is None else None
    if function is not None:
        from teenyc.check import functions

        generics = tuple(g for s in node.callee.segments for g in s.generics)
        return functions.call(context, function, node, generics)
    if element is not None and node.arguments and node.arguments[0].name is None:
        return _method_of_type(context, element, node)
    return _unknown(context, f"{owner}::{name}", node.callee.span)


def _method_of_type(context: Context, element: Element, node: ast.Call) -> Checked:
    """`i32::max(a, b)`: the method of the first argument, which must have the type."""
    assert isinstance(node.callee, ast.PathExpression)
    first = node.arguments[0]
    value = expressions.operand(context, first.value)
    type = None if isinstance(value, Invalid) else context.tensor_of(value)
    if isinstance(value, Invalid) or type is None:
        return INVALID
    why = f"`{element}` has the method"
    expected = expressions.expect(context, value, TensorType(element, type.shape), first.value.span, why)
    if isinstance(expected, Invalid):
        return INVALID
    name = f"receiver {node.span.start}"  # no name of a source has a space
    path = ast.PathExpression(segments=(ast.Segment(name=ast.Name(name, first.value.span)),), span=first.value.span)
    context.scopes.append({name: Symbol(name, first.value.span, expected, is_read=True)})
    method_call = ast.MethodCall(
        receiver=path, method=node.callee.segments[-1], arguments=node.arguments[1:], span=node.span
    )
    result = method(context, method_call)
    context.scopes.pop()
    return result


def _convert(context: Context, element: Element, source: Element | None, node: ast.Call) -> Checked:
    argument = node.arguments[0].value
    value = expressions.operand(context, argument)
    if isinstance(value, Invalid):
        return INVALID
    if source is not None:
        why = f"`{source}` is what this converts from"
        expected = expressions.expect(context, value, TensorType(source), argument.span, why)
        if isinstance(expected, Invalid | Group):
            return INVALID
    if isinstance(value, ir.Literal) and source != F32:  # which rounds first
        return ir.Literal(value.value, TensorType(element))
    return operators.cast_as(context, value, element, node.span)


def _from_bits(context: Context, element: DType, node: ast.Call) -> Checked:
    """`f32::from_bits(u)`: the float of the bits of an unsigned integer."""
    argument = node.arguments[0].value
    value = expressions.operand(context, argument)
    if isinstance(value, Invalid):
        return INVALID
    type, unsigned = context.tensor_of(value), DTYPES[f"u{element.bits}"]
    if type is None or context.inference.unify(type.element, unsigned) is None:
        from teenyc.diagnostics.catalog.types import MismatchedTypes

        found, why = str(context.type_of(value)), "`from_bits` reads the bits of an unsigned integer"
        return context.report(MismatchedTypes(span=argument.span, expected=str(unsigned), found=found, why=why))
    call = ir.Call(intrinsic="bitcast", operands=(("input", value),), attributes=(("dtype", element),))
    return context.emit(call, TensorType(element, type.shape), node.span)


def _unknown(context: Context, name: str, span: Span) -> Checked:
    from teenyc.diagnostics.catalog.names import UnknownFunction
    from teenyc.diagnostics.catalog.structure import NestedKernel
    from teenyc.diagnostics.suggest import closest

    if name in context.declarations.kernels:
        return context.report(NestedKernel(span=span, name=name))
    if context.declarations.may_be_missing(name):
        return INVALID
    from teenyc.check import other_names

    owner, _, last = name.rpartition("::")
    several = context.declarations.paths_to(last) if not owner else ()
    if several:
        listed = " or ".join(f"`{path}`" for path in several)
        return context.report(UnknownFunction(span=span, name=name, advice=f"modules have one: write {listed}"))
    known = [*TABLE, *context.declarations.functions]
    advice = other_names.function(last)
    plain = last.strip("_").removesuffix("f")
    if not advice and plain != last and find(plain) is not None:
        advice = f"write `{plain}(…)`"
    if owner and not advice and (find(last) is not None or find_operator(last) is not None):
        advice = f"the functions are in scope: write `{last}(…)`"
        if len(owner) == 1:
            advice += f", or declare the trait: `<{owner}: Triton, …>`"
    return context.report(UnknownFunction(span=span, name=name, similar=closest(last, known), advice=advice))


def _intrinsic(
    context: Context,
    name: str,
    given: tuple[ast.Argument, ...],
    generics: tuple[ast.TypeExpression | ast.Expression, ...],
    name_span: Span,
    span: Span,
) -> Checked:
    record: Intrinsic | Operator | None = _overload(name, given)
    if record is None:
        return _unknown(context, name, name_span)
    place = descriptors.place_of(record, given)
    if place is not None:
        with descriptors.receiver(context, given, place) as (type, named):
            if isinstance(type, Invalid):
                return INVALID
            called = descriptors.overload(record, type)
            return _bound(context, called, replace(called, name=record.name), named, generics, (name_span, span))
    shown = record if record.name == name else replace(record, name=name)
    return _bound(context, record, shown, given, generics, (name_span, span))


def _bound(
    context: Context,
    record: Intrinsic | Operator,
    shown: Intrinsic | Operator,
    given: tuple[ast.Argument, ...],
    generics: tuple[ast.TypeExpression | ast.Expression, ...],
    spans: tuple[Span, Span],
) -> Checked:
    """A call of `record`, which reports call as `shown` is; `spans` are those of the name and of the call."""
    elements = _elements(context, generics)
    if elements is None:
        return INVALID
    if len(generics) > max(record.generics, 1):
        from teenyc.diagnostics.catalog.types import WrongGenerics

        return context.report(
            WrongGenerics(span=spans[0], function=shown.name, expected=record.generics, found=len(generics))
        )
    bound = arguments.bind(context, shown.name, record.params, given, spans[0])
    if bound is None:
        return INVALID
    if isinstance(record, Intrinsic) and record.takes_function:
        from teenyc.check import combining

        return combining.call(context, record, bound, elements, spans[1])
    read = arguments.read(context, shown, bound, elements)
    if read is None:
        return INVALID
    result = _operation(context, record, shown, read, elements, spans[1])
    if isinstance(result, ir.Value) and "mask" in bound and "other" not in bound:
        arguments.note_place(context, record, given, result)
    return result


def _overload(name: str, given: tuple[ast.Argument, ...]) -> Intrinsic | Operator | None:
    """`cast` with a stated rounding or as bits is an intrinsic; an operator goes before one of the same name."""
    operator = find_operator(name)
    if operator is None or operator.node != "cast":
        return operator or find(name)
    positional = [a for a in given if a.name is None]
    options = dict(zip([p.name for p in operator.params if not p.by_name_only], positional, strict=False))
    options |= {a.name.text: a for a in given if a.name is not None}
    if "bitcast" in options and _is_true(options["bitcast"].value):
        return find("bitcast")
    rounding = options.get("fp_downcast_rounding")
    return find("cast") if rounding is not None and not arguments.is_none(rounding.value) else operator


def _is_true(node: ast.Expression) -> bool:
    return isinstance(node, ast.BoolLiteral) and node.value


def _elements(
    context: Context, generics: tuple[ast.TypeExpression | ast.Expression, ...]
) -> tuple[Element, ...] | None:
    """The types of a turbofish; `_` and what is no type stand for nothing."""
    found: list[Element] = []
    for generic in generics:
        if isinstance(generic, ast.PathExpression):
            generic = ast.PathType(segments=generic.segments, span=generic.span)
        if is_open(generic) or not isinstance(generic, ast.PathType | ast.OtherType | ast.TupleTypeExpression):
            continue
        element = element_of(context, generic)
        if element is None:
            return None
        found.append(element)
    return tuple(found)


def _operation(
    context: Context,
    record: Intrinsic | Operator,
    shown: Intrinsic | Operator,
    read: arguments.Read,
    elements: tuple[Element, ...],
    span: Span,
) -> Checked:
    """The operation of a call; `shown` is the record under the name that reports know it by."""
    if isinstance(record, Operator) and record.rule is None:
        return _operator(context, record, read, span)
    judged = shown if isinstance(shown, Intrinsic) else _judged(shown)
    site = Site(judged, span, read.given, elements, context.reporter.report, context.require)
    results = judged.rule(replace(site, given=_as_equal(context, read.given)))
    if results is None:
        return INVALID
    if isinstance(record, Operator):
        is_binary = bool(record.operator)
        return _operator(context, record, read, span) if is_binary else _ruled(context, record, read, results[0], span)
    operation = ir.Call(
        intrinsic=record.name,
        operands=tuple((n, o) for n, o in read.operands if not _is_ignored(record, n)),
        attributes=attributes_of(site, results),
    )
    values = tuple(context.value(type) for type in results)
    context.statements.append(ir.Let(results=values, operation=operation, span=span))
    arguments.note_facts(context, record.name, read)
    return NOTHING if not values else values[0] if len(values) == 1 else Group(values)


def _as_equal(context: Context, given: Mapping[str, Given]) -> Mapping[str, Given]:
    """The arguments as the rule judges them: extents that a `static_assert` makes equal are one."""
    return {
        name: replace(each, static=tuple(context.canonical(e) if isinstance(e, Extent) else e for e in each.static))
        if context.equal and isinstance(each.static, tuple)
        else each
        for name, each in given.items()
    }


def _is_ignored(record: Intrinsic, name: str) -> bool:
    param = record.param(name)
    return param is not None and param.is_ignored


def _judged(operator: Operator) -> Intrinsic:
    """An operator's rule is written as an intrinsic's: give it a record to name."""
    assert operator.rule is not None
    return Intrinsic(operator.name, operator.params, operator.rule, "", operator.summary, "operator")


def _operator(context: Context, record: Operator, read: arguments.Read, span: Span) -> Checked:
    first, second = (o for _, o in read.operands)
    spans = (*(read.given[p.name].span for p in record.params[:2]), span)
    if record.node == "offset":
        return operators.offset(context, first, second, (spans[0], spans[1], span))
    return operators.binary(context, operators.SIGNS[record.operator], first, second, (spans[0], spans[1], span))


def _ruled(context: Context, record: Operator, read: arguments.Read, result: object, span: Span) -> Checked:
    operand = read.operands[0][1]
    assert isinstance(result, TensorType)
    if record.node == "cast":
        return operators.cast_as(context, operand, result.element, span)
    if record.node == "stored_index":
        return _stored_index(context, operand, read.operands[1][1], result.element, span)
    type = context.tensor_of(operand)
    axis = read.given["axis"].static
    rank = len(type.shape) if type else 0
    assert isinstance(axis, int), "the rule accepted the axis"
    place = axis if axis >= 0 else axis + rank + 1
    return context.emit(ir.ExpandDims(operand=operand, axes=(place,)), result, span)


def _stored_index(
    context: Context, pointer: ir.Operand, offset: ir.Operand, element: Element, span: Span
) -> ir.Operand:
    """`load(pointer + offset) as i32`."""
    address = context.emit(ir.Offset(pointer=pointer, offset=offset), context.type_of(pointer), span)
    loaded = context.emit(ir.Call(intrinsic="load", operands=(("pointer", address),)), TensorType(F32), span)
    return operators.cast(context, loaded, element, span)
