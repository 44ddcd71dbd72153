"""Rust's methods of numbers: for each its arguments, the receivers that have it, and what it means in words.

The checker builds what they stand for (`check.methods`); the docs print this table. Beside these every function is a
method of its first argument: `x.sqrt()`, `x.atan2(y)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from teenyc.record import record
from teenyc.types import BOOL, DType, Element, Kind, Pointer, is_float, is_generic_number, is_integer


@record
class Method:
    """`of` names the receivers, a key of `RECEIVERS`."""

    name: str
    arguments: tuple[str, ...]
    of: str
    meaning: str


def _is_signed(element: Element) -> bool:
    return is_integer(element) and not (isinstance(element, DType) and element.kind is Kind.UNSIGNED)


RECEIVERS: Mapping[str, Callable[[Element], bool]] = {
    "integer": is_integer,
    "signed integer": _is_signed,
    "float": is_float,
    "number": lambda e: is_float(e) or is_integer(e) or is_generic_number(e),
    "value": lambda e: e == BOOL or not isinstance(e, Pointer),
}
"""Which element types have the methods of a kind of receiver."""


def _method(row: tuple[str, str, str]) -> Method:
    signature, of, meaning = row
    name, *arguments = signature.split()
    return Method(name, tuple(arguments), of, meaning)


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in map(
        _method,
        (
            ("abs_diff y", "number", "The distance of two numbers; of integers, without sign."),
            ("clamp min max", "number", "The value, or the bound that it passes; NaN stays."),
            ("clone", "value", "The value."),
            ("count_zeros", "integer", "How many bits are zero."),
            ("div_ceil y", "integer", "The quotient, rounded up."),
            ("div_euclid y", "number", "The quotient that leaves a rest which is not below 0."),
            ("exp_m1", "float", "`expm1(x)`."),
            ("fract", "float", "`x - trunc(x)`."),
            ("ilog2", "integer", "The logarithm to base 2, rounded down."),
            ("is_finite", "float", "Where `x` is neither infinite nor NaN."),
            ("is_infinite", "float", "Where `x` is infinite."),
            ("is_nan", "float", "Where `x` is NaN."),
            ("is_negative", "signed integer", "`x < 0`."),
            ("is_positive", "signed integer", "`x > 0`."),
            ("is_power_of_two", "integer", "Where one bit is one, and `x` is above 0."),
            ("is_sign_negative", "float", "Where the sign of `x` is set, also that of -0."),
            ("is_sign_positive", "float", "Where the sign of `x` is not set."),
            ("leading_ones", "integer", "How many bits above the highest zero are one."),
            ("ln_1p", "float", "`log1p(x)`."),
            ("log base", "float", "The logarithm to any base."),
            ("max y", "number", "`maximum(x, y)`; of a tensor with an axis, the reduction."),
            ("min y", "number", "`minimum(x, y)`; of a tensor with an axis, the reduction."),
            ("next_multiple_of y", "integer", "The least multiple of `y` that is not below `x`."),
            ("next_power_of_two", "integer", "The least power of two that is not below `x`; 0 where none fits."),
            ("pow n", "number", "The power; a known whole exponent gives products."),
            ("powi n", "float", "The power to an `i32`; a known exponent gives products."),
            ("recip", "float", "`1.0 / x`."),
            ("rem_euclid y", "number", "The rest of the division that is not below 0."),
            ("rotate_left n", "integer", "The bits turned to the left."),
            ("rotate_right n", "integer", "The bits turned to the right."),
            ("round", "float", "The nearest whole number, ties away from 0."),
            ("round_ties_even", "float", "The nearest whole number, ties to even."),
            ("saturating_add y", "integer", "The sum, or the bound that it passes."),
            ("saturating_mul y", "integer", "The product, or the bound that it passes."),
            ("saturating_sub y", "integer", "The difference, or the bound that it passes."),
            ("signum", "number", "1 with the sign of `x`; of integers 0 for 0, of floats NaN for NaN."),
            ("sin_cos", "float", "The sine and the cosine."),
            ("to_bits", "float", "The bits, as an unsigned integer of the same width."),
            ("to_degrees", "float", "Radians to degrees."),
            ("to_radians", "float", "Degrees to radians."),
            ("trailing_ones", "integer", "How many bits below the lowest zero are one."),
            ("trailing_zeros", "integer", "How many bits below the lowest one are zero."),
            ("trunc", "float", "The whole number next to `x` toward zero."),
            ("unsigned_abs", "signed integer", "The size, without sign, which holds that of the least integer too."),
            ("wrapping_abs", "integer", "`abs(x)`; the least integer stays."),
            ("wrapping_add y", "integer", "`x + y`, which wraps also on the way to an address."),
            ("wrapping_div y", "integer", "`x / y`; the least integer over -1 is itself."),
            ("wrapping_mul y", "integer", "`x * y`, which wraps also on the way to an address."),
            ("wrapping_neg", "integer", "`-x`, which wraps also on the way to an address."),
            ("wrapping_pow n", "integer", "`x.pow(n)`, which wraps also on the way to an address."),
            ("wrapping_rem y", "integer", "`x % y`."),
            ("wrapping_shl n", "integer", "`x << n`, which wraps also on the way to an address."),
            ("wrapping_shr n", "integer", "`x >> n`."),
            ("wrapping_sub y", "integer", "`x - y`, which wraps also on the way to an address."),
        ),
    )
}

RENAMED: Mapping[str, str] = {"ln": "log", "powf": "pow", "mul_add": "fma", "add": "add_offsets"}
"""Methods whose function has another name here."""

_OVERFLOW = "write `wrapping_{rest}` or `saturating_{rest}`, and test the operands where overflow matters"
_ORDER = "compare with `<`, `==` and `>`"
_BYTES = "take bytes by shifts: `x >> 8 & 0xFF`"

MISSING: Mapping[str, str] = {
    **dict.fromkeys(("cmp", "partial_cmp", "total_cmp"), _ORDER),
    **dict.fromkeys((f"to_{order}_bytes" for order in ("le", "be", "ne")), _BYTES),
    **dict.fromkeys(("then", "then_some"), "choose with `if`, or with `where_(mask, x, y)` between tensors"),
    **dict.fromkeys((f"checked_{n}" for n in ("div", "rem", "div_euclid", "rem_euclid")), "test the divisor before"),
    **{f"{p}_{n}": _OVERFLOW.format(rest=n) for p in ("checked", "overflowing") for n in ("add", "sub", "mul")},
    **{f"{p}_{n}": f"write `wrapping_{n}`" for p in ("checked", "overflowing") for n in ("neg", "abs", "pow")},
    **{f"{p}_{n}": f"write `wrapping_{n}`" for p in ("checked", "overflowing") for n in ("shl", "shr")},
}
"""Methods of Rust's numbers that kernels have not, with what to write."""
