"""Arguments of intrinsics: bound to parameters by place and name, then read as each parameter's role asks."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.check import expressions, operators
from teenyc.check.context import INVALID, Context, Group, Invalid, Place, describe
from teenyc.check.misfits import NEEDS, as_list, form, is_misfit, is_spread, items_of_list, wrong
from teenyc.check.types import element_of
from teenyc.intrinsics.spec import REQUIRED, Given, Intrinsic, Operator, Param, Role, Static
from teenyc.ir import nodes as ir
from teenyc.record import field, replace, state
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import BOOL, DescriptorType, Element, Extent, Pointer, TensorType, Unsuffixed, is_float, is_integer

AXES = {"X": 0, "Y": 1, "Z": 2}
RUN_TIME = (Role.VALUE, Role.POINTER, Role.MASK)


@state
class Read:
    """The arguments of one call: as its rule sees them, and those that are operands, in the order of the record."""

    given: dict[str, Given] = field(default_factory=dict)
    operands: list[tuple[str, ir.Operand]] = field(default_factory=list)
    equal: tuple[Extent, Extent] | None = None


def is_none(node: ast.Expression) -> bool:
    """Whether an argument is `None`, which means that it is absent."""
    return isinstance(node, ast.PathExpression) and node.segments[-1].name.text == "None" and len(node.segments) == 1


def bind(
    context: Context, function: str, params: tuple[Param, ...], given: tuple[ast.Argument, ...], span: Span
) -> Mapping[str, ast.Expression] | None:
    """The expression for each parameter that is present; None after a report."""
    by_place = [p for p in params if not p.by_name_only]
    positional = [a for a in given if a.name is None]
    if len(positional) > len(by_place):
        _too_many(context, function, params, positional)
        return None
    if is_spread(context, function, by_place, positional):
        return None
    bound: dict[str, ast.Argument] = dict(zip((p.name for p in by_place), positional, strict=False))
    is_sound = True
    for argument in given:
        if argument.name is not None:
            is_sound &= _bind_name(context, function, params, bound, argument, argument.name)
    present = {n: _unwrapped(a.value) for n, a in bound.items() if not is_none(a.value)}
    missing = tuple(p.name for p in params if p.default is REQUIRED and p.name not in present)
    if missing and is_sound:
        _report_count(context, function, params, len(given), span, missing=missing)
    return present if is_sound and not missing else None


def _report_count(
    context: Context,
    function: str,
    params: tuple[Param, ...],
    found: int,
    span: Span,
    *,
    missing: tuple[str, ...] = (),
    advice: str = "",
) -> None:
    from teenyc.diagnostics.catalog.types import WrongCount

    by_place = [p for p in params if not p.by_name_only]
    least = sum(p.default is REQUIRED for p in by_place)
    expected = str(least) if least == len(by_place) else f"{least} to {len(by_place)}"
    signature = tuple(p.name if p.default is REQUIRED else f"{p.name} = …" for p in params)
    context.report(
        WrongCount(
            span=span,
            function=function,
            expected=expected,
            found=found,
            missing=missing,
            signature=signature,
            advice=advice,
        )
    )


def _too_many(context: Context, function: str, params: tuple[Param, ...], positional: list[ast.Argument]) -> None:
    by_place = [p for p in params if not p.by_name_only]
    extra = positional[len(by_place) :]
    lists = [p for p in by_place if p.role in (Role.SHAPE, Role.AXES)]
    last = extra[-1].value
    advice = ""
    if lists and not isinstance(positional[by_place.index(lists[0])].value, ast.Array | ast.Tuple):
        advice = f"`{lists[0].name}` is one list: write `{as_list(items_of_list(by_place, lists[0], positional))}`"
    elif any(p.role is Role.DTYPE for p in params) and isinstance(last, ast.PathExpression):
        advice = f"a type is stated in `::<…>`: `{function}::<{last.segments[-1].name.text}>(…)`"
    span = extra[0].span.to(extra[-1].span)
    _report_count(context, function, params, len(positional), span, advice=advice)


def _bind_name(
    context: Context,
    function: str,
    params: tuple[Param, ...],
    bound: dict[str, ast.Argument],
    argument: ast.Argument,
    name: ast.Name,
) -> bool:
    param = next((p for p in params if name.text == p.name or name.text in p.aliases), None)
    if param is None:
        from teenyc.diagnostics.catalog.names import UnknownArgument
        from teenyc.diagnostics.suggest import closest

        known = tuple(p.name for p in params)
        similar = closest(name.text, known)
        context.report(UnknownArgument(span=name.span, function=function, name=name.text, known=known, similar=similar))
        return False
    if param.name in bound:
        from teenyc.diagnostics.catalog.types import GivenTwice

        first = bound[param.name].span
        context.report(GivenTwice(span=argument.span, function=function, name=param.name, first=first))
        return False
    bound[param.name] = argument
    return True


def _unwrapped(node: ast.Expression) -> ast.Expression:
    """`Some(x)` is `x`."""
    match node:
        case ast.Call(callee=ast.PathExpression(segments=(only,)), arguments=(given,)) if only.name.text == "Some":
            return given.value
        case _:
            return node


def read(
    context: Context, record: Intrinsic | Operator, bound: Mapping[str, ast.Expression], generics: tuple[Element, ...]
) -> Read | None:
    """Reads every argument that is present; None after a report."""
    result = Read()
    is_sound = True
    for param in record.params:
        if param.name in bound:
            for name, node in _items(param, bound[param.name]):
                is_sound &= _read_one(context, record.name, replace(param, name=name), node, result)
    if not is_sound:
        return None
    operands = dict(result.operands)
    for param in record.params:
        if param.meets is not None and param.name in operands:
            is_sound &= _meet(context, record, param, operands, result, generics)
    result.operands = list(operands.items())
    for name, operand in result.operands:
        result.given[name] = Given(result.given[name].span, context.type_of(operand), result.given[name].static)
    return result if is_sound else None


def _items(param: Param, node: ast.Expression) -> list[tuple[str, ast.Expression]]:
    """The arguments of one parameter, with their names: the items of a list where it takes several."""
    if not param.several or not isinstance(node, ast.Array | ast.Tuple):
        return [(param.name, node)]
    return [(f"{param.name}{place or ''}", item) for place, item in enumerate(node.items)]


def _read_one(context: Context, function: str, param: Param, node: ast.Expression, result: Read) -> bool:
    if param.role in RUN_TIME or param.role is Role.FLAG:
        operand = _operand(context, function, param, node)
        if isinstance(operand, Invalid):
            return False
        if param.role is Role.FLAG:
            return _flag(context, function, param, node.span, operand, result)
        static: Static = operand.value if isinstance(operand, ir.Literal) else None
        result.operands.append((param.name, operand))
        result.given[param.name] = Given(node.span, context.type_of(operand), static)
        return True
    if param.role is Role.INDICES:
        return _indices(context, function, param, node, result)
    static = _static(context, function, param, node)
    if static is None:
        return False
    result.given[param.name] = Given(node.span, None, static)
    return True


def _indices(context: Context, function: str, param: Param, node: ast.Expression, result: Read) -> bool:
    """A list whose items are operands of their own, under the parameter's name and their number."""
    if not isinstance(node, ast.Array | ast.Tuple):
        wrong(context, function, param, node.span, form(context, node), node)
        return False
    result.given[param.name] = Given(node.span)
    items = [_operand(context, function, param, item) for item in node.items]
    for index, (item, operand) in enumerate(zip(node.items, items, strict=True)):
        if not isinstance(operand, Invalid):
            result.operands.append((f"{param.name}{index}", operand))
            result.given[f"{param.name}{index}"] = Given(item.span, context.type_of(operand))
    return not any(isinstance(operand, Invalid) for operand in items)


