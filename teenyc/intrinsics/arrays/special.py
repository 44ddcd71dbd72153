"""The special functions of libdevice: error, gamma and Bessel functions."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy

from teenyc.intrinsics.arrays.makers import each, guarded


def _lgamma(x: float) -> float:
    return math.inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


def _tgamma(x: float) -> float:
    return math.copysign(math.inf, x) if x == 0 else guarded(math.gamma)(x)


def _erfcx(x: float) -> float:
    """`exp(x * x) * erfc(x)`; far out by its asymptotic series."""
    if x < 25:
        return math.inf if x < -27 else guarded(math.exp)(x * x) * math.erfc(x)
    square = 1 / (2 * x * x) if x < 1e150 else 0.0
    series = 1 - square * (1 - 3 * square * (1 - 5 * square * (1 - 7 * square)))
    return float(series / (x * math.sqrt(math.pi)))


def _erfcinv(x: float) -> float:
    if not 0 < x < 2:
        return math.nan if x != 0 and x != 2 else math.inf * (1 - x)
    return -NormalDist().inv_cdf(x / 2) / math.sqrt(2)


def _erfinv(x: float) -> float:
    size = abs(x)
    if size > 0.5:
        return math.copysign(_erfcinv(1 - size), x)
    y = x * math.sqrt(math.pi) / 2
    for _ in range(6):  # Newton's method: half as many digits are wrong after each step
        y -= (math.erf(y) - x) * math.sqrt(math.pi) / 2 * math.exp(y * y)
    return y


def _normcdf(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def _normcdfinv(x: float) -> float:
    if not 0 < x < 1:
        return math.nan if x != 0 and x != 1 else math.inf * (2 * x - 1)
    return NormalDist().inv_cdf(x)


lgamma = each(_lgamma)
tgamma = each(_tgamma)
erfcx = each(_erfcx)
erfcinv = each(_erfcinv)
erfinv = each(_erfinv)
normcdf = each(_normcdf)
normcdfinv = each(_normcdfinv)


def _hankel(n: int, x: float) -> tuple[float, float]:
    """The Bessel functions `J` and `Y` of an order for an argument that is large beside it."""
    term, sums = 1.0, [0.0, 0.0]
    for k in range(40):
        sums[k % 2] += term if k % 4 < 2 else -term
        following = term * (4 * n * n - (2 * k + 1) ** 2) / ((k + 1) * 8 * x)
        if abs(following) >= abs(term):
            break
        term = following
    turn = (n / 2 + 0.25) * math.pi
    cosine = math.cos(x) * math.cos(turn) + math.sin(x) * math.sin(turn)
    sine = math.sin(x) * math.cos(turn) - math.cos(x) * math.sin(turn)
    size = math.sqrt(2 / (math.pi * x))
    return size * (sums[0] * cosine - sums[1] * sine), size * (sums[0] * sine + sums[1] * cosine)


def _power_series(n: int, square: float, x: float) -> float:
    """`(x / 2)^n / n!` times the sum of `square^k / (k! (n + 1) … (n + k))`."""
    term = 1.0
    for k in range(1, n + 1):
        term *= x / 2 / k
    total, k = 0.0, 0
    while total + term != total and math.isfinite(total):
        total += term
        k += 1
        term *= square / (k * (n + k))
    return total


def _bessel_j(n: int, x: float) -> float:
    n = int(n)
    if n < 0 or math.isnan(x):
        return math.nan
    sign, x = (-1.0 if x < 0 and n % 2 else 1.0), abs(x)
    if x * x < 4 * (n + 1):
        return sign * _power_series(n, -x * x / 4, x)
    if x > max(50, n * n):
        return sign * _hankel(n, x)[0] if math.isfinite(x) else 0.0
    count = 2 * (int(x) + n + 60)
    angle = numpy.arange(count) * (2 * math.pi / count)
    return sign * float(numpy.mean(numpy.cos(n * angle - x * numpy.sin(angle))))


def _bessel_y(n: int, x: float, nodes: Any, weights: Any) -> float:
    """By Hankel's series, or from its integrals over angles and over a damped hyperbola, by Gauss's rule."""
    n = int(n)
    if n < 0 or math.isnan(x) or x < 0:
        return math.nan
    if x == 0 or math.isinf(x):
        return -math.inf if x == 0 else 0.0
    if x > max(50, n * n):
        return _hankel(n, x)[1]
    angle = (nodes + 1) * (math.pi / 2)
    turning = float(weights @ numpy.sin(x * numpy.sin(angle) - n * angle)) / 2
    end = math.asinh(800 / x)
    end = math.asinh((800 + n * end) / x) + 1
    t = (nodes + 1) * (end / 2)
    damping = x * numpy.sinh(t)
    rising = numpy.exp(n * t - damping) + (-1) ** n * numpy.exp(-n * t - damping)
    return turning - float(weights @ rising) * end / (2 * math.pi)


def _bessel_i(n: int, x: float) -> float:
    if not math.isfinite(x):
        return x if n % 2 else abs(x)
    return _power_series(n, x * x / 4, x)


jn = each(_bessel_j)


def yn(n: Any, x: Any) -> Any:
    reach = numpy.max(numpy.where(x <= numpy.maximum(50, n * n), x, 0), initial=0) + numpy.max(n, initial=0)
    rule = numpy.polynomial.legendre.leggauss(160 + int(reach))
    return each(lambda order, argument: _bessel_y(order, argument, *rule))(n, x)


def j0(x: Any) -> Any:
    return jn(0, x)


def j1(x: Any) -> Any:
    return jn(1, x)


def y0(x: Any) -> Any:
    return yn(0, x)


def y1(x: Any) -> Any:
    return yn(1, x)


def cyl_bessel_i0(x: Any) -> Any:
    return each(_bessel_i)(0, x)


def cyl_bessel_i1(x: Any) -> Any:
    return each(_bessel_i)(1, x)
