"""Operators: what `+`, `<`, `&`, `as` and `-` mean on checked operands, and which conversions come with them."""

from __future__ import annotations

from operator import eq, ge, gt, le, lt, ne

from teenyc.check.context import INVALID, Checked, Context, Invalid
from teenyc.check.infer import fits_kind, is_bool
from teenyc.ir import nodes as ir
from teenyc.record import replace
from teenyc.source import Span
from teenyc.types import (
    BOOL,
    F32,
    Compute,
    DType,
    Element,
    Extent,
    Kind,
    Pointer,
    Shape,
    TensorType,
    TypeVar,
    Unsuffixed,
    broadcast,
    clash,
    is_float,
    is_generic_number,
    is_integer,
    shape_text,
)

ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem"}
BITWISE = {"&": "and", "|": "or", "^": "xor", "<<": "shl", ">>": "shr"}
COMPARISON = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
OPERATORS = ARITHMETIC | BITWISE | COMPARISON
SIGNS = {name: sign for sign, name in OPERATORS.items()}


def binary(context: Context, sign: str, left: ir.Operand, right: ir.Operand, spans: tuple[Span, Span, Span]) -> Checked:
    """`left sign right`; `spans` are those of the left, of the right and of the whole."""
    name = OPERATORS[sign]
    offset = _pointer_arithmetic(context, sign, left, right, spans)
    if offset is not None:
        return offset
    if not _suits_operands(context, sign, left, right, spans):
        return INVALID
    if sign in ("<<", ">>"):
        right = _count(context, left, right, spans[1])
    met = meet(context, sign, left, right, spans)
    if met is None:
        return INVALID
    left, right, type = met
    if not _is_defined(context, sign, type.element, spans):
        return INVALID
    if sign in COMPARISON:
        compare = ir.Compare(operator=name, left=left, right=right)
        result = context.emit(compare, TensorType(BOOL, type.shape), spans[2])
        _note_truth(context, name, left, right, result)
        return result
    if sign in ("/", "%") and is_integer(type.element) and _is_zero(context, right):
        from teenyc.diagnostics.catalog.types import DivisionByZero

        return context.report(DivisionByZero(span=spans[2], operator=sign))
    result = context.emit(ir.Binary(operator=name, left=left, right=right), type, spans[2])
    if is_bool(type.element) and all(not isinstance(o, ir.Value) or o.id in context.static for o in (left, right)):
        context.static.add(result.id)
    _note_extent(context, sign, left, right, result)
    return result


def _suits_operands(
    context: Context, sign: str, left: ir.Operand, right: ir.Operand, spans: tuple[Span, Span, Span]
) -> bool:
    """Whether no pointer and no float meets an operator that has no meaning for it, whatever the other side is."""
    for operand, span in ((left, spans[0]), (right, spans[1])):
        type = context.tensor_of(operand)
        if type is None:
            continue
        is_pointer = isinstance(type.element, Pointer)
        if is_pointer or (sign in BITWISE and is_float(type.element)):
            _undefined(context, sign, str(type), spans[2], at=span)
            return False
    return True


def _count(context: Context, left: ir.Operand, right: ir.Operand, span: Span) -> ir.Operand:
    """The count of a shift may be of any integer type: its bits are cut to those of what is shifted."""
    a, b = context.tensor_of(left), context.tensor_of(right)
    if a is None or b is None or not is_integer(a.element) or not is_integer(b.element):
        return right
    return right if context.inference.unify(a.element, b.element) is not None else cast(context, right, a.element, span)


def meet(
    context: Context, sign: str, left: ir.Operand, right: ir.Operand, spans: tuple[Span, Span, Span]
) -> tuple[ir.Operand, ir.Operand, TensorType] | None:
    """Two operands made of one element type, and their broadcast type; None after a report."""
    a, b = context.tensor_of(left), context.tensor_of(right)
    if a is None or b is None:
        _mismatched(context, sign, left, right, spans)
        return None
    element = context.inference.unify(a.element, b.element)
    if element is None:
        converted = _convert_scalar(context, left, right, a, b, spans)
        if converted is None:
            _mismatched(context, sign, left, right, spans)
            return None
        left, right, element = converted
    shape = shapes_meet(context, a.shape, b.shape, spans)
    return None if shape is None else (left, right, TensorType(element, shape))