def _operand(context: Context, function: str, param: Param, node: ast.Expression) -> ir.Operand | Invalid:
    """The one value that an argument gives."""
    if is_misfit(context, function, param, node):
        return INVALID
    checked = expressions.expression(context, node)
    if isinstance(checked, Group):
        wrong(context, function, param, node.span, describe(checked, context))
        return INVALID
    return checked


def _flag(context: Context, function: str, param: Param, span: Span, operand: ir.Operand, result: Read) -> bool:
    """A bool that is known now, or one that depends on constants and so is an operand."""
    type = context.type_of(operand)
    if type != TensorType(BOOL):
        wrong(context, function, param, span, f"`{type}`")
        return False
    known = bool(operand.value) if isinstance(operand, ir.Literal) else context.truths.get(_id(operand))
    if known is None and not _is_constant(context, operand):
        from teenyc.diagnostics.catalog.types import NotConstant

        context.report(NotConstant(span=span, what=f"`{param.name}` of `{function}`"))
        return False
    result.given[param.name] = Given(span, type, known)
    result.equal = context.equations.get(_id(operand))
    if known is None:
        result.operands.append((param.name, operand))
    return True


def _id(operand: ir.Operand) -> int:
    return operand.id if isinstance(operand, ir.Value) else 0


def _is_constant(context: Context, operand: ir.Operand) -> bool:
    return not isinstance(operand, ir.Value) or operand.id in context.static


