"""Functions of floats on NumPy that are right to the last bit or so: those of f32 by way of f64, `fma` and `erf`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from teenyc.intrinsics.reference import numpy


def by_doubles(function: Callable[[Any], Any] | str) -> Callable[..., Any]:
    """A function of one argument `x`, or NumPy's of that name, computed in f64: NumPy's own of f32 are off by 3 ulp."""

    def reference(x: Any) -> Any:
        np = numpy()
        wide = np.asarray(x, np.float64)
        with np.errstate(all="ignore"):
            found = getattr(np, function)(wide) if isinstance(function, str) else function(wide)
            return found.astype(np.asarray(x).dtype)

    return reference


# ---- rounded once ---------------------------------------------------------------------------------------------------


def fused(x: Any, y: Any, z: Any) -> Any:
    """`x * y + z` rounded once."""
    np = numpy()
    x, y, z = np.broadcast_arrays(*(np.asarray(a) for a in (x, y, z)))
    with np.errstate(all="ignore"):
        if x.dtype.itemsize < 8:
            product = x.astype(np.float64) * y
            return _to_odd(*_sum(product, z.astype(np.float64))).astype(x.dtype)
        return _fused_doubles(x, y, z)


def _fused_doubles(x: Any, y: Any, z: Any) -> Any:
    """The product and its error, and `z`, added so that only the last sum rounds; far-off numbers as fractions."""
    np = numpy()
    high, low = _product(x, y)
    total, rest = _sum(z, low)
    top, next = _sum(high, total)
    found = top + _to_odd(*_sum(rest, next))
    plain = np.where(np.isinf(z) & np.isfinite(x) & np.isfinite(y), z, x * y + z)
    sizes = [np.abs(a) for a in (x, y, high, z)]
    is_near = np.logical_and.reduce([(a == 0) | ((a > 1e-140) & (a < 1e140)) for a in sizes])
    found = np.where(is_near & (found != 0), found, plain)
    is_far = np.isfinite(x) & np.isfinite(y) & np.isfinite(z) & ~is_near
    if is_far.any():
        found[is_far] = [
            _fraction(*n) for n in zip(x[is_far].tolist(), y[is_far].tolist(), z[is_far].tolist(), strict=True)
        ]
    return found


def _fraction(x: float, y: float, z: float) -> float:
    from fractions import Fraction

    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if not exact:
        return x * y + z
    try:
        return float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)


def _sum(a: Any, b: Any) -> tuple[Any, Any]:
    """A sum and its error, which are exact together."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """A product and its error."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _halves(a: Any) -> tuple[Any, Any]:
    """A number as two with half as many bits each."""
    scaled = a * 134217729.0
    high = scaled - (scaled - a)
    return high, a - high


def _to_odd(total: Any, error: Any) -> Any:
    """A sum with its last bit set where there is an error: rounding it again to fewer bits is right."""
    np = numpy()
    bits = np.atleast_1d(total).view(np.int64)
    error = np.atleast_1d(error)
    is_even = (error != 0) & (bits & 1 == 0) & np.isfinite(total)
    grows = (error > 0) == (total > 0)
    found = np.where(is_even, bits + np.where(grows, 1, -1), bits).view(np.float64)
    return found.reshape(np.shape(total))


# ---- the error function ---------------------------------------------------------------------------------------------

_STEP = 64
_TERMS = 7


def erf(x: Any) -> Any:
    """The error function: a Taylor series about the nearest of the points 0, 1/64, 2/64, … 6, beyond which it is 1."""
    np = numpy()
    x = np.asarray(x)
    size = np.minimum(np.abs(x.astype(np.float64)), 6.0)
    place = np.rint(np.where(np.isnan(size), 0, size) * _STEP).astype(np.int64)
    away = size - place / _STEP
    table = _series()
    found = table[_TERMS].take(place)
    for term in reversed(range(_TERMS)):
        found = found * away + table[term].take(place)
    return np.copysign(found, x).astype(x.dtype)


@cache
def _series() -> Any:
    """For each term of the series a row: its factor at each point."""
    np = numpy()
    rows = np.empty((_TERMS + 1, 6 * _STEP + 1))
    for place in range(rows.shape[1]):
        x = place / _STEP
        slope = 2 / math.sqrt(math.pi) * math.exp(-x * x)
        before, polynomial = 0.0, 1.0  # Hermite's, whose recurrence gives the derivatives
        rows[0, place] = math.erf(x)
        for term in range(1, _TERMS + 1):
            rows[term, place] = slope * polynomial * (-1) ** (term - 1) / math.factorial(term)
            before, polynomial = polynomial, 2 * x * polynomial - 2 * (term - 1) * before
    return rows
