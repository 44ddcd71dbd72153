"""What the names of one body mean in one run: dtype parameters as types, constants and extents as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from teenyc.evaluate.numbers import held_dtype
from teenyc.ir.nodes import Function, Kernel
from teenyc.record import field, record
from teenyc.types import (
    Compute,
    DType,
    Element,
    Extent,
    Pointer,
    Quotient,
    Shape,
    TensorType,
    Type,
    TypeVar,
    compute_type,
)

ADDRESS = np.dtype(np.int64)
"""The dtype of addresses."""


Numbers: TypeAlias = "Mapping[Any, int]"
"""Numbers by the atoms of extents: by names, and by quotients that only the shapes of arguments tell."""


@record
class Meaning:
    """What a program still leaves to be understood, as the checker makes it; passes write it out.

    `offsets_are_exact`: an integer that reaches an address does not wrap, until the pass `widen-offsets`.
    `floats_are_held`: a value over `D` or a narrow float holds f32, and only a cast to a named narrow float rounds;
    from the pass `widen-floats` on, a cast to a narrow type rounds, also to `D`.
    """

    offsets_are_exact: bool = True
    floats_are_held: bool = True


CHECKED = Meaning()
"""Of a program as the checker made it."""

LOWERED = Meaning(offsets_are_exact=False, floats_are_held=False)
"""Of a program after all passes."""


@record
class Scope:
    """The bindings of a kernel or of one call of a device function."""

    elements: Mapping[str, DType] = field(default_factory=dict)
    constants: Numbers = field(default_factory=dict)

    def dtype(self, element: Element) -> DType:
        """The type that elements are stored in; not of pointers."""
        match element:
            case DType():
                return element
            case TypeVar():
                return self.elements[element.name]
            case Compute():
                computed = compute_type(self.elements[element.of.name])
                assert isinstance(computed, DType), "a known type is computed in a known one"
                return computed
            case _:
                raise AssertionError(f"`{element}` is no type of elements")

    def held(self, type: Type) -> np.dtype[Any]:
        """The dtype in which values of a type are held."""
        assert isinstance(type, TensorType), "tensors are held in arrays"
        return ADDRESS if isinstance(type.element, Pointer) else held_dtype(self.dtype(type.element))

    def extent(self, extent: Extent) -> int:
        """The size of an axis."""
        known = value_of(extent, self.constants)
        assert known is not None, f"{extent} is known when a kernel runs"
        return known

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return tuple(map(self.extent, shape))

    def lanes(self, type: Type) -> tuple[int, ...]:
        """The extents of a tensor."""
        assert isinstance(type, TensorType), "tensors have extents"
        return self.shape(type.shape)


def value_of(extent: Extent, known: Numbers) -> int | None:
    """The size of an axis as far as it is known: names have numbers, and so may quotients that callers pass on."""
    if extent.known is not None:
        return extent.known
    total = 0
    for monomial, factor in extent.terms:
        for atom in monomial:
            number = known.get(atom)
            if number is None and isinstance(atom, Quotient):
                number = _quotient(atom, known)
            if number is None:
                return None
            factor *= number
        total += factor
    return total


def _quotient(atom: Quotient, known: Numbers) -> int | None:
    over, under = value_of(atom.numerator, known), value_of(atom.denominator, known)
    return None if over is None or not under else abs(over) // abs(under) * (1 if (over < 0) == (under < 0) else -1)


def solved(extent: Extent, size: int, known: Numbers) -> dict[Any, int]:
    """The one name or quotient that is left in an extent of this size, with its number; nothing if there is not one."""
    values = {monomial: value_of(Extent(((monomial, factor),)), known) for monomial, factor in extent.terms}
    left = [(monomial, factor) for monomial, factor in extent.terms if values[monomial] is None]
    rest = size - sum(value for value in values.values() if value is not None)
    if len(left) != 1 or len(left[0][0]) != 1 or rest % left[0][1]:
        return {}
    ((atom,), factor) = left[0]
    return {atom: rest // factor}


def padded(kernel: Kernel, constants: Mapping[str, int]) -> dict[Any, int]:
    """The constants of a kernel with those numbers that it makes of them: powers of two."""
    found: dict[Any, int] = {**constants}
    for each in kernel.padded:
        number = found[each.of] - found.get(each.beyond, 0)
        next_power = 1 << max(number - 1, 0).bit_length()
        found[each.name] = 1 << number.bit_length() - 1 if each.is_part else max(each.minimum, next_power)
    return found


def bound(function: Function, given: tuple[Type, ...], around: Scope) -> dict[str, DType]:
    """The dtype parameters of a function whose parameters are given values of these types."""
    elements: dict[str, DType] = {}
    for parameter, type in zip(function.parameters, given, strict=True):
        stated = parameter.value.type
        if not isinstance(stated, TensorType) or not isinstance(type, TensorType):
            continue
        variable = stated.element.of if isinstance(stated.element, Compute) else stated.element
        if isinstance(variable, TypeVar) and not isinstance(type.element, Pointer):
            elements.setdefault(variable.name, around.dtype(type.element))
    return elements
