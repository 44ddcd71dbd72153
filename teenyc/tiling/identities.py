"""The numbers that change nothing: of sums, products and extrema."""

from __future__ import annotations

from teenyc.types import DType, Element, is_float


def worst_of(element: Element, intrinsic: str) -> int | float:
    """The number that an extremum is never changed by."""
    if is_float(element):
        return float("-inf") if intrinsic == "maximum" else float("inf")
    assert isinstance(element, DType), "extrema are of numbers"
    return element.minimum if intrinsic == "maximum" else element.maximum
