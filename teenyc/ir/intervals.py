"""Interval arithmetic on integers: the least interval that holds every result, or one that holds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import TypeAlias

from teenyc.types import DType

Interval: TypeAlias = "tuple[int, int]"
"""Both ends are included. An end at or beyond `UNBOUNDED` in size is infinite."""

UNBOUNDED = 1 << 80
FULL: Interval = (-UNBOUNDED, UNBOUNDED)


def of_type(dtype: DType) -> Interval:
    """All values of an integer type."""
    return (dtype.minimum, dtype.maximum)


def fits(inner: Interval, outer: Interval) -> bool:
    """Whether every number of one interval lies in the other."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def hull(a: Interval, b: Interval) -> Interval:
    """The least interval that holds both."""
    return (min(a[0], b[0]), max(a[1], b[1]))


def clip(a: Interval, b: Interval) -> Interval | None:
    """What both hold; None where nothing is."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else None


def bounded(a: Interval) -> Interval:
    """The interval with ends that are too far out made infinite ones, so that numbers stay small."""
    return (max(a[0], -UNBOUNDED), min(a[1], UNBOUNDED))


def binary(operator: str, a: Interval, b: Interval, dtype: DType) -> Interval:
    """An operator of `BINARY` on exact integers; shifts take the count modulo the width of `dtype`."""
    return bounded(_BINARY[operator](a, b, dtype))


def negate(a: Interval) -> Interval:
    """`-a`."""
    return (-a[1], -a[0])


def absolute(a: Interval) -> Interval:
    """The size of a number."""
    if a[0] >= 0:
        return a
    return (0 if a[1] >= 0 else -a[1], max(-a[0], a[1]))


def _corners(a: Interval, b: Interval, fn: Callable[[int, int], int]) -> Interval:
    results = [fn(x, y) for x, y in product(a, b)]
    return (min(results), max(results))


def _add(a: Interval, b: Interval, _: DType) -> Interval:
    return (a[0] + b[0], a[1] + b[1])


def _subtract(a: Interval, b: Interval, _: DType) -> Interval:
    return (a[0] - b[1], a[1] - b[0])


def _multiply(a: Interval, b: Interval, _: DType) -> Interval:
    return _corners(a, b, lambda x, y: x * y)


def _divide(a: Interval, b: Interval, dtype: DType) -> Interval:
    """Toward zero. `MIN / -1` is `MIN`, so operands of a type have a quotient of that type."""
    divisors = [d for d in (b[0], b[1], -1, 1) if d and b[0] <= d <= b[1]]
    if not divisors:
        return of_type(dtype)
    results = [abs(x) // abs(d) * (1 if (x < 0) == (d < 0) else -1) for x in a for d in divisors]
    result = (min(results), max(results))
    whole = of_type(dtype)
    return clip(result, whole) or whole if fits(a, whole) and fits(b, whole) else result


def _remainder(a: Interval, b: Interval, _: DType) -> Interval:
    limit = max(abs(b[0]), abs(b[1]), 1) - 1
    return (max(a[0], -limit) if a[0] < 0 else 0, min(a[1], limit) if a[1] > 0 else 0)


def _and(a: Interval, b: Interval, _: DType) -> Interval:
    if a[0] >= 0 and b[0] >= 0:
        return (0, min(a[1], b[1]))
    if a[0] >= 0 or b[0] >= 0:
        return (0, a[1] if a[0] >= 0 else b[1])
    return _bits(a, b)


def _or(a: Interval, b: Interval, _: DType) -> Interval:
    low, high = _bits(a, b)
    return (0, high) if a[0] >= 0 and b[0] >= 0 else (low, high)


def _bits(a: Interval, b: Interval) -> Interval:
    """All integers of the least number of bits that holds both."""
    bits = max(end.bit_length() if end >= 0 else (-end - 1).bit_length() for end in (*a, *b))
    return (-(1 << bits), (1 << bits) - 1)


def _count(b: Interval, dtype: DType) -> Interval:
    return b if fits(b, (0, dtype.bits - 1)) else (0, dtype.bits - 1)


def _shift_left(a: Interval, b: Interval, dtype: DType) -> Interval:
    return _corners(a, _count(b, dtype), lambda x, y: x << y)


def _shift_right(a: Interval, b: Interval, dtype: DType) -> Interval:
    return _corners(a, _count(b, dtype), lambda x, y: x >> y)


_BINARY: Mapping[str, Callable[[Interval, Interval, DType], Interval]] = {
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "div": _divide,
    "rem": _remainder,
    "and": _and,
    "or": _or,
    "xor": _or,
    "shl": _shift_left,
    "shr": _shift_right,
}