def shapes_meet(context: Context, a: Shape, b: Shape, spans: tuple[Span, Span, Span]) -> Shape | None:
    """The broadcast of two shapes; None after a report."""
    shape = broadcast(_canonical(context, a), _canonical(context, b))
    if shape is None:
        from teenyc.diagnostics.catalog.types import MismatchedShapes

        context.report(
            MismatchedShapes(
                span=spans[2],
                left=shape_text(a),
                right=shape_text(b),
                left_span=spans[0],
                right_span=spans[1],
                extents=clash(_canonical(context, a), _canonical(context, b)),
            )
        )
    return shape


def _canonical(context: Context, shape: Shape) -> Shape:
    """The shape with constants that a `static_assert` says are equal written as one."""
    if not context.equal:
        return shape
    return tuple(context.canonical(e) for e in shape)


def _convert_scalar(
    context: Context, left: ir.Operand, right: ir.Operand, a: TensorType, b: TensorType, spans: tuple[Span, Span, Span]
) -> tuple[ir.Operand, ir.Operand, Element] | None:
    """The one implicit conversion: an f32 scalar takes the type of the floats of `D` (or narrow floats) it meets."""
    if converts_to(a, b):
        return cast(context, left, b.element, spans[0], implicit=True), right, b.element
    if converts_to(b, a):
        return left, cast(context, right, a.element, spans[1], implicit=True), a.element
    return None


def converts_to(source: TensorType, target: TensorType) -> bool:
    """Whether a value converts by itself to the element type of another that it meets."""
    if isinstance(source.element, Compute) and source.element.of == target.element:
        return True
    if source.element != F32 or source.shape:
        return False
    element = target.element
    if isinstance(element, DType):
        return element.kind is Kind.FLOAT and element.bits < 32
    return isinstance(element, TypeVar | Compute) and is_float(element)


def cast(context: Context, operand: ir.Operand, element: Element, span: Span, *, implicit: bool = False) -> ir.Operand:
    """The operand converted to an element type; itself where it has that type and need not be rounded to it."""
    type = context.tensor_of(operand)
    assert type is not None, "only tensors and scalars are cast"
    rounds = isinstance(element, DType) and element.kind is Kind.FLOAT and element.bits < 32 and not implicit
    if type.element == element and not rounds:
        return operand
    result = context.emit(ir.Cast(operand=operand, implicit=implicit), replace(type, element=element), span)
    extent = context.extent_of(operand)
    if extent is not None and is_integer(element):
        context.extents[result.id] = extent
    return result


def cast_as(context: Context, operand: ir.Operand, element: Element, span: Span) -> Checked:
    """`operand as element`, judged as Rust does."""
    type = context.tensor_of(operand)
    source = type.element if type else None
    if isinstance(source, Unsuffixed) and fits_kind(source, element):
        if context.is_of_variable(source):  # which takes its type from elsewhere
            return cast(context, operand, element, span)
        context.inference.unify(source, element)
        return operand
    if isinstance(source, Unsuffixed):
        source = context.inference.final(source)
        context.inference.unify(type.element if type else source, source)
    legal = source is not None and not isinstance(source, Pointer) and not isinstance(element, Pointer)
    if legal and is_bool(element):
        legal = source is not None and is_bool(source)
    if legal and source is not None and is_bool(source):
        legal = not is_float(element)
    if not legal:
        from teenyc.diagnostics.catalog.types import InvalidCast

        return context.report(InvalidCast(span=span, source=str(context.type_of(operand)), target=str(element)))
    return cast(context, operand, element, span)


