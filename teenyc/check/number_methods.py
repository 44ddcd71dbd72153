"""What Rust's methods of numbers stand for: each is a function from its receiver and arguments to an expression.

`intrinsics.methods` says what they mean and who has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from teenyc.check.numbers import Number, dtype_of, other_sign
from teenyc.types import DType, Kind, is_float, is_integer


def _is_unsigned(number: Number) -> bool:
    return isinstance(number.of, DType) and number.of.kind is Kind.UNSIGNED


def _unsigned(x: Number) -> Number:
    """The same bits without sign."""
    return x if _is_unsigned(x) else x.cast(other_sign(dtype_of(x)))


# ---- division -------------------------------------------------------------------------------------------------------


def _rem_euclid(x: Number, y: Number) -> Number:
    rest = x % y
    if _is_unsigned(x):
        return rest
    rest = rest.once()
    return (rest < (0.0 if is_float(x.of) else 0)).then(rest + y.call("abs"), rest)


def _div_euclid(x: Number, y: Number) -> Number:
    if _is_unsigned(x):
        return x / y
    one, zero = (1.0, 0.0) if is_float(x.of) else (1, 0)
    quotient = (x / y).call("trunc").once() if is_float(x.of) else (x / y).once()
    step = (y > zero).then(one, x.like(-one))
    return (x % y < zero).then(quotient - step, quotient)


def _next_multiple_of(x: Number, y: Number) -> Number:
    return x.call("cdiv", y) * y


# ---- sums and products ----------------------------------------------------------------------------------------------


def _abs_diff(x: Number, y: Number) -> Number:
    if is_float(x.of):
        return (x - y).call("abs")
    size = (x < y).then((y - x).wrapped(), (x - y).wrapped())
    return _unsigned(size)


def _bound(x: Number) -> Number:
    """What is passed where a sum with a negative, or other, number overflows."""
    dtype = dtype_of(x)
    return (x < 0).then(dtype.minimum, x.like(dtype.maximum))


def _saturating_add(x: Number, y: Number) -> Number:
    total = (x + y).wrapped().once()
    if _is_unsigned(x):
        return (total < x).then(dtype_of(x).maximum, total)
    return (((total ^ x) & (total ^ y)) < 0).then(_bound(x), total)


def _saturating_sub(x: Number, y: Number) -> Number:
    rest = (x - y).wrapped().once()
    if _is_unsigned(x):
        return (x < y).then(0, rest)
    return (((x ^ y) & (rest ^ x)) < 0).then(_bound(x), rest)


def _saturating_mul(x: Number, y: Number) -> Number:
    """In 64 bits; for integers of 64 bits the upper half of the product of the sizes tells."""
    dtype = dtype_of(x)
    if dtype.bits < 64:
        wide = "u64" if _is_unsigned(x) else "i64"
        product = x.cast(wide) * y.cast(wide)
        return product.call("clamp", dtype.minimum, dtype.maximum).cast(dtype.name)
    if _is_unsigned(x):
        return (x.call("umulhi", y) > 0).then(dtype.maximum, x * y)
    a, b = (_unsigned(n.call("abs")).once() for n in (x, y))
    is_negative = ((x ^ y) < 0).once()
    limit = is_negative.then(x.integer(1 << 63, "u64"), x.integer(dtype.maximum, "u64"))
    overflows = (a.call("umulhi", b) > 0) | (a * b > limit)
    return overflows.then(is_negative.then(dtype.minimum, x.like(dtype.maximum)), x * y)


def _signum(x: Number) -> Number:
    if _is_unsigned(x):
        return (x > 0).then(x.integer(1, dtype_of(x).name), 0)
    if is_integer(x.of):
        return (x > 0).then(x.integer(1, dtype_of(x).name), (x < 0).then(-1, x.like(0)))
    return x.differs(x).then(x, x.like(1.0).call("copysign", x))


# ---- bits -----------------------------------------------------------------------------------------------------------


def _rotate(x: Number, count: Number, *, left: bool) -> Number:
    bits, by = _unsigned(x), count.cast(_unsigned_name(x))
    back = by.negative().wrapped()
    turned = (bits << by) | (bits >> back) if left else (bits >> by) | (bits << back)
    return turned if _is_unsigned(x) else turned.cast(dtype_of(x).name)


def _unsigned_name(x: Number) -> str:
    return dtype_of(x).name if _is_unsigned(x) else other_sign(dtype_of(x))


def _trailing_zeros(x: Number) -> Number:
    return ((x - 1).wrapped() & ~x).call("count_ones")


def _ilog2(x: Number) -> Number:
    return (dtype_of(x).bits - 1) - x.call("leading_zeros")


def _next_power_of_two(x: Number) -> Number:
    """All bits below the highest of `x - 1`, and one more."""
    dtype, name = dtype_of(x), _unsigned_name(x)
    below = x.integer((1 << dtype.bits) - 1, name) >> (x - 1).wrapped().call("leading_zeros").cast(name)
    return (x > 1).then((below.cast(dtype.name) + 1).wrapped(), 1)


# ---- floats ---------------------------------------------------------------------------------------------------------


def _clamp(x: Number, low: Number, high: Number) -> Number:
    return x.call("clamp", low, high, propagate_nan="all") if is_float(x.of) else x.call("clamp", low, high)


FORMS: Mapping[str, Callable[..., Number]] = {
    "abs_diff": _abs_diff,
    "clamp": _clamp,
    "clone": lambda x: x,
    "count_zeros": lambda x: (~x).call("count_ones"),
    "div_ceil": lambda x, y: x.call("cdiv", y),
    "div_euclid": _div_euclid,
    "exp_m1": lambda x: x.call("expm1"),
    "fract": lambda x: x - x.call("trunc"),
    "ilog2": _ilog2,
    "is_finite": lambda x: x.call("abs") < float("inf"),
    "is_infinite": lambda x: x.call("abs").is_equal(float("inf")),
    "is_nan": lambda x: x.differs(x),
    "is_negative": lambda x: x < 0,
    "is_positive": lambda x: x > 0,
    "is_power_of_two": lambda x: (x & (x - 1).wrapped()).is_equal(0) & (x > 0),
    "is_sign_negative": lambda x: x.call("signbit"),
    "is_sign_positive": lambda x: ~x.call("signbit"),
    "leading_ones": lambda x: (~x).call("leading_zeros"),
    "ln_1p": lambda x: x.call("log1p"),
    "log": lambda x, base: x.call("log") / base.call("log"),
    "max": lambda x, y: x.call("maximum", y),
    "min": lambda x, y: x.call("minimum", y),
    "next_multiple_of": _next_multiple_of,
    "next_power_of_two": _next_power_of_two,
    "pow": lambda x, n: x.call("pow", n),
    "powi": lambda x, n: x.call("pow", n),
    "recip": lambda x: 1.0 / x,
    "rem_euclid": _rem_euclid,
    "rotate_left": lambda x, n: _rotate(x, n, left=True),
    "rotate_right": lambda x, n: _rotate(x, n, left=False),
    "round": lambda x: x.call("round"),
    "round_ties_even": lambda x: x.call("nearbyint"),
    "saturating_add": _saturating_add,
    "saturating_mul": _saturating_mul,
    "saturating_sub": _saturating_sub,
    "signum": _signum,
    "sin_cos": lambda x: x.paired(x.call("sin"), x.call("cos")),
    "to_bits": lambda x: x.bits(f"u{dtype_of(x).bits}"),
    "to_degrees": lambda x: x * 57.29577951308232,
    "to_radians": lambda x: x * 0.017453292519943295,
    "trailing_ones": lambda x: _trailing_zeros(~x),
    "trailing_zeros": _trailing_zeros,
    "trunc": lambda x: x.call("trunc"),
    "unsigned_abs": lambda x: _unsigned(x.call("abs").wrapped()),
    "wrapping_abs": lambda x: x.call("abs").wrapped(),
    "wrapping_add": lambda x, y: (x + y).wrapped(),
    "wrapping_div": lambda x, y: (x / y).wrapped(),
    "wrapping_mul": lambda x, y: (x * y).wrapped(),
    "wrapping_neg": lambda x: x.negative().wrapped(),
    "wrapping_pow": lambda x, n: x.call("pow", n).wrapped(),
    "wrapping_rem": lambda x, y: x % y,
    "wrapping_shl": lambda x, n: (x << n.cast(dtype_of(x).name)).wrapped(),
    "wrapping_shr": lambda x, n: x >> n.cast(dtype_of(x).name),
    "wrapping_sub": lambda x, y: (x - y).wrapped(),
}
"""The expression of each method of `intrinsics.methods`, where more than its name decides."""

EXTREMA: Mapping[str, Callable[..., Number]] = {
    "max": lambda x, axis: x.call("max", axis),
    "min": lambda x, axis: x.call("min", axis),
}
"""`x.max(1)` on a tensor, where a whole number is an axis."""


def power(x: Number, exponent: int) -> Number:
    """A known power as products, by squaring."""
    one = x.one()
    result: Number | None = None
    count = abs(exponent)
    while count:
        if count & 1:
            result = x if result is None else result * x
        count >>= 1
        x = (x * x).once() if count else x
    result = one if result is None else result
    return one / result if exponent < 0 else result
