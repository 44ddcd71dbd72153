"""Numbers as NumPy has them: how each element type is stored, how it is held between operations, and casts.

A float of 8 or 16 bits is held in f32. In memory f16 is NumPy's own; of the others, which NumPy lacks, a buffer holds
the bits, as `uint16` or `uint8`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from teenyc.record import record
from teenyc.types import BF16, F8E4M3, F8E4M3B15, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F16, DType, Kind

Array: TypeAlias = "NDArray[Any]"

_LETTERS = {Kind.SIGNED: "int", Kind.UNSIGNED: "uint", Kind.FLOAT: "float"}


@record(kw_only=True)
class Format:
    """An 8-bit float: how many bits its fraction has, the bias of its exponent, and its greatest number.

    `ends` says what its highest codes are: `numbers`, a `nan`, or an `infinity` and several NaN. Formats in which
    `has_one_zero` take the code of -0 for NaN.
    """

    fraction: int
    bias: int
    greatest: float
    ends: str = "numbers"
    has_one_zero: bool = False


FORMATS: Mapping[DType, Format] = {
    F8E4M3: Format(fraction=3, bias=7, greatest=448.0, ends="nan"),
    F8E5M2: Format(fraction=2, bias=15, greatest=57344.0, ends="infinity"),
    F8E4M3FNUZ: Format(fraction=3, bias=8, greatest=240.0, has_one_zero=True),
    F8E5M2FNUZ: Format(fraction=2, bias=16, greatest=57344.0, has_one_zero=True),
    F8E4M3B15: Format(fraction=3, bias=15, greatest=1.75),
}


# ---- types ----------------------------------------------------------------------------------------------------------


@cache
def stored_dtype(element: DType) -> np.dtype[Any]:
    """The dtype of a buffer that holds elements of a type."""
    if element.kind is Kind.BOOL:
        return np.dtype(bool)
    if element == BF16 or element in FORMATS:
        return np.dtype(f"uint{element.bits}")
    return np.dtype(f"{_LETTERS[element.kind]}{element.bits}")


@cache
def held_dtype(element: DType) -> np.dtype[Any]:
    """The dtype in which elements of a type are held and computed."""
    return np.dtype("float32") if is_narrow(element) else stored_dtype(element)


def is_narrow(element: DType) -> bool:
    """Whether a type is a float of 8 or 16 bits."""
    return element.kind is Kind.FLOAT and element.bits < 32


# ---- conversions ----------------------------------------------------------------------------------------------------


def converted(numbers: Array, dtype: np.dtype[Any]) -> Array:
    """Numbers in another held dtype, as Rust's `as`: integers wrap, floats become integers that saturate."""
    if numbers.dtype == dtype:
        return numbers
    if numbers.dtype.kind == "f" and dtype.kind in "iu":
        return _cut(numbers, dtype)
    return numbers.astype(dtype)


def _cut(numbers: Array, dtype: np.dtype[Any]) -> Array:
    """Floats cut toward zero; what is out of range becomes the nearest bound, and NaN 0."""
    bounds = np.iinfo(dtype)
    low, limit = float(bounds.min), float(2 ** (bounds.bits - (dtype.kind == "i")))
    is_inside = (numbers >= low) & (numbers < limit)
    whole = np.where(is_inside, numbers, 0).astype(dtype)
    if is_inside.all():
        return whole
    whole = np.where(numbers < low, bounds.min, whole)
    return np.where(numbers >= limit, bounds.max, whole).astype(dtype)


def rounded(numbers: Array, element: DType) -> Array:
    """Numbers of any dtype as those of a narrow float, rounded once to nearest even, held."""
    return decoded(encoded(numbers, element), element)


def encoded(numbers: Array, element: DType) -> Array:
    """Held numbers as a buffer of elements of a type stores them, rounded once."""
    if not is_narrow(element):
        return converted(numbers, stored_dtype(element))
    near = _narrowed(numbers)
    if element == F16:
        return near.astype(np.float16)
    if element == BF16:
        bits = near.view(np.uint32)
        nearest = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
        is_nan = near != near
        if is_nan.any():
            nearest = np.where(is_nan, bits >> np.uint32(16) | (bits & np.uint32(0xFFFF) != 0) << np.uint32(6), nearest)
        return nearest.astype(np.uint16)
    return _byte_codes(near, FORMATS[element])


