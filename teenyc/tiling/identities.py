"""The numbers that change nothing: of sums, products and extrema."""

from __future__ import annotations

from teenyc.types import BOOL, DType, Element, Kind, is_float

FOLDS = {"mul": "prod", "and": "reduce_and", "or": "reduce_or", "xor": "xor_sum"}
"""The operators whose order is free, and what folds many numbers by each."""


def has_worst(element: Element) -> bool:
    """Whether it is known what an extremum is never changed by: not of `D: Num`, which may be any number."""
    return is_float(element) or isinstance(element, DType)


def worst_of(element: Element, intrinsic: str) -> int | float:
    """The number that an extremum is never changed by."""
    if is_float(element):
        return float("-inf") if intrinsic == "maximum" else float("inf")
    assert isinstance(element, DType), "extrema are of numbers"
    return element.minimum if intrinsic == "maximum" else element.maximum


def identity_of(element: Element, operator: str) -> int | float | bool:
    """The number that an operator of `FOLDS` leaves others unchanged with."""
    if operator == "mul":
        return 1.0 if is_float(element) else 1
    if operator != "and":
        return False if element == BOOL else 0
    assert isinstance(element, DType), "bits are those of integers and flags"
    return True if element == BOOL else -1 if element.kind is Kind.SIGNED else element.maximum
