"""Numbers in lanes: an operation and the numbers in one lane of its operands go in, the number of its result comes out.

`SOME` stands for a number that is not known here. It is taken to be finite and none that makes a difference: `0 * SOME`
is 0, and `0 - SOME` is another `SOME`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Final, TypeAlias, assert_never

from teenyc.ir.lanes import Lanes, lanes_of
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
from teenyc.types import BOOL, Element, is_integer


class _Unknown(Enum):
    SOME = "some number"


SOME: Final = _Unknown.SOME
HUGE = 1e30
"""Numbers from here on stand for infinity where an author does not want NaN: adding `SOME` makes no difference."""

Number: TypeAlias = "float | _Unknown"
"""Integers and bools are kept as floats, which hold all that matters here."""


def folded(operation: Operation, numbers: Sequence[Number], element: Element) -> Number:
    """The number in a lane of the result, whose element type is `element`; `numbers` in the order of the operands."""
    match operation:
        case Copy() | ExpandDims():
            return numbers[0]
        case Cast():
            return _cast(numbers[0], element)
        case Unary():
            (x,) = numbers
            if x is SOME:
                return SOME
            return -x if operation.operator == "neg" else float(not x) if element == BOOL else -x - 1
        case Binary():
            return _binary(operation.operator, numbers[0], numbers[1], element)
        case Compare():
            return _compared(operation.operator, numbers[0], numbers[1])
        case Call():
            return _call(operation, numbers)
        case Offset() | Apply():
            return SOME
        case _:
            assert_never(operation)


def _cast(x: Number, element: Element) -> Number:
    if x is SOME:
        return SOME
    if element == BOOL:
        return float(x != 0)
    if not is_integer(element):
        return x
    return SOME if not math.isfinite(x) else float(int(x))


def _binary(operator: str, x: Number, y: Number, element: Element) -> Number:
    if operator in ("and", "or") and element == BOOL:
        decides = 0.0 if operator == "and" else 1.0
        if decides in (x, y):
            return decides
        return SOME if x is SOME or y is SOME else 1.0 - decides
    if x is SOME or y is SOME:
        return _partly(operator, x, y)
    fold = _BINARY.get(operator)
    if fold is None:
        return SOME
    if operator == "div" and is_integer(element):
        return SOME if y == 0 else float(int(x / y))
    return _safe(fold, x, y)


def _partly(operator: str, x: Number, y: Number) -> Number:
    """An operator where one side is not known, but finite."""
    if x is SOME and y is SOME:
        return SOME
    known = y if x is SOME else x
    assert known is not SOME, "one is known"
    if operator == "mul" and known == 0:
        return 0.0
    if operator == "div" and known == 0 and y is SOME:
        return 0.0
    if operator == "div" and x is SOME and math.isinf(known):
        return 0.0
    if operator in ("add", "sub") and not abs(known) < HUGE:
        return -known if operator == "sub" and x is SOME else known
    return SOME


def _compared(operator: str, x: Number, y: Number) -> Number:
    if x is SOME or y is SOME:
        return SOME
    return float(_COMPARE[operator](x, y))


def _call(call: Call, numbers: Sequence[Number]) -> Number:
    if call.intrinsic == "where":
        condition, x, y = numbers
        if condition is SOME:
            return x if x == y else SOME
        return x if condition else y
    if lanes_of(call.intrinsic) in (Lanes.STRETCHED, Lanes.PERMUTED, Lanes.MOVED) and len(numbers) == 1:
        return numbers[0]
    if call.intrinsic in ("zeros", "zeros_like"):
        return 0.0
    if call.intrinsic in _EXTREMA and SOME in numbers:
        return next((n for n in numbers if n == _EXTREMA[call.intrinsic]), SOME)
    fold = _CALLS.get(call.intrinsic)
    if fold is None:
        return SOME
    known = [n for n in numbers if n is not SOME]
    return _safe(fold, *known) if len(known) == len(numbers) else SOME


def _safe(fold: Callable[..., float], *numbers: float) -> Number:
    """The result of a function of floats as IEEE has it; `SOME` where Python has none."""
    try:
        return fold(*numbers)
    except OverflowError:
        return math.inf
    except (ValueError, ZeroDivisionError):
        return SOME


def _divided(x: float, y: float) -> float:
    if y != 0:
        return x / y
    return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1.0, y)


def _log(x: float) -> float:
    return -math.inf if x == 0 else math.log(x)


_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}

_BINARY: Mapping[str, Callable[[float, float], float]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": _divided,
}

_EXTREMA: Mapping[str, float] = {"maximum": math.inf, "minimum": -math.inf}

_CALLS: Mapping[str, Callable[..., float]] = {
    "abs": abs,
    "ceil": lambda x: float(math.ceil(x)) if math.isfinite(x) else x,
    "clamp": lambda x, low, high: min(max(x, low), high),
    "cos": math.cos,
    "div_rn": _divided,
    "erf": math.erf,
    "exp": math.exp,
    "exp2": lambda x: 2.0**x,
    "fdiv": _divided,
    "floor": lambda x: float(math.floor(x)) if math.isfinite(x) else x,
    "fma": lambda x, y, z: x * y + z,
    "log": _log,
    "log2": lambda x: _log(x) / math.log(2),
    "maximum": max,
    "minimum": min,
    "rsqrt": lambda x: _divided(1.0, math.sqrt(x)),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0,
    "sin": math.sin,
    "sqrt": math.sqrt,
    "sqrt_rn": math.sqrt,
    "tanh": math.tanh,
}
