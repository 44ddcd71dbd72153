"""The operators of the IR on arrays: integers wrap in their width and divide toward zero, floats follow IEEE 754."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from teenyc.evaluate.numbers import Array

Operator = Callable[[Any, Any], Any]


def divided(left: Any, right: Any) -> Any:
    """The quotient; of integers cut toward zero, and 0 where `right` is."""
    if left.dtype.kind == "f":
        return left / right
    quotient = left // right
    if left.dtype.kind == "u":
        return quotient
    is_below = ((left < 0) != (right < 0)) & (quotient * right != left) & (right != 0)
    return quotient + is_below.astype(left.dtype)


def shifted_left(left: Array, right: Array) -> Array:
    return left << counted(right, left.dtype)


def shifted_right(left: Array, right: Array) -> Array:
    return left >> counted(right, left.dtype)


def counted(count: Array, dtype: np.dtype[Any]) -> Array:
    """The count of a shift, modulo the width of what is shifted."""
    return (count & (dtype.itemsize * 8 - 1)).astype(dtype)


def binary(operator: str, left: Array, right: Array) -> Array:
    """What an operator of `ir.BINARY` gives."""
    result: Array = BINARY[operator](left, right)
    return result


BINARY: Mapping[str, Operator] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": divided,
    "rem": np.fmod,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": shifted_left,
    "shr": shifted_right,
}

COMPARE: Mapping[str, Operator] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}

UNARY: Mapping[str, Callable[[Array], Array]] = {"neg": np.negative, "not": np.invert}


# ---- programs -------------------------------------------------------------------------------------------------------
# The first axis of an array is that of the programs that run together; it has extent 1 where all have the same.


def aligned(array: Array, rank: int) -> Array:
    """An array whose lanes have `rank` axes; new ones come in front of those that there are."""
    missing = rank + 1 - array.ndim
    return array.reshape(array.shape[0], *(1,) * missing, *array.shape[1:]) if missing else array


def together(arrays: list[Array]) -> list[Array]:
    """Arrays whose lanes have as many axes as those of the one with most."""
    rank = max((a.ndim for a in arrays), default=1) - 1
    return [aligned(a, rank) for a in arrays]


def where(mask: Array, chosen: Array, other: Array) -> Array:
    """For each program one of two arrays of one rank; `mask` has a bool for each."""
    if chosen is other:
        return chosen
    return np.where(aligned(mask, chosen.ndim - 1), chosen, other)