def decoded(stored: Array, element: DType) -> Array:
    """What a buffer of elements of a type stores, held."""
    if element == BF16:
        return (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if element == F16:
        return stored.astype(np.float32)
    return _byte_numbers(FORMATS[element]).take(stored) if element in FORMATS else stored


def cut_toward_zero(numbers: Array, element: DType) -> Array:
    """Numbers as those of a narrow float, rounded toward zero, held."""
    codes = encoded(numbers, element)
    is_beyond = np.abs(decoded(codes, element)) > np.abs(numbers)
    if element == F16:
        return np.where(is_beyond, np.nextafter(codes, np.float16(0)), codes).astype(np.float32)
    return decoded(np.where(is_beyond, codes - 1, codes).astype(codes.dtype), element)


def reread(numbers: Array, source: DType, target: DType) -> Array:
    """The bits of numbers of one type read as those of another."""
    return decoded(encoded(numbers, source).view(stored_dtype(target)), target)


def _narrowed(numbers: Array) -> Array:
    """Numbers in f32, rounded to odd where bits are lost, so that rounding again to fewer bits is right."""
    if numbers.dtype.itemsize < 4 or numbers.dtype.kind == "b":
        return numbers.astype(np.float32)
    if numbers.dtype == np.float32:
        return numbers
    wide = _doubles(numbers)
    near = wide.astype(np.float32)
    back = near.astype(np.float64)
    bits = near.view(np.uint32)
    toward_zero = bits - (np.abs(back) > np.abs(wide))
    return np.where((back == wide) | (wide != wide), bits, toward_zero | 1).astype(np.uint32).view(np.float32)


def _doubles(numbers: Array) -> Array:
    """Numbers in f64, integers of 64 bits with their lowest bits made one where f64 would lose some."""
    if numbers.dtype.kind == "f" or numbers.dtype.itemsize < 8:
        return numbers.astype(np.float64)
    high = numbers >> 53
    fits = (high == 0) | (high + 1 == 0)
    odd = ((numbers >> 11) | ((numbers & 2047) != 0)) << 11
    return np.where(fits, numbers, odd).astype(np.float64)


# ---- 8-bit floats ---------------------------------------------------------------------------------------------------


def _byte_codes(near: Array, format: Format) -> Array:
    """Numbers in f32 as codes of an 8-bit float: to nearest even, and the greatest where they are out of range."""
    is_number = near == near
    marks = near.view(np.uint32) & _MARK
    near = np.clip(np.where(is_number, near, np.float32(0)), -format.greatest, format.greatest)
    bits = near.view(np.int32)
    exponent = np.maximum((bits >> 23 & 255) - 127, 1 - format.bias)
    steps = np.rint(np.ldexp(np.abs(near), format.fraction - exponent)).astype(np.int32)
    code = ((exponent + format.bias - 1) << format.fraction) + steps
    sign = (bits >> 31 & 1) << 7
    code = np.where((code == 0) & format.has_one_zero, 0, code | sign)
    code = np.where(is_number, code, 128 if format.has_one_zero else 127).astype(np.uint8)
    return np.where(is_number | (marks == 0), code, marks.astype(np.uint8))


_MARK = np.uint32(0xFF)
"""The bits of a NaN that hold the code which it was read from, so that it is written as it was."""


@cache
def _byte_numbers(format: Format) -> Array:
    """The number of each code."""
    codes = np.arange(256)
    exponent, fraction = (codes & 127) >> format.fraction, codes & ((1 << format.fraction) - 1)
    one = 1 << format.fraction
    size = np.where(exponent == 0, fraction, fraction + one) * np.exp2(np.maximum(exponent, 1) - format.bias) / one
    if format.ends == "nan":
        size[codes & 127 == 127] = np.nan
    if format.ends == "infinity":
        is_end = exponent == exponent.max()
        size = np.where(is_end, np.where(fraction == 0, np.inf, np.nan), size)
    numbers = np.where(codes >= 128, -size, size).astype(np.float32)
    if format.has_one_zero:
        numbers[128] = np.nan
    bits = numbers.view(np.uint32)
    marked: Array = np.where(numbers != numbers, bits | codes.astype(np.uint32), bits).view(np.float32)
    return marked