def _static(context: Context, function: str, param: Param, node: ast.Expression) -> Static:
    """What a compile-time argument is; None after a report."""
    match param.role:
        case Role.SHAPE | Role.AXES:
            return _several(context, function, param, node)
        case Role.AXIS:
            return _axis(context, function, param, node)
        case Role.EXTENT:
            return _extent(context, function, param, node)
        case Role.DTYPE:
            return _dtype(context, function, param, node)
        case Role.CHOICE:
            return _choice(context, function, param, node)
        case Role.TEXT:
            if isinstance(node, ast.StringLiteral):
                return node.value
            wrong(context, function, param, node.span, form(context, node))
            return None
        case Role.VALUE | Role.POINTER | Role.MASK | Role.INDICES | Role.FLAG | Role.FUNCTION:
            raise AssertionError("read elsewhere")


def _extent(context: Context, function: str, param: Param, node: ast.Expression) -> Extent | None:
    """An integer known at compile time; `param` may be a list of which this is an item."""
    operand = _operand(context, function, param, node)
    if isinstance(operand, Invalid):
        return None
    found = context.extent_of(operand)
    type = context.type_of(operand)
    if found is None and not (isinstance(type, TensorType) and not type.shape and is_integer(type.element)):
        from teenyc.diagnostics.catalog.types import WrongArgument

        needs = NEEDS[param.role] if param.role in (Role.EXTENT, Role.AXIS) else "integers known at compile time"
        context.report(
            WrongArgument(span=node.span, function=function, name=param.name, needs=needs, found=f"`{type}`")
        )
    elif found is None:
        from teenyc.diagnostics.catalog.types import NotConstant

        context.report(NotConstant(span=node.span, what=f"`{param.name}` of `{function}`"))
    return found


def _several(context: Context, function: str, param: Param, node: ast.Expression) -> Static:
    if not isinstance(node, ast.Array | ast.Tuple):
        wrong(context, function, param, node.span, form(context, node), node)
        return None
    extents = [_extent(context, function, param, item) for item in node.items]
    if any(e is None for e in extents):
        return None
    found = tuple(e for e in extents if e is not None)
    if param.role is Role.SHAPE:
        return found
    known = [e.known for e in found]
    if any(k is None for k in known):
        wrong(context, function, param, node.span, "a list with constants of the kernel")
        return None
    return tuple(k for k in known if k is not None)


def _axis(context: Context, function: str, param: Param, node: ast.Expression) -> Static:
    if isinstance(node, ast.PathExpression) and len(node.segments) >= 2 and node.segments[-2].name.text == "Axis":
        name = node.segments[-1].name.text
        if name in AXES:
            return AXES[name]
        wrong(context, function, param, node.span, f"`Axis::{name}`, which is not `Axis::X`, `Axis::Y` or `Axis::Z`")
        return None
    extent = _extent(context, function, param, node)
    if extent is None:
        return None
    if extent.known is None:
        wrong(context, function, param, node.span, f"`{extent}`, whose value comes with the launch")
    return extent.known


