"""The functions of libdevice that round in a stated direction."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy

from teenyc.intrinsics.arrays.makers import directed, saturated


def total(x: Fraction, y: Fraction) -> tuple[Fraction, Fraction]:
    return x, y


def difference(x: Fraction, y: Fraction) -> tuple[Fraction, Fraction]:
    return x, -y


def product(x: Fraction, y: Fraction) -> Fraction:
    return x * y


def quotient(x: Fraction, y: Fraction) -> Fraction | int:
    return x / y if y else 0


def fused(x: Fraction, y: Fraction, z: Fraction) -> tuple[Fraction, Fraction]:
    return x * y, z


def reciprocal(x: Fraction) -> Fraction | int:
    return 1 / x if x else 0


def root(x: Fraction) -> Fraction | int:
    """The root, or a number between the same two floats: the last of some hundred bits says that more follow."""
    if x <= 0:
        return 0
    scale = x.denominator << 1200
    square = x.numerator * x.denominator << 2400
    whole = math.isqrt(square)
    return Fraction(whole, scale) if whole * whole == square else Fraction(2 * whole + 1, 2 * scale)


def inverse_root(x: Fraction) -> Fraction | int:
    return root(1 / x) if x > 0 else 0


def itself(x: Fraction) -> Fraction:
    return x


def single(x: Any) -> Any:
    return x.astype("float32")


def double(x: Any) -> Any:
    return x.astype("float64")


def fused_plainly(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


def inverse(x: Any) -> Any:
    return 1 / x


def one_over_root(x: Any) -> Any:
    return 1 / numpy.sqrt(x)


add_rn = directed(total, numpy.add, "n")
add_rz = directed(total, numpy.add, "z")
add_rd = directed(total, numpy.add, "d")
add_ru = directed(total, numpy.add, "u")
sub_rn = directed(difference, numpy.subtract, "n")
sub_rz = directed(difference, numpy.subtract, "z")
sub_rd = directed(difference, numpy.subtract, "d")
sub_ru = directed(difference, numpy.subtract, "u")
mul_rn = directed(product, numpy.multiply, "n")
mul_rz = directed(product, numpy.multiply, "z")
mul_rd = directed(product, numpy.multiply, "d")
mul_ru = directed(product, numpy.multiply, "u")
div_rz = directed(quotient, numpy.divide, "z")
div_rd = directed(quotient, numpy.divide, "d")
div_ru = directed(quotient, numpy.divide, "u")
fma_rn = directed(fused, fused_plainly, "n")
fma_rz = directed(fused, fused_plainly, "z")
fma_rd = directed(fused, fused_plainly, "d")
fma_ru = directed(fused, fused_plainly, "u")
rcp_rn = directed(reciprocal, inverse, "n")
rcp_rz = directed(reciprocal, inverse, "z")
rcp_rd = directed(reciprocal, inverse, "d")
rcp_ru = directed(reciprocal, inverse, "u")
sqrt_rz = directed(root, numpy.sqrt, "z")
sqrt_rd = directed(root, numpy.sqrt, "d")
sqrt_ru = directed(root, numpy.sqrt, "u")
rsqrt_rn = directed(inverse_root, one_over_root, "n")


# ---- conversions ----------------------------------------------------------------------------------------------------

double2float_rn = directed(itself, single, "n", "float32")
double2float_rz = directed(itself, single, "z", "float32")
double2float_rd = directed(itself, single, "d", "float32")
double2float_ru = directed(itself, single, "u", "float32")
float2int_rn = saturated(numpy.rint, "int32")
float2int_rz = saturated(numpy.trunc, "int32")
float2int_rd = saturated(numpy.floor, "int32")
float2int_ru = saturated(numpy.ceil, "int32")
float2uint_rn = saturated(numpy.rint, "uint32")
float2uint_rz = saturated(numpy.trunc, "uint32")
float2uint_rd = saturated(numpy.floor, "uint32")
float2uint_ru = saturated(numpy.ceil, "uint32")
float2ll_rn = saturated(numpy.rint, "int64")
float2ll_rz = saturated(numpy.trunc, "int64")
float2ll_rd = saturated(numpy.floor, "int64")
float2ll_ru = saturated(numpy.ceil, "int64")
float2ull_rn = saturated(numpy.rint, "uint64")
float2ull_rz = saturated(numpy.trunc, "uint64")
float2ull_rd = saturated(numpy.floor, "uint64")
float2ull_ru = saturated(numpy.ceil, "uint64")
double2int_rn = saturated(numpy.rint, "int32")
double2int_rz = saturated(numpy.trunc, "int32")
double2int_rd = saturated(numpy.floor, "int32")
double2int_ru = saturated(numpy.ceil, "int32")
double2uint_rn = saturated(numpy.rint, "uint32")
double2uint_rz = saturated(numpy.trunc, "uint32")
double2uint_rd = saturated(numpy.floor, "uint32")
double2uint_ru = saturated(numpy.ceil, "uint32")
double2ll_rn = saturated(numpy.rint, "int64")
double2ll_rz = saturated(numpy.trunc, "int64")
double2ll_rd = saturated(numpy.floor, "int64")
double2ll_ru = saturated(numpy.ceil, "int64")
double2ull_rn = saturated(numpy.rint, "uint64")
double2ull_rz = saturated(numpy.trunc, "uint64")
double2ull_rd = saturated(numpy.floor, "uint64")
double2ull_ru = saturated(numpy.ceil, "uint64")
int2float_rn = directed(itself, single, "n", "float32")
int2float_rz = directed(itself, single, "z", "float32")
int2float_rd = directed(itself, single, "d", "float32")
int2float_ru = directed(itself, single, "u", "float32")
int2double_rn = double
uint2float_rn = directed(itself, single, "n", "float32")
uint2float_rz = directed(itself, single, "z", "float32")
uint2float_rd = directed(itself, single, "d", "float32")
uint2float_ru = directed(itself, single, "u", "float32")
uint2double_rn = double
ll2float_rn = directed(itself, single, "n", "float32")
ll2float_rz = directed(itself, single, "z", "float32")
ll2float_rd = directed(itself, single, "d", "float32")
ll2float_ru = directed(itself, single, "u", "float32")
ll2double_rn = directed(itself, double, "n", "float64")
ll2double_rz = directed(itself, double, "z", "float64")
ll2double_rd = directed(itself, double, "d", "float64")
ll2double_ru = directed(itself, double, "u", "float64")
ull2float_rn = directed(itself, single, "n", "float32")
ull2float_rz = directed(itself, single, "z", "float32")
ull2float_rd = directed(itself, single, "d", "float32")
ull2float_ru = directed(itself, single, "u", "float32")
ull2double_rn = directed(itself, double, "n", "float64")
ull2double_rz = directed(itself, double, "z", "float64")
ull2double_rd = directed(itself, double, "d", "float64")
ull2double_ru = directed(itself, double, "u", "float64")