def negate(context: Context, operand: ir.Operand, span: Span) -> Checked:
    """`-operand`; on a literal, the negative literal."""
    if isinstance(operand, ir.Literal) and not isinstance(operand.value, bool) and not _is_bound(context, operand):
        negative = ir.Literal(-operand.value, operand.type)
        context.literals = [(negative, span) if one is operand else (one, at) for one, at in context.literals]
        return negative
    type = context.tensor_of(operand)
    element = type.element if type else None
    unsigned = isinstance(element, DType) and element.kind is Kind.UNSIGNED
    if type is None or element is None or isinstance(element, Pointer) or is_bool(element) or unsigned:
        return _undefined(context, "-", str(context.type_of(operand)), span)
    result = context.emit(ir.Unary(operator="neg", operand=operand), type, span)
    extent = context.extent_of(operand)
    if extent is not None:
        context.extents[result.id] = Extent.of(0) - extent
    return result


def _is_bound(context: Context, literal: ir.Literal) -> bool:
    """Whether a number of a known type has no negative in it: the least one, and a constant of a type without sign."""
    element = literal.type.element
    if not isinstance(element, DType) or not is_integer(element):
        return False
    return (
        literal.value == element.minimum if element.minimum else all(one is not literal for one, _ in context.literals)
    )


def invert(context: Context, operand: ir.Operand, span: Span) -> Checked:
    """`!operand`: logical on masks, bitwise on integers."""
    type = context.tensor_of(operand)
    if isinstance(operand, ir.Literal) and isinstance(operand.value, bool):
        return ir.Literal(not operand.value, operand.type)
    if type is None or not (is_bool(type.element) or is_integer(type.element)):
        return _undefined(context, "!", str(context.type_of(operand)), span)
    return context.emit(ir.Unary(operator="not", operand=operand), type, span)


def _pointer_arithmetic(
    context: Context, sign: str, left: ir.Operand, right: ir.Operand, spans: tuple[Span, Span, Span]
) -> Checked | None:
    a, b = context.tensor_of(left), context.tensor_of(right)
    if a is None or b is None or sign not in ("+", "-"):
        return None
    if isinstance(b.element, Pointer) and sign == "+" and not isinstance(a.element, Pointer):
        return offset(context, right, left, (spans[1], spans[0], spans[2]))
    if not isinstance(a.element, Pointer) or isinstance(b.element, Pointer):
        return None
    if sign == "-":
        negative = negate(context, right, spans[1])
        return negative if isinstance(negative, Invalid) else offset(context, left, _operand(negative), spans)
    return offset(context, left, right, spans)


def offset(context: Context, pointer: ir.Operand, by: ir.Operand, spans: tuple[Span, Span, Span]) -> Checked:
    """`pointer + by`, in elements."""
    a, b = context.tensor_of(pointer), context.tensor_of(by)
    if a is None or not isinstance(a.element, Pointer):
        from teenyc.diagnostics.catalog.memory import PointerNeeded

        found = str(context.type_of(pointer))
        return context.report(PointerNeeded(span=spans[0], function="add_offsets", found=found))
    if b is None or not is_integer(b.element):
        from teenyc.diagnostics.catalog.values import NotAnOffset

        found = str(context.type_of(by))
        return context.report(NotAnOffset(span=spans[1], found=found, pointer=str(a), pointer_span=spans[0]))
    shape = shapes_meet(context, a.shape, b.shape, spans)
    if shape is None:
        return INVALID
    return context.emit(ir.Offset(pointer=pointer, offset=by), TensorType(a.element, shape), spans[2])


def _operand(checked: Checked) -> ir.Operand:
    assert isinstance(checked, ir.Value | ir.Literal | ir.Constant)
    return checked


