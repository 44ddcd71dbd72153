"""Rust's arithmetic on Python numbers: operands that fit a dtype go in, what Rust's wrapping operators give comes out.

Division truncates and `MIN / -1` is `MIN`; shifts take the count modulo the width; float to integer saturates and NaN
gives 0; a float operation rounds once, to the nearest number of its type.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from struct import pack, unpack

from teenyc.types import DType, Kind


def wrap(value: int, dtype: DType) -> int:
    """The integer of `dtype` that is equal to `value` modulo 2 to the width."""
    value &= (1 << dtype.bits) - 1
    return value - (1 << dtype.bits) if value > dtype.maximum else value


def divide(a: int, b: int) -> int:
    """`a / b` toward zero, not wrapped; `b` is not zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def remainder(a: int, b: int) -> int:
    """`a % b` with the sign of `a`; `b` is not zero."""
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


_EXACT: Mapping[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": divide,
    "rem": remainder,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}

COMPARISONS: Mapping[str, Callable[[int | float, int | float], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def integer_binary(name: str, a: int, b: int, dtype: DType) -> int | None:
    """A `BINARY` operator on integers of `dtype`; None for a division by zero, which has no value."""
    if name in ("div", "rem") and b == 0:
        return None
    if name == "shl":
        return wrap(a << (b % dtype.bits), dtype)
    if name == "shr":
        return a >> (b % dtype.bits)
    return wrap(_EXACT[name](a, b), dtype)


def integer_unary(name: str, a: int, dtype: DType) -> int:
    """A `UNARY` operator on an integer of `dtype`."""
    return wrap(-a if name == "neg" else ~a, dtype)


def float_binary(name: str, a: float, b: float, dtype: DType) -> float | None:
    """An arithmetic operator on f32 or f64, rounded once; None where the result is NaN or floats lack the operator.

    Rounding the f64 result to f32 is the same as rounding the exact one: f64 has more than twice the digits.
    """
    if name not in ("add", "sub", "mul", "div", "rem"):
        return None
    a, b = round_float(a, dtype), round_float(b, dtype)
    if name == "div":
        result = _float_quotient(a, b)
    elif name == "rem":
        result = math.nan if b == 0 or math.isinf(a) else math.fmod(a, b)
    else:
        result = float(_FLOAT[name](a, b))
    return None if math.isnan(result) else round_float(result, dtype)


_FLOAT: Mapping[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
}


def _float_quotient(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


# ---- conversions ----------------------------------------------------------------------------------------------------


def float_to_integer(value: float, dtype: DType) -> int:
    """`value as dtype`: toward zero, saturating, NaN gives 0."""
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return dtype.maximum if value > 0 else dtype.minimum
    return min(max(int(value), dtype.minimum), dtype.maximum)


def integer_to_float(value: int, dtype: DType) -> float:
    """`value as dtype`, rounded once from the exact integer, also where f64 could not hold it."""
    excess = abs(value).bit_length() - 53
    if excess > 0 and dtype.bits < 64:
        # Round to odd: the last bit that f64 keeps says whether anything was cut, so the next rounding is right.
        magnitude = abs(value)
        kept = (magnitude >> excess) | (1 if magnitude & ((1 << excess) - 1) else 0)
        value = (kept << excess) * (1 if value > 0 else -1)
    return round_float(float(value), dtype)


def can_round(dtype: DType) -> bool:
    """Whether `round_float` knows the type."""
    return dtype.name in _ROUND


def round_float(value: float, dtype: DType) -> float:
    """The number of a float type nearest to `value`, ties to even; beyond its range it is infinite."""
    return _ROUND[dtype.name](value)


def _round_as(code: str) -> Callable[[float], float]:
    def rounded(value: float) -> float:
        try:
            (result,) = unpack(code, pack(code, value))
        except OverflowError:
            return math.copysign(math.inf, value)
        return float(result)

    return rounded


def _round_bf16(value: float) -> float:
    """bf16 is the upper half of an f32; round to odd on the way there, so that the last rounding is the only one."""
    if math.isnan(value) or math.isinf(value):
        return value
    single = _round_as("<f")(value)
    if math.isinf(single):
        return single
    (bits,) = unpack("<I", pack("<f", single))
    if single != value:
        toward_zero = bits - 1 if abs(single) > abs(value) else bits
        bits = toward_zero | 1
    bits += 0x7FFF + ((bits >> 16) & 1)
    (result,) = unpack("<f", pack("<I", bits & 0xFFFF0000))
    return float(result)


_ROUND: Mapping[str, Callable[[float], float]] = {
    "f16": _round_as("<e"),
    "bf16": _round_bf16,
    "f32": _round_as("<f"),
    "f64": float,
}


def exactly_holds(source: DType, target: DType) -> bool:
    """Whether every value of `source` is a value of `target`, so that a cast between them loses nothing."""
    if source == target:
        return True
    if source.kind is Kind.FLOAT:
        return target.kind is Kind.FLOAT and _holds_floats(source, target)
    if source.kind is Kind.BOOL or target.kind is Kind.BOOL:
        return False
    if target.kind is Kind.FLOAT:
        return source.bits - (source.kind is Kind.SIGNED) <= _DIGITS.get(target.name, 0)
    return target.minimum <= source.minimum and source.maximum <= target.maximum


_DIGITS: Mapping[str, int] = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}


def _holds_floats(source: DType, target: DType) -> bool:
    return target.bits >= 32 and target.bits > source.bits
