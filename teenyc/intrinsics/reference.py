"""What references share: intrinsics on NumPy arrays, by the names of their parameters.

NumPy is imported when one runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def numpy() -> Any:
    """NumPy, which only tests and the CPU runner need."""
    import numpy

    return numpy


def unary(name: str) -> Callable[..., Any]:
    """NumPy's function of one argument `x`."""

    def reference(x: Any) -> Any:
        return getattr(numpy(), name)(x)

    return reference


def extremum(of_numbers: str, of_all: str) -> Callable[..., Any]:
    """NumPy's function that takes the number where the other is NaN, or the one that takes the NaN."""

    def reference(x: Any, y: Any, propagate_nan: str = "none") -> Any:
        return getattr(numpy(), of_all if propagate_nan == "all" else of_numbers)(x, y)

    return reference


def divided(x: Any, y: Any) -> Any:
    """The quotient of floats, infinite or NaN where `y` is zero."""
    with numpy().errstate(all="ignore"):
        return x / y


def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))`, zero where the exponential overflows."""
    np = numpy()
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def softmax(x: Any, dim: int = -1, **ignored: Any) -> Any:
    """Exponentials that sum to 1 along an axis."""
    np = numpy()
    exponentials = np.exp(x - np.max(x, axis=dim, keepdims=True))
    return exponentials / np.sum(exponentials, axis=dim, keepdims=True)


def high_product(x: Any, y: Any) -> Any:
    """The upper half of the bits of a product of unsigned integers."""
    np = numpy()
    x, y = np.asarray(x), np.asarray(y)
    bits = x.dtype.itemsize * 8
    product = x.astype(object) * y.astype(object)
    return np.asarray(product >> bits).astype(x.dtype)


def ceiling_quotient(x: Any, div: Any) -> Any:
    """The quotient of integers, rounded up."""
    quotient = x // div
    return quotient + (quotient * div != x)


def total(input: Any, axis: int | None = None, keep_dims: bool = False, dtype: Any = None) -> Any:
    """The sum in the element type, or in 32 bits for integers of 8 and 16 bits."""
    np = numpy()
    return np.sum(input, axis=axis, keepdims=keep_dims, dtype=dtype or summed_dtype(np.asarray(input).dtype))


def summed_dtype(dtype: Any) -> Any:
    """The dtype of sums and products."""
    np = numpy()
    if dtype.kind in "iu" and dtype.itemsize < 4:
        return np.dtype(np.int32)
    return dtype


def reduction(of_numbers: str, index: str) -> Callable[..., Any]:
    """An extremum along an axis, NaN left aside, with its first place on request."""

    def reference(
        input: Any, axis: int | None = None, keep_dims: bool = False, return_indices: bool = False, **ignored: Any
    ) -> Any:
        np = numpy()
        input = np.asarray(input)
        axes = tuple(range(input.ndim)) if axis is None else axis
        extremum = getattr(np, of_numbers).reduce(input, axis=axes, keepdims=keep_dims)
        if not return_indices or axis is None:
            return extremum
        return extremum, _first_place(index, input, axis, keep_dims)

    return reference


def place(index: str) -> Callable[..., Any]:
    """The first place of an extremum along an axis."""

    def reference(input: Any, axis: int, tie_break_left: bool = True, keep_dims: bool = False) -> Any:
        return _first_place(index, numpy().asarray(input), axis, keep_dims)

    return reference


def _first_place(index: str, input: Any, axis: int, keep_dims: bool) -> Any:
    """The first place of an extremum; NaN is none, unless there is nothing else."""
    np = numpy()
    if input.dtype.kind == "f":
        input = np.where(np.isnan(input), -np.inf if index == "argmax" else np.inf, input)
    return getattr(np, index)(input, axis=axis, keepdims=keep_dims).astype(np.int32)


def scan(name: str) -> Callable[..., Any]:
    """A cumulative NumPy function along an axis, from the end on request."""

    def reference(input: Any, axis: int = 0, reverse: bool = False, dtype: Any = None) -> Any:
        np = numpy()
        dtype = dtype or summed_dtype(input.dtype)
        turned = np.flip(input, axis) if reverse else input
        scanned = getattr(np, name)(turned, axis=axis, dtype=dtype)
        return np.flip(scanned, axis) if reverse else scanned

    return reference


# ---- many programs --------------------------------------------------------------------------------------------------


def in_each_program(*arrays: Any) -> tuple[Any, ...]:
    """Arrays with as many programs in front as the one with most has."""
    np = numpy()
    count = max(len(a) for a in arrays)
    return tuple(np.broadcast_to(a, (count, *a.shape[1:])) for a in arrays)


def one_after_the_other(reference: Callable[..., Any]) -> Callable[..., Any]:
    """A reference of one result that is given the arrays of one program at a time."""

    def batched(**arguments: Any) -> Any:
        np = numpy()
        names = [n for n, a in arguments.items() if isinstance(a, np.ndarray)]
        arrays = in_each_program(*(arguments[n] for n in names))
        return np.stack(
            [reference(**arguments | dict(zip(names, each, strict=True))) for each in zip(*arrays, strict=True)]
        )

    return batched


def same_lanes(input: Any, **ignored: Any) -> Any:
    """What stays in its order and only gets another shape."""
    return input
