"""Numbers: a literal of the IR goes in, the Python literal that Triton reads as exactly that goes out."""

from __future__ import annotations

from math import isfinite
from struct import pack, unpack

from teenyc.codegen.terms import ATOM, UNARY, Kind, Term, tensor
from teenyc.ir.nodes import Literal
from teenyc.types import F32, F64, Compute, DType, Element, TypeVar, is_float
from teenyc.types import Kind as ElementKind

LEAST_NORMAL, GREATEST = 2.0**-126, (2 - 2.0**-23) * 2.0**127
"""The sizes that Triton takes for f32 where a number stands alone; others become f64."""

SMALLEST_GREATEST = 127
"""The greatest number that every type of number holds."""


def literal_term(literal: Literal) -> Term:
    """A literal as it stands beside something that decides its type."""
    element, value = literal.type.element, literal.value
    if isinstance(value, bool):
        return Term(str(value), ATOM, Kind.STATIC, element)
    if isinstance(value, float) or is_float(element):
        return _float_term(float(value), element)
    return Term(str(value), ATOM if value >= 0 else UNARY, Kind.STATIC, element, value >= 0)


def _float_term(value: float, element: Element) -> Term:
    if not isfinite(value):
        return Term(f'float("{value}")', ATOM, Kind.STATIC, element)
    text = repr(value)
    return Term(text, UNARY if text.startswith("-") else ATOM, Kind.STATIC, element, not text.startswith("-"))


def stands_alone(literal: Literal) -> bool:
    """Whether Triton gives a bare number the literal's type, or one that becomes it without loss where they meet."""
    element, value = literal.type.element, literal.value
    if isinstance(value, bool):
        return True
    if isinstance(element, DType) and element.kind is not ElementKind.FLOAT:
        return element.bits >= 32
    if isinstance(value, int) and not is_float(element):
        return True
    if not _is_f32_sized(float(value)):
        return False
    may_be_wide = element == F64 or isinstance(element, Compute | TypeVar)
    return not may_be_wide or _is_exact_f32(float(value))


def is_exact_bf16(literal: Literal) -> bool:
    """Whether rounding the literal to bf16 changes nothing, however it is done."""
    value = float(literal.value)
    if not isfinite(value):
        return True
    if not _is_f32_sized(value) or not _is_exact_f32(value):
        return False
    return bool(unpack("<I", pack("<f", value))[0] & 0xFFFF == 0)


def full(term: Term, dtype: str) -> Term:
    """A tensor without axes that holds a Python number exactly."""
    return tensor(f"tl.full([], {term.text}, {dtype})", term.element)


def is_default(element: Element | None) -> bool:
    """Whether Triton gives a bare Python number this type."""
    return isinstance(element, DType) and (element.name in ("i32", "bool") or element == F32)


def _is_f32_sized(value: float) -> bool:
    return value == 0 or not isfinite(value) or LEAST_NORMAL <= abs(value) <= GREATEST


def _is_exact_f32(value: float) -> bool:
    return not isfinite(value) or unpack("<f", pack("<f", value))[0] == value


def is_exact_f8(literal: Literal) -> bool:
    """Whether every 8-bit float holds the number: one that is small and short."""
    value = float(literal.value)
    return value in (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75)
