"""Fills: what the padding lanes of operands hold goes in, what those of an element-wise result hold comes out.

A fill is the number that all padding lanes along one axis hold, or None where they may hold anything. Only what is the
same in every element type is computed: nothing that rounds, wraps or gives NaN.
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
    Copy,
    ExpandDims,
    Offset,
    Operation,
    Unary,
)
from teenyc.types import DType, Element, Kind, is_float, is_integer

Fill: TypeAlias = "int | float | bool | None"

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
            return _unary(operation.operator, fills[0])
        case Binary():
            return _binary(operation.operator, element, *fills)
        case Compare():
            return _compare(operation.operator, *fills)
        case Cast():
            return _cast(fills[0], element)
        case Call():
            rule = _CALLS.get(operation.intrinsic)
            return None if rule is None else rule(dict(zip((n for n, _ in operation.operands), fills, strict=True)))
        case Offset() | Apply():
            return None
        case _:
            assert_never(operation)


def met(one: Fill, other: Fill) -> Fill:
    """The fill of a value that comes from either of two places."""
    return one if one is not None and one == other else None


def _unary(operator: str, fill: Fill) -> Fill:
    if isinstance(fill, bool):
        return not fill
    return -fill if operator == "neg" and isinstance(fill, float) else fill if fill == 0 and operator == "neg" else None


def _binary(operator: str, element: Element, left: Fill, right: Fill) -> Fill:
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


def _absorbing(operator: str, element: Element) -> Fill:
    """The number that decides an operation whatever the other one is; 0 does not where that may be infinite."""
    if isinstance(element, DType) and element.kind is Kind.BOOL:
        return {"and": False, "or": True}.get(operator)
    return 0 if operator in ("mul", "and") and is_integer(element) else None


def _compare(operator: str, left: Fill, right: Fill) -> Fill:
    if left is None or right is None or not _is_exact(left) or not _is_exact(right):
        return None
    return _COMPARE[operator](left, right)


def _is_exact(number: int | float | bool) -> bool:
    return abs(number) <= SMALL and number == int(number) if isfinite(number) else True


def _cast(fill: Fill, element: Element) -> Fill:
    if fill is None or not _is_exact(fill):
        return None
    if is_float(element):
        return float(fill)
    return int(fill) if is_integer(element) and 0 <= fill <= SMALL else None


def _where(fills: Mapping[str, Fill]) -> Fill:
    condition = fills["condition"]
    if condition is None:
        return met(fills["x"], fills["y"])
    return fills["x"] if condition else fills["y"]


def _zero(fills: Mapping[str, Fill]) -> Fill:
    """A function of one number that is 0 at 0."""
    return next((fill for fill in fills.values() if fill == 0), None)


def _power(fills: Mapping[str, Fill]) -> Fill:
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
_CALLS: Mapping[str, Callable[[Mapping[str, Fill]], Fill]] = {
    **dict.fromkeys(("abs", "ceil", "erf", "floor", "sin", "sqrt", "sqrt_rn", "tanh"), _zero),
    **dict.fromkeys(("exp", "exp2"), _power),
    "where": _where,
}
