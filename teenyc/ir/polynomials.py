"""Sums of products: an integer of a kernel goes in, the polynomial over views that it is comes out.

A view is what arithmetic on integers cannot take apart, such as an index of the program, the lanes of an `arange`, or a
parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from teenyc.ir.lanes import Lanes, lanes_of
from teenyc.ir.masks import Masks, View, moved, shape_of
from teenyc.ir.nodes import Binary, Call, Cast, Copy, ExpandDims, Let, Literal, Operand, Unary, Value
from teenyc.types import DType, TensorType, is_integer

Factors: TypeAlias = "tuple[View, ...]"
Polynomial: TypeAlias = "Mapping[Factors, int]"

MOST = 32
"""A polynomial of more terms is not taken apart."""


class Polynomials:
    """The polynomials of the integers of one kernel; `made` are the definitions met so far, by value."""

    def __init__(self, masks: Masks, made: dict[int, Let]) -> None:
        self.masks = masks
        self.made = made
        self.known: dict[int, Polynomial] = {}

    def of(self, operand: Operand) -> Polynomial:
        """An integer operand as a sum of products."""
        if isinstance(operand, Literal):
            return {(): int(operand.value)}
        if not isinstance(operand, Value):
            return {(self.masks.view(operand),): 1}
        if operand.id not in self.known:
            self.known[operand.id] = {(self.masks.view(operand),): 1}  # what a loop of definitions would see
            self.known[operand.id] = self.made_of(operand)
        return self.known[operand.id]

    def made_of(self, value: Value) -> Polynomial:
        let = self.made.get(value.id)
        whole: Polynomial = {(self.masks.view(value),): 1}
        match let.operation if let is not None else None:
            case Copy(operand=inner):
                return self.of(inner)
            case Cast(operand=inner) if _is_widened(inner, value):
                return self.of(inner)
            case ExpandDims(operand=inner, axes=axes):
                rank = len(shape_of(value))
                return {
                    tuple(sorted((n, moved(at, axes, rank)) for n, at in factors)): c
                    for factors, c in self.of(inner).items()
                }
            case Call(intrinsic=name) as call if lanes_of(name) is Lanes.STRETCHED and len(call.operands) == 1:
                return self.of(call.operands[0][1])
            case Unary(operator="neg", operand=inner):
                return difference({}, self.of(inner))
            case Binary(operator="add" | "sub" as operator, left=left, right=right):
                found = (total if operator == "add" else difference)(self.of(left), self.of(right))
                return found if len(found) <= MOST else whole
            case Binary(operator="mul", left=left, right=right):
                return product(self.of(left), self.of(right)) or whole
            case _:
                return whole


def total(a: Polynomial, b: Polynomial) -> Polynomial:
    """The sum."""
    return difference(a, {factors: -c for factors, c in b.items()})


def difference(a: Polynomial, b: Polynomial) -> Polynomial:
    """What the one is more than the other."""
    found = dict(a)
    for factors, c in b.items():
        found[factors] = found.get(factors, 0) - c
    return {factors: c for factors, c in found.items() if c}


def product(a: Polynomial, b: Polynomial) -> Polynomial | None:
    """The product; None where it has too many terms."""
    if len(a) * len(b) > MOST:
        return None
    found: dict[Factors, int] = {}
    for one, c in a.items():
        for two, d in b.items():
            factors = tuple(sorted((*one, *two)))
            found[factors] = found.get(factors, 0) + c * d
    return {factors: c for factors, c in found.items() if c}


def _is_widened(operand: Operand, value: Value) -> bool:
    """Whether a conversion of integers keeps every number."""
    before, after = _element(operand), _element(value)
    if not isinstance(before, DType) or not isinstance(after, DType) or not is_integer(before) or not is_integer(after):
        return False
    return after.minimum <= before.minimum and before.maximum <= after.maximum


def _element(operand: Operand) -> object:
    return operand.type.element if isinstance(operand.type, TensorType) else None