def _dtype(context: Context, function: str, param: Param, node: ast.Expression) -> Static:
    if isinstance(node, ast.PathExpression):
        return element_of(context, ast.PathType(segments=node.segments, span=node.span))
    wrong(context, function, param, node.span, form(context, node), node)
    return None


def _choice(context: Context, function: str, param: Param, node: ast.Expression) -> Static:
    text = None
    if isinstance(node, ast.StringLiteral):
        text = node.value
    elif isinstance(node, ast.PathExpression):
        text = node.segments[-1].name.text
    choice = param.choice(text) if text is not None else None
    if choice is None:
        is_string = isinstance(node, ast.StringLiteral)
        wrong(context, function, param, node.span, f'`"{text}"`' if is_string else form(context, node), node)
    return choice


def _meet(
    context: Context,
    record: Intrinsic | Operator,
    param: Param,
    operands: dict[str, ir.Operand],
    result: Read,
    generics: tuple[Element, ...],
) -> bool:
    """Gives an argument the element type of what it meets."""
    assert param.meets is not None
    own = context.tensor_of(operands[param.name])
    other = operands.get(param.meets)
    target = _met_element(context, record, param.meets, other, result, generics)
    if own is None or target is None:
        return True  # the rule judges
    if context.inference.unify(own.element, target) is not None:
        return True
    span = result.given[param.name].span
    if operators.converts_to(own, TensorType(target)):
        operands[param.name] = operators.cast(context, operands[param.name], target, span, implicit=True)
        return True
    others = context.tensor_of(other) if other is not None else None
    if others is not None and operators.converts_to(others, own):
        operands[param.meets] = operators.cast(context, operands[param.meets], own.element, span, implicit=True)
        return True
    place = f" as `{param.name}` of `{record.name}`"
    return _literal_fits(context, own.element, target, operands[param.name], span, place)


def _literal_fits(context: Context, own: Element, target: Element, operand: ir.Operand, span: Span, place: str) -> bool:
    """Other types are for the rule to judge; a literal of the wrong kind is told here."""
    numeric = is_float(target) or is_integer(target)
    if not isinstance(own, Unsuffixed) or not isinstance(operand, ir.Literal) or not numeric:
        return True
    from teenyc.diagnostics.catalog.types import LiteralKind

    text = str(operand.value)
    context.report(LiteralKind(span=span, literal=text, other=str(target), is_float=own.is_float, place=place))
    return False


def _met_element(
    context: Context,
    record: Intrinsic | Operator,
    name: str,
    other: ir.Operand | None,
    result: Read,
    generics: tuple[Element, ...],
) -> Element | None:
    met = next((p for p in record.params if p.name == name), None)
    if met is not None and met.role is Role.DTYPE:
        given = result.given.get(name)
        return given.static if given is not None else generics[-1] if generics else None  # type: ignore[return-value]  # what a dtype reads is an element
    type = context.type_of(other) if other is not None else None
    if isinstance(type, DescriptorType):
        return type.element
    if not isinstance(type, TensorType):
        return None
    return type.element.to if isinstance(type.element, Pointer) else type.element


def note_facts(context: Context, function: str, read: Read) -> None:
    """`static_assert(M == N)` makes the two one extent from here on."""
    if function == "static_assert" and read.equal is not None:
        context.note_equal(*read.equal)


def note_place(
    context: Context, record: Intrinsic | Operator, given: tuple[ast.Argument, ...], result: ir.Value
) -> None:
    """Notes where `other` of a masked load belongs, for a fix that adds it."""
    param = next((p for p in record.params if p.name == "other" and p.default is None), None)
    if param is None or not given:
        return
    by_place = dict(zip((p.name for p in record.params if not p.by_name_only), given, strict=False))
    named = (a for a in given if a.name is not None and a.name.text in (param.name, *param.aliases))
    absent = next(named, by_place.get(param.name))
    if absent is not None and is_none(absent.value):
        context.others[result.id] = Place(absent.value.span, is_given=True)
    else:
        end = given[-1].span.end
        context.others[result.id] = Place(Span(end, end), is_given=False)