def _is_defined(context: Context, sign: str, element: Element, spans: tuple[Span, Span, Span]) -> bool:
    """Whether the operator has a meaning for the type; reports where not."""
    if sign in ("==", "!="):
        return True
    if is_bool(element):
        legal = sign in ("&", "|", "^")
    elif isinstance(element, Pointer):
        legal = False
    elif sign in BITWISE:
        legal = is_integer(element) or is_generic_number(element)
    else:
        legal = True
    if not legal:
        _undefined(context, sign, str(element), spans[2])
    return legal


def _undefined(context: Context, sign: str, type: str, span: Span, at: Span | None = None) -> Invalid:
    from teenyc.diagnostics.catalog.types import UndefinedOperator

    return context.report(UndefinedOperator(span=span, operator=sign, type=type, operand=at))


def _mismatched(
    context: Context, sign: str, left: ir.Operand, right: ir.Operand, spans: tuple[Span, Span, Span]
) -> None:
    """Reports operands of different types; a literal of the wrong kind is told apart."""
    from teenyc.diagnostics.catalog.types import LiteralKind, MismatchedOperands

    for one, other, span in ((left, right, spans[0]), (right, left, spans[1])):
        type, others = context.tensor_of(one), context.tensor_of(other)
        numeric = others is not None and (is_float(others.element) or is_integer(others.element))
        if isinstance(one, ir.Literal) and type and isinstance(type.element, Unsuffixed) and numeric:
            kind = type.element.is_float
            context.report(
                LiteralKind(span=span, literal=f"{one.value}", other=str(context.type_of(other)), is_float=kind)
            )
            return
    texts = (str(context.type_of(left)), str(context.type_of(right)))
    context.report(
        MismatchedOperands(
            span=spans[2],
            operator=sign,
            left=texts[0],
            right=texts[1],
            left_span=spans[0],
            right_span=spans[1],
            convert=_wider(context, left, right),
        )
    )


def _wider(context: Context, left: ir.Operand, right: ir.Operand) -> str:
    """The element type of two that holds more: floats before integers, a named type before one that is open."""

    def rank(element: Element) -> tuple[bool, bool, int]:
        bits = element.bits if isinstance(element, DType) else 0
        return not isinstance(element, Unsuffixed), is_float(element), bits

    types = [t.element for t in (context.tensor_of(left), context.tensor_of(right)) if t is not None]
    return str(max(types, key=rank)) if types else ""


def _is_zero(context: Context, operand: ir.Operand) -> bool:
    extent = context.extent_of(operand)
    return extent is not None and extent.known == 0


def _note_extent(context: Context, sign: str, left: ir.Operand, right: ir.Operand, result: ir.Value) -> None:
    """Keeps integer arithmetic on compile-time numbers readable as an extent."""
    a, b = context.extent_of(left), context.extent_of(right)
    if a is None or b is None:
        return
    extent: Extent | None = None
    if sign == "+":
        extent = a + b
    elif sign == "-":
        extent = a - b
    elif sign == "*":
        extent = a * b
    elif sign == "/":
        extent = a.divided(b)
    elif a.known is not None and b.known is not None:
        extent = _known(sign, a.known, b.known)
    if extent is not None:
        context.extents[result.id] = extent


def _note_truth(context: Context, name: str, left: ir.Operand, right: ir.Operand, result: ir.Value) -> None:
    """Keeps comparisons of compile-time numbers: which depend on constants alone, which are decided, which equate."""
    a, b = context.extent_of(left), context.extent_of(right)
    if a is None or b is None:
        return
    context.static.add(result.id)
    if name == "eq":
        context.equations[result.id] = (a, b)
    if a.known is not None and b.known is not None:
        context.truths[result.id] = _TRUTHS[name](a.known, b.known)


_TRUTHS = {"eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge}


def _known(sign: str, a: int, b: int) -> Extent | None:
    match sign:
        case "%" if b:
            return Extent.of(abs(a) % abs(b) * (1 if a >= 0 else -1))
        case "<<" if 0 <= b < 63:
            return Extent.of(a << b)
        case ">>" if 0 <= b < 63:
            return Extent.of(a >> b)
        case _:
            return None
