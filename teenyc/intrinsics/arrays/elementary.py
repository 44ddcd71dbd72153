"""The elementary functions of libdevice."""

from __future__ import annotations

import math
from typing import Any

import numpy

from teenyc.intrinsics.arrays.makers import each, guarded, saturated

acos = numpy.arccos
acosh = numpy.arccosh
asin = numpy.arcsin
asinh = numpy.arcsinh
atan = numpy.arctan
atan2 = numpy.arctan2
atanh = numpy.arctanh
cbrt = numpy.cbrt
copysign = numpy.copysign
cosh = numpy.cosh
expm1 = numpy.expm1
fmod = numpy.fmod
hypot = numpy.hypot
ldexp = numpy.ldexp
log10 = numpy.log10
log1p = numpy.log1p
nearbyint = numpy.rint
nextafter = numpy.nextafter
rint = numpy.rint
scalbn = numpy.ldexp
sinh = numpy.sinh
tan = numpy.tan
trunc = numpy.trunc
fast_cosf = numpy.cos
fast_dividef = numpy.divide
fast_expf = numpy.exp
fast_log10f = numpy.log10
fast_log2f = numpy.log2
fast_logf = numpy.log
fast_powf = numpy.power
fast_sinf = numpy.sin
fast_tanf = numpy.tan
fast_tanhf = numpy.tanh
finitef = numpy.isfinite
isfinited = numpy.isfinite
isinf = numpy.isinf
isnan = numpy.isnan
signbit = numpy.signbit
erfc = each(math.erfc)
remainder = each(guarded(math.remainder))


def exp10(x: Any) -> Any:
    return numpy.power(x.dtype.type(10), x)


def fast_exp10f(x: Any) -> Any:
    return numpy.power(x.dtype.type(10), x)


def pow(x: Any, y: Any) -> Any:
    return numpy.power(x.astype("float64"), y).astype(x.dtype)


def rcbrt(x: Any) -> Any:
    return 1 / numpy.cbrt(x)


def quarters(x: Any) -> tuple[Any, Any]:
    """How many quarter turns `abs(x)` times pi has, up to whole turns, and the angle that is left."""
    half = numpy.fmod(numpy.abs(x), 2).astype("float64") * 2
    near = numpy.rint(half)
    return numpy.nan_to_num(near).astype(int) % 4, (half - near) * (numpy.pi / 2)


def sinpi(x: Any) -> Any:
    turns, rest = quarters(x)
    sine, cosine = numpy.sin(rest), numpy.cos(rest)
    result = numpy.copysign(1, x) * numpy.choose(turns, [sine, cosine, -sine, -cosine])
    return numpy.where(numpy.isfinite(x), result, numpy.nan).astype(x.dtype)


def cospi(x: Any) -> Any:
    turns, rest = quarters(x)
    sine, cosine = numpy.sin(rest), numpy.cos(rest)
    result = numpy.choose(turns, [cosine, -sine, -cosine, sine]) + 0.0
    return numpy.where(numpy.isfinite(x), result, numpy.nan).astype(x.dtype)


def round(x: Any) -> Any:
    whole = numpy.trunc(x)
    return numpy.copysign(whole + numpy.where(numpy.abs(x - whole) >= 0.5, numpy.sign(x), 0), x).astype(x.dtype)


llrint = saturated(numpy.rint, "int64")
llround = saturated(round, "int64")


def saturatef(x: Any) -> Any:
    return numpy.where(numpy.isnan(x), 0, numpy.clip(x, 0, 1)).astype(x.dtype)


def fdim(x: Any, y: Any) -> Any:
    return numpy.where(x <= y, 0, x - y).astype(x.dtype)


def logb(x: Any) -> Any:
    whole = numpy.where(x == 0, -numpy.inf, numpy.frexp(x)[1] - 1)
    return numpy.where(numpy.isfinite(x), whole, numpy.abs(x)).astype(x.dtype)


def ilogb(x: Any) -> Any:
    least, greatest = -(2**31), 2**31 - 1
    whole = numpy.where((x == 0) | numpy.isnan(x), least, numpy.frexp(x)[1] - 1)
    return numpy.where(numpy.isinf(x), greatest, whole).astype("int32")


def rcp64h(x: Any) -> Any:
    return (numpy.asarray(1 / x).view("uint64") & numpy.uint64(0xFFFFFFFF00000000)).view("float64")


def rhypot(x: Any, y: Any) -> Any:
    return 1 / numpy.hypot(x, y)


def norm3d(x: Any, y: Any, z: Any) -> Any:
    return numpy.hypot(numpy.hypot(x, y), z)


def rnorm3d(x: Any, y: Any, z: Any) -> Any:
    return 1 / norm3d(x, y, z)


def norm4d(x: Any, y: Any, z: Any, w: Any) -> Any:
    return numpy.hypot(numpy.hypot(x, y), numpy.hypot(z, w))


def rnorm4d(x: Any, y: Any, z: Any, w: Any) -> Any:
    return 1 / norm4d(x, y, z, w)
