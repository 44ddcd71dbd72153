"""Fills: what the padding lanes of operands hold goes in, what those of an element-wise result hold comes out.

A fill is the number that all padding lanes along one axis hold, `Beyond` an extent where they hold numbers that are not
below it, or None where they may hold anything. Only what is the same in every element type is computed: nothing that
rounds, wraps or gives NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, isfinite, isnan
from typing import TypeAlias, assert_never

from teenyc.ir.nodes import (
    Apply,
    Binary,
    Call,
    Cast,
    Compare,
    Constant,
    Copy,
    ExpandDims,
    Offset,
    Operation,
    Unary,
)
from teenyc.record import record
from teenyc.types import DType, Element, Extent, Kind, is_float, is_integer


@record
class Beyond:
    """Any numbers that are not below an extent, as those of `arange(0, N)` in the padding of `N`."""

    extent: Extent


Number: TypeAlias = "int | float | bool"
Fill: TypeAlias = "Number | Beyond | None"

SMALL = 64
"""Integers up to here are exact in every element type."""

_LARGEST = 1e30
"""Numbers above this may round to infinity."""


def fill_of(operation: Operation, element: Element, fills: tuple[Fill, ...]) -> Fill:
    """The fill of a result of type `element`, from those of all operands in order; a literal is its own fill."""
    match operation:
        case Copy() | ExpandDims():
            return fills[0]
        case Unary():
            return _unary(operation.operator, _number(fills[0]))
        case Binary():
            return _binary(operation.operator, element, *map(_number, fills))
        case Compare():
            outside = _outside(operation, *fills)
            return _compare(operation.operator, *map(_number, fills)) if outside is None else outside
        case Cast():
            return _cast(_number(fills[0]), element)
        case Call():
            rule = _CALLS.get(operation.intrinsic)
            numbers = {name: _number(fill) for (name, _), fill in zip(operation.operands, fills, strict=True)}
            return None if rule is None else rule(numbers)
        case Offset() | Apply():
            return None
        case _:
            assert_never(operation)


def met(one: Fill, other: Fill) -> Fill:
    """The fill of a value that comes from either of two places."""
    return one if one is not None and one == other else None


def _number(fill: Fill) -> Number | None:
    return None if isinstance(fill, Beyond) else fill


def _outside(operation: Compare, left: Fill, right: Fill) -> bool | None:
    """`lane < N` in the padding of `N`, written either way round."""
    sides = ((left, operation.right, ("lt", "ge")), (right, operation.left, ("gt", "le")))
    for lanes, limit, (inside, outside) in sides:
        is_limit = isinstance(limit, Constant) and isinstance(lanes, Beyond) and lanes.extent == Extent.of(limit.name)
        if is_limit and operation.operator in (inside, outside):
            return operation.operator == outside
    return None


def _unary(operator: str, fill: Number | None) -> Fill:
    if isinstance(fill, bool):
        return not fill
    return -fill if operator == "neg" and isinstance(fill, float) else fill if fill == 0 and operator == "neg" else None


def _binary(operator: str, element: Element, left: Number | None, right: Number | None) -> Fill:
    absorbing = _absorbing(operator, element)
    if absorbing is not None and absorbing in (left, right):
        return absorbing
    if left is None or right is None:
        return None
    if isinstance(left, bool) or isinstance(right, bool):
        return {"and": left and right, "or": left or right, "xor": left != right}.get(operator)
    if operator not in _ARITHMETIC or any(isfinite(n) and abs(n) > _LARGEST for n in (left, right)):
        return None
    number = _ARITHMETIC[operator](left, right)
    return number if not isnan(number) and (number == 0 or number in (left, right)) else None


def _absorbing(operator: str, element: Element) -> Number | None:
    """The number that decides an operation whatever the other one is; 0 does not where that may be infinite."""
    if isinstance(element, DType) and element.kind is Kind.BOOL:
        return {"and": False, "or": True}.get(operator)
    return 0 if operator in ("mul", "and") and is_integer(element) else None


def _compare(operator: str, left: Number | None, right: Number | None) -> Fill:
    if left is None or right is None or not _is_exact(left) or not _is_exact(right):
        return None
    return _COMPARE[operator](left, right)


def _is_exact(number: Number) -> bool:
    return abs(number) <= SMALL and number == int(number) if isfinite(number) else True


def _cast(fill: Number | None, element: Element) -> Fill:
    if fill is None or not _is_exact(fill):
        return None
    if is_float(element):
        return float(fill)
    return int(fill) if is_integer(element) and 0 <= fill <= SMALL else None


def _where(fills: Mapping[str, Number | None]) -> Fill:
    condition = fills["condition"]
    if condition is None:
        return met(fills["x"], fills["y"])
    return fills["x"] if condition else fills["y"]


def _zero(fills: Mapping[str, Number | None]) -> Fill:
    """A function of one number that is 0 at 0."""
    return next((fill for fill in fills.values() if fill == 0), None)


def _power(fills: Mapping[str, Number | None]) -> Fill:
    return 0.0 if fills["x"] == -inf else None


_ARITHMETIC: Mapping[str, Callable[[int | float, int | float], int | float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
}
_COMPARE: Mapping[str, Callable[[int | float, int | float], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_CALLS: Mapping[str, Callable[[Mapping[str, Number | None]], Fill]] = {
    **dict.fromkeys(("abs", "ceil", "erf", "floor", "sin", "sqrt", "sqrt_rn", "tanh"), _zero),
    **dict.fromkeys(("exp", "exp2"), _power),
    "where": _where,
}
