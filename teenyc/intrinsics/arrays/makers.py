"""Makers of functions on arrays, from functions of numbers and of fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy


def each(function: Callable[..., float], otypes: str = "") -> Callable[..., Any]:
    """A function of Python's numbers on arrays; without `otypes` the result is what the first floats are."""

    def apply(*arrays: Any) -> Any:
        floats = [numpy.asarray(a).dtype for a in arrays if numpy.asarray(a).dtype.kind == "f"]
        return numpy.vectorize(function, otypes=[otypes or floats[0]])(*arrays)

    return apply


def guarded(function: Callable[..., float]) -> Callable[..., float]:
    """A function of `math` that gives NaN where it has no value, and an infinity beyond the floats."""

    def call(*numbers: float) -> float:
        try:
            return function(*numbers)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return call


def rounded(value: Fraction, mode: str, dtype: Any) -> float:
    """The float next to a fraction: `n` to nearest even, `z` toward zero, `d` down, `u` up."""
    info = numpy.finfo(dtype)
    size, digits = abs(value), info.nmant + 1
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - digits
    exponent += size >= Fraction(2) ** (exponent + digits)
    exponent = max(exponent, int(info.minexp) - info.nmant)
    whole, rest = divmod(size / Fraction(2) ** exponent, 1)
    is_nearer = 2 * rest > 1 or (2 * rest == 1 and whole % 2 == 1)
    is_away = {"n": is_nearer, "z": False, "d": value < 0, "u": value > 0}[mode]
    size = (whole + (is_away and rest > 0)) * Fraction(2) ** exponent
    greatest = float(info.max)
    if size > greatest:
        return math.copysign(math.inf if mode == "n" or is_away else greatest, value)
    return math.copysign(float(size), value)


def directed(exact: Callable[..., Any], plain: Callable[..., Any], mode: str, dtype: str = "") -> Callable[..., Any]:
    """A function rounded once; `exact` takes fractions, `plain` says what it is beside infinities and for NaN.

    Where `exact` gives two terms, their sum is meant: terms that cancel give -0 if that is rounded down.
    """

    def apply(*arrays: Any) -> Any:
        kind = numpy.dtype(dtype or numpy.asarray(arrays[0]).dtype)

        def one(near: float, *numbers: float) -> float:
            if not all(map(math.isfinite, numbers)):
                return near
            value = exact(*map(Fraction, numbers))
            if isinstance(value, tuple):
                cancels = mode == "d" and value[0] == -value[1] != 0
                value = sum(value)
                near = -0.0 if cancels else near
            return rounded(value, mode, kind) if value else near

        numbers = (numpy.asarray(array).astype(object) for array in arrays)  # numbers of Python, which are exact
        return numpy.vectorize(one, otypes=[kind])(plain(*arrays), *numbers)

    return apply


def saturated(whole: Callable[[Any], Any], dtype: str) -> Callable[[Any], Any]:
    """Floats as integers; what is out of range becomes the nearest bound, NaN 0 or the highest bit alone."""

    def apply(x: Any) -> Any:
        info = numpy.iinfo(dtype)
        is_short = x.dtype.itemsize == 4 and info.bits == 32
        unknown = 0 if is_short else (1 << (info.bits - 1)) * (1 if info.kind == "u" else -1)
        bounds = (int(info.min), int(info.max))
        return numpy.vectorize(
            lambda v: unknown if math.isnan(v) else int(min(max(v, bounds[0]), bounds[1])), otypes=[dtype]
        )(whole(x))

    return apply


def unsigned(x: Any) -> Any:
    """Integers as unsigned ones of the same bits."""
    return x.view(numpy.dtype(f"uint{x.dtype.itemsize * 8}"))
