"""What the names of one body mean in one run: dtype parameters as types, constants and extents as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

import numpy as np

from teenyc.evaluate.numbers import held_dtype
from teenyc.ir.nodes import Function, Kernel
from teenyc.record import field, record
from teenyc.types import Compute, DType, Element, Extent, Kind, Pointer, Shape, TensorType, Type, TypeVar, compute_type

ADDRESS = np.dtype(np.int64)
"""The dtype of addresses."""


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
    constants: Mapping[str, int] = field(default_factory=dict)

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
        known = extent.known if extent.known is not None else extent.substitute(self.constants).known
        assert known is not None, f"{extent} is known when a kernel runs"
        return known

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return tuple(map(self.extent, shape))

    def lanes(self, type: Type) -> tuple[int, ...]:
        """The extents of a tensor."""
        assert isinstance(type, TensorType), "tensors have extents"
        return self.shape(type.shape)


def solved(extent: Extent, size: int, known: Mapping[str, int]) -> dict[str, int]:
    """The one name that is left in an extent of this size, with its number; nothing where there is not one."""
    left = extent.substitute(known)
    variable = [(monomial, factor) for monomial, factor in left.terms if monomial]
    rest = size - sum(factor for monomial, factor in left.terms if not monomial)
    if len(variable) != 1:
        return {}
    (monomial, factor) = variable[0]
    is_one = len(monomial) == 1 and isinstance(monomial[0], str) and rest % factor == 0
    return {str(monomial[0]): rest // factor} if is_one else {}


def padded(kernel: Kernel, constants: Mapping[str, int]) -> dict[str, int]:
    """The constants of a kernel with those numbers that it makes of them: the next powers of two."""
    found = dict(constants)
    for each in kernel.padded:
        found[each.name] = max(each.minimum, 1 << max(found[each.of] - 1, 0).bit_length())
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


def kind_text(dtype: DType) -> str:
    """What kind of number a type holds, in words."""
    match dtype.kind:
        case Kind.BOOL:
            return "true or false"
        case Kind.SIGNED | Kind.UNSIGNED:
            return "an integer"
        case Kind.FLOAT:
            return "a number"
        case _:
            assert_never(dtype.kind)
