"""Casts of literals: a literal and an element type go in, the literal of that type comes out where it is determined."""

from __future__ import annotations

from teenyc.ir.nodes import Literal, Number
from teenyc.passes.integers import can_round, float_to_integer, integer_to_float, round_float, wrap
from teenyc.types import F32, F64, Compute, DType, Element, Kind, Pointer, TypeVar, Unsuffixed, is_float, scalar


def convert(literal: Literal, target: Element, *, implicit: bool = False) -> Literal | None:
    """`literal as target`; None where the number depends on what a dtype parameter stands for."""
    source = literal.type.element
    match target:
        case DType():
            number = _settled(literal, target)
            result = None if number is None else _as_dtype(number, source, target, implicit)
        case TypeVar() | Compute():
            result = _as_generic(literal, target)
        case Unsuffixed() | Pointer():
            result = None
    return None if result is None else Literal(result, scalar(target))


def _settled(literal: Literal, target: DType) -> Number | None:
    """The number that a literal is when it is used: rounded to its own type, narrow floats computing in f32."""
    source, number = literal.type.element, literal.value
    if isinstance(source, DType) and source.kind is not Kind.FLOAT:
        return number
    if isinstance(source, DType):
        return round_float(float(number), F64 if source == F64 else F32)
    if not is_float(source):
        return None
    is_same_in_both = target == F32 or round_float(float(number), F32) == number
    return round_float(float(number), F32) if is_same_in_both else None


def _as_dtype(number: Number, source: Element, target: DType, implicit: bool) -> Number | None:
    if target.kind is Kind.BOOL:
        return number if isinstance(number, bool) else None
    if target.kind is Kind.FLOAT:
        return _as_float(number, F32 if implicit and target.bits < 32 else target)
    if isinstance(number, float):
        return float_to_integer(number, target)
    return wrap(int(number), target)


def _as_float(number: Number, target: DType) -> float | None:
    if not can_round(target):
        return None
    return round_float(number, target) if isinstance(number, float) else integer_to_float(int(number), target)


def _as_generic(literal: Literal, target: TypeVar | Compute) -> Number | None:
    """The literal over a `D: Float`, with all digits of its own type; integers only where f64 holds them."""
    source, number = literal.type.element, literal.value
    if not is_float(target) or isinstance(number, bool):
        return None
    if isinstance(source, TypeVar) and target == Compute(source):
        return number
    if isinstance(number, int):
        return float(number) if isinstance(source, DType) and abs(number) <= 1 << 53 else None
    return _settled(literal, F64)
