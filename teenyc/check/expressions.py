"""Expressions: a syntax tree goes in; operations are appended to the block, and an operand with its type comes out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from teenyc.check import calls, operators
from teenyc.check.associated import associated
from teenyc.check.context import INVALID, NEVER_KNOWN, UNDEFINED, Checked, Context, Group, Invalid, describe
from teenyc.check.infer import is_bool
from teenyc.check.outer import is_outer
from teenyc.check.types import element_of
from teenyc.ir import nodes as ir
from teenyc.record import replace
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import (
    BOOL,
    DTYPES,
    F32,
    ONE,
    Compute,
    DType,
    Element,
    Extent,
    Kind,
    Pointer,
    TensorType,
    TypeVar,
    scalar,
)

LONGEST_BODY = 60
"""The longest body of a closure that a report writes out."""


def expression(context: Context, node: ast.Expression) -> Checked:
    """Checks one expression of any form."""
    match node:
        case ast.IntegerLiteral() | ast.FloatLiteral():
            return _number(context, node)
        case ast.BoolLiteral():
            return ir.Literal(node.value, scalar(BOOL))
        case ast.StringLiteral():
            return _unsupported(context, node.span, "a string", "strings stand in asserts and prints only")
        case ast.PathExpression():
            return _path(context, node)
        case ast.Unary():
            return _unary(context, node)
        case ast.Binary():
            return _binary(context, node)
        case ast.Cast():
            return _cast(context, node)
        case ast.Call():
            return calls.call(context, node)
        case ast.MethodCall():
            return calls.method(context, node)
        case ast.FieldAccess():
            return _field(context, node)
        case ast.Index():
            return _index(context, node)
        case ast.Tuple():
            return Group(tuple(expression(context, item) for item in node.items))
        case ast.If():
            from teenyc.check.branches import conditional

            return conditional(context, node)
        case ast.Match():
            from teenyc.check.selection import selection

            return selection(context, node)
        case ast.Block():
            from teenyc.check.statements import scoped_block

            return scoped_block(context, node)
        case ast.Array():
            return _unsupported(context, node.span, "an array", "shapes `&[N, 4]` stand in arguments only")
        case ast.Range():
            return _unsupported(context, node.span, "a range", "ranges stand in `for` and in `x[(.., None)]`")
        case ast.Closure():
            return closure(context, node)
        case _:
            assert_never(node)


def closure(context: Context, node: ast.Closure, element: Element = F32) -> Invalid:
    """Reports a closure; a simple one is written out as the function on `element` that may stand in its place."""
    instead = "write an `fn` with a name and pass the name"
    if node.body and "\n" not in node.body and len(node.body) <= LONGEST_BODY:
        instead += f": `{written_out(element, node.parameters, node.body)}`"
    return _unsupported(context, node.span, "a closure", instead)


def written_out(element: Element, parameters: Iterable[str], body: str) -> str:
    """The text of a function on elements, for a report."""
    variable = element.of if isinstance(element, Compute) else element
    generic = f"<{variable}: {variable.bound.value}>" if isinstance(variable, TypeVar) else ""
    given = ", ".join(p if ":" in p else f"{p}: {variable}" for p in parameters)
    return f"fn combine{generic}({given}) -> {variable} {{ {body} }}"


def operand(context: Context, node: ast.Expression) -> ir.Operand | Invalid:
    """Checks an expression that must give one value."""
    checked = expression(context, node)
    if not isinstance(checked, Group):
        return checked
    from teenyc.diagnostics.catalog.types import NoValue

    return context.report(NoValue(span=node.span, found=describe(checked, context)))


def condition(context: Context, node: ast.Expression) -> ir.Operand | Invalid:
    """Checks an expression that must give one bool scalar."""
    return _one_bool(context, operand(context, node), node.span)


def _one_bool(context: Context, checked: ir.Operand | Invalid, span: Span) -> ir.Operand | Invalid:
    """What must be one bool scalar."""
    if isinstance(checked, Invalid):
        return INVALID
    type = context.tensor_of(checked)
    if type is not None and is_bool(type.element) and not type.shape:
        return checked
    from teenyc.diagnostics.catalog.values import NotACondition

    return context.report(NotACondition(span=span, found=str(context.type_of(checked))))


def extent(context: Context, node: ast.Expression, what: str) -> Extent | None:
    """An integer known at compile time, over the constants of the kernel; None after a report."""
    checked = operand(context, node)
    if isinstance(checked, Invalid):
        return None
    found = context.extent_of(checked)
    if found is None:
        from teenyc.diagnostics.catalog.types import NotConstant

        context.report(NotConstant(span=node.span, what=what))
    return found


def _unsupported(context: Context, span: Span, what: str, instead: str) -> Invalid:
    from teenyc.diagnostics.catalog.structure import Unsupported

    return context.report(Unsupported(span=span, what=what, instead=instead))


def _number(context: Context, node: ast.IntegerLiteral | ast.FloatLiteral) -> Checked:
    value: int | float = node.value
    dtype = DTYPES.get(node.suffix)
    if dtype is None:
        type = context.inference.literal(isinstance(node, ast.FloatLiteral))
    else:
        type = scalar(dtype)
        value = float(value) if dtype.kind is Kind.FLOAT else value
    result = ir.Literal(value, type)
    context.literals.append((result, node.span))
    return result


def _path(context: Context, node: ast.PathExpression) -> Checked:
    names = [segment.name.text for segment in node.segments]
    if len(names) == 1:
        return _name(context, names[0], node.span)
    known = associated(context, names, node.span)
    if known is not None:
        return known
    of_module = context.declarations.constant(names)
    if of_module is not None:
        return constant(context, of_module, node.span)
    if names[0] in ("self", "crate", "super"):
        return _name(context, names[-1], node.span)
    from teenyc.diagnostics.catalog.names import UnknownName
    from teenyc.diagnostics.suggest import closest

    module = context.declarations.module(names)
    similar = closest(names[-1], module.named[1]) if module is not None else None
    near = "::".join((*names[:-1], similar)) if similar is not None else None
    return context.report(UnknownName(span=node.span, name="::".join(names), similar=near))


def _name(context: Context, name: str, span: Span) -> Checked:
    if name == NEVER_KNOWN:
        return UNDEFINED
    symbol = context.lookup(name)
    if symbol is not None:
        symbol.is_read = True
        return symbol.current
    found = context.declarations.constants.get(name)
    if found is not None:
        return constant(context, found, span)
    return _unknown(context, name, span)


def constant(context: Context, item: ast.ConstItem, span: Span) -> Checked:
    """A `const` of the file where it is used: its expression, checked here and folded later."""
    name = context.declarations.shown(item)
    if name in context.calling:
        from teenyc.diagnostics.catalog.structure import Recursion

        start = context.calling.index(name)
        path = (*context.calling[start:], name)
        return context.report(Recursion(span=span, path=path, is_constant=True))
    context.library.called.add(item.span)
    docs = context.library.docs
    docs[item.name.text] = item.doc if docs.get(item.name.text, item.doc) == item.doc else ""
    element = element_of(context, item.type)
    if element is None:
        return INVALID
    scopes, calling, declarations = context.scopes, context.calling, context.declarations
    context.scopes, context.calling, context.declarations = [{}], (*calling, name), declarations.at(item.span)
    value = operand(context, item.value)
    context.scopes, context.calling, context.declarations = scopes, calling, declarations
    if isinstance(value, Invalid):
        return INVALID
    checked = expect(context, value, scalar(element), item.value.span, "the constant's type")
    return _named(context, checked, item, span)


def _named(context: Context, checked: Checked, item: ast.ConstItem, span: Span) -> Checked:
    """The value of a `const` with its name, which the generated module keeps for numbers."""
    name = item.name.text
    if isinstance(checked, ir.Literal) and not isinstance(checked.value, bool):
        return replace(checked, name=name)
    if not isinstance(checked, ir.Value):
        return checked
    copy = context.emit(ir.Copy(operand=checked, constant=name), checked.type, span)
    context.copy_facts(checked, copy)
    return copy


def _unknown(context: Context, name: str, span: Span) -> Checked:
    from teenyc.diagnostics.catalog.names import FunctionAsValue, UnknownName
    from teenyc.intrinsics import find

    if name in context.declarations.functions or find(name) is not None:
        return context.report(FunctionAsValue(span=span, name=name))
    from teenyc.diagnostics.suggest import closest

    if context.declarations.may_be_missing(name) or is_outer(context, name, span):
        return INVALID
    from teenyc.check import other_names

    known = [n for scope in context.scopes for n in scope if "'" not in n and " " not in n]
    similar = closest(name, [*known, *context.declarations.constants])
    advice, ended = _lookalike(name, known) or other_names.value(name), context.ended.get(name)
    return context.report(UnknownName(span=span, name=name, similar=similar, advice=advice, ended=ended))


def _lookalike(name: str, known: list[str]) -> str:
    """Says so where a name in scope differs only by letters of another alphabet that look the same."""
    plain = name.translate(_LOOKALIKES)
    other = next((k for k in known if k != name and k.translate(_LOOKALIKES) == plain), None)
    if other is None:
        return ""
    from unicodedata import name as name_of

    one, two = next((a, b) for a, b in zip(name, other, strict=False) if a != b)
    return f"`{other}` looks the same, but has {name_of(two).lower()} in the place of {name_of(one).lower()}"


_LOOKALIKES = str.maketrans("аеорсухіјѕΑΒΕΖΗΙΚΜΝΟΡΤΥΧοАВЕКМНОРСТХ", "aeopcyxijsABEZHIKMNOPTYXoABEKMHOPCTX")


def is_module(context: Context, node: ast.Expression) -> bool:
    """Whether an expression is the name of a module of another language, such as `np`, that nothing here hides."""
    from teenyc.check.other_names import MODULES

    if isinstance(node, ast.FieldAccess):
        return is_module(context, node.operand)
    if not isinstance(node, ast.PathExpression) or len(node.segments) != 1:
        return False
    name = node.segments[0].name.text
    return name in MODULES and context.lookup(name) is None


def of_module(context: Context, module: ast.Expression, name: ast.Name, *, is_called: bool) -> Invalid:
    """Reports `np.exp(x)` and `tl.float32`."""
    from teenyc.check import other_names
    from teenyc.diagnostics.catalog.names import UnknownName
    from teenyc.intrinsics import find, find_operator

    text = name.text
    is_known = find(text) is not None or find_operator(text) is not None
    advice = f"the functions are in scope: write `{text}(…)`" if is_known else other_names.function(text)
    if not is_called:
        advice = other_names.type_(text) or advice
    root = module
    while isinstance(root, ast.FieldAccess):
        root = root.operand
    assert isinstance(root, ast.PathExpression)
    advice = advice or "nothing is imported: the functions of teenyc are in scope"
    return context.report(UnknownName(span=root.span, name=root.segments[0].name.text, advice=advice))


def _unary(context: Context, node: ast.Unary) -> Checked:
    checked = operand(context, node.operand)
    if isinstance(checked, Invalid):
        return INVALID
    apply = operators.negate if node.operator == "-" else operators.invert
    return apply(context, checked, node.span)


def _binary(context: Context, node: ast.Binary) -> Checked:
    """Chains such as `a + b + c` nest on the left, as deep as they are long: walk down without recursion."""
    chain: list[ast.Binary] = []
    left: ast.Expression = node
    while isinstance(left, ast.Binary) and left.operator not in ("&&", "||"):
        chain.append(left)
        left = left.left
    checked = _logical(context, left) if isinstance(left, ast.Binary) else operand(context, left)
    for link in reversed(chain):
        right = operand(context, link.right)
        if isinstance(checked, Invalid | Group) or isinstance(right, Invalid):
            checked = INVALID
            continue
        spans = (link.left.span, link.right.span, link.span)
        checked = operators.binary(context, link.operator, checked, right, spans)
    return checked


def _logical(context: Context, node: ast.Binary) -> Checked:
    """`a && b` evaluates `b` only if `a` does not decide; where `b` has no effect that makes no difference."""
    first = operand(context, node.left)
    with context.block() as statements:
        second = operand(context, node.right)
    if _are_masks(context, node, first, second):
        return INVALID
    left, right = _one_bool(context, first, node.left.span), _one_bool(context, second, node.right.span)
    if isinstance(left, Invalid) or isinstance(right, Invalid):
        return INVALID
    if all(_is_harmless(s) for s in statements):
        context.statements += statements
        name = "and" if node.operator == "&&" else "or"
        return context.emit(ir.Binary(operator=name, left=left, right=right), scalar(BOOL), node.span)
    decided = ir.Block(yields=(ir.Literal(node.operator == "||", scalar(BOOL)),))
    other = ir.Block(statements=tuple(statements), yields=(right,))
    then, otherwise = (other, decided) if node.operator == "&&" else (decided, other)
    result = context.value(scalar(BOOL))
    context.statements.append(ir.If(condition=left, then=then, otherwise=otherwise, results=(result,), span=node.span))
    return result


def _are_masks(context: Context, node: ast.Binary, left: ir.Operand | Invalid, right: ir.Operand | Invalid) -> bool:
    """Whether `&&` stands between masks; reports it then."""
    types = [context.tensor_of(o) for o in (left, right) if not isinstance(o, Invalid)]
    if not any(t is not None and t.shape and is_bool(t.element) for t in types):
        return False
    from teenyc.diagnostics.catalog.values import LogicalOnMasks

    found = [str(context.type_of(o)) if not isinstance(o, Invalid) else "" for o in (left, right)]
    are_closed = not any(
        isinstance(s, ast.Binary) and s.span.start == s.left.span.start for s in (node.left, node.right)
    )
    context.report(
        LogicalOnMasks(
            span=node.operator_span,
            operator=node.operator,
            operands=((found[0], node.left.span), (found[1], node.right.span)),
            is_replaceable=are_closed,
        )
    )
    return True


def _is_harmless(statement: ir.Statement) -> bool:
    """Whether a statement may run although it need not: no memory, no effect, no division by zero."""
    if not isinstance(statement, ir.Let):
        return False
    operation = statement.operation
    if isinstance(operation, ir.Call):
        from teenyc.intrinsics import TABLE

        return TABLE[operation.intrinsic].is_pure
    return not isinstance(operation, ir.Apply)


def _cast(context: Context, node: ast.Cast) -> Checked:
    checked = operand(context, node.operand)
    element = element_of(context, node.target)
    if isinstance(checked, Invalid) or element is None:
        return INVALID
    return operators.cast_as(context, checked, element, node.span)


def _field(context: Context, node: ast.FieldAccess) -> Checked:
    if is_module(context, node.operand):
        return of_module(context, node.operand, node.name, is_called=False)
    checked = expression(context, node.operand)
    if isinstance(checked, Invalid):
        return INVALID
    if isinstance(checked, Group) and node.name.text.isdigit() and int(node.name.text) < len(checked.items):
        return checked.items[int(node.name.text)]
    from teenyc.check import other_names
    from teenyc.intrinsics import find

    name = node.name.text
    advice = other_names.field(name) or (f"call it: `.{name}(…)`" if find(name) is not None else "")
    return _unsupported(context, node.span, f"the field `{name}`", advice or "kernel values have no fields")


def _index(context: Context, node: ast.Index) -> Checked:
    """`x[(.., None)]`: `..` stands for all axes, each `None` for a new one."""
    checked = operand(context, node.operand)
    if isinstance(checked, Invalid):
        return INVALID
    type = context.tensor_of(checked)
    axes = _new_axes(context, node, len(type.shape) if type else 0)
    if type is None or axes is None:
        return INVALID
    shape = list(type.shape)
    for axis in axes:
        shape.insert(axis, ONE)
    if not axes:
        return checked
    return context.emit(ir.ExpandDims(operand=checked, axes=axes), TensorType(type.element, tuple(shape)), node.span)


def _new_axes(context: Context, node: ast.Index, rank: int) -> tuple[int, ...] | None:
    items = node.index.items if isinstance(node.index, ast.Tuple) else (node.index,)
    kinds = ["rest" if _is_rest(i) else "new" if _is_none(i) else "other" for i in items]
    if "other" in kinds or kinds.count("rest") > max(rank, 1):
        from teenyc.diagnostics.catalog.types import BadIndex

        reason = "a tensor cannot be indexed" if "other" in kinds else f"too many axes for a tensor of rank {rank}"
        context.report(BadIndex(span=node.index.span, reason=reason))
        return None
    axes: list[int] = []
    place, rests = 0, kinds.count("rest")
    for kind in kinds:
        if kind == "new":
            axes.append(place)
            place += 1
        else:  # several `..` stand for one axis each, a single one for all
            place += rank if rests == 1 else 1
    return tuple(axes)


def _is_rest(node: ast.Expression) -> bool:
    return isinstance(node, ast.Range) and node.start is None and node.stop is None


def _is_none(node: ast.Expression) -> bool:
    return isinstance(node, ast.PathExpression) and [s.name.text for s in node.segments] == ["None"]


def expect(context: Context, value: ir.Operand, type: TensorType, span: Span, why: str) -> Checked:
    """The value where a place needs a type: literals take it, anything else must have it."""
    found = context.tensor_of(value)
    if found is not None and context.inference.unify(found.element, type.element) is not None:
        if found.shape == type.shape:
            return value
    elif found is not None and isinstance(value, ir.Literal) and isinstance(value.value, int):
        from teenyc.diagnostics.catalog.types import LiteralKind

        if isinstance(type.element, DType) and type.element.kind is Kind.FLOAT:
            text = str(value.value)
            return context.report(LiteralKind(span=span, literal=text, other=str(type), is_float=False))
    from teenyc.diagnostics.catalog.types import MismatchedTypes

    convert = None
    if found is not None and found.shape == type.shape and not isinstance(type.element, Pointer):
        convert = str(type.element) if not isinstance(found.element, Pointer) else None
    return context.report(
        MismatchedTypes(span=span, expected=str(type), found=str(context.type_of(value)), why=why, convert=convert)
    )
