"""Functions and methods that the IR has operations for: arithmetic, comparisons, `add_offsets`, `expand_dims`."""

from __future__ import annotations

from teenyc.intrinsics.rules import Need, axis, mask, met_shapes, value
from teenyc.intrinsics.spec import Operator, Param, Role, Site
from teenyc.types import BOOL, ONE, TensorType

_COMPARED = {
    "lt": "less than",
    "le": "less than or equal to",
    "gt": "greater than",
    "ge": "greater than or equal to",
    "eq": "equal to",
    "ne": "different from",
}


_COMPUTED = {"add": "The sum", "sub": "The difference", "mul": "The product"}
_JOINED = {"and": "both hold", "or": "either holds"}


def _comparison(name: str) -> Operator:
    return Operator(
        name,
        "compare",
        (Param("x", Role.VALUE), Param("y", Role.VALUE, meets="x")),
        f"Where `x` is {_COMPARED[name]} `y`, element by element: a mask.",
        operator=name,
        generics=1,
        aliases=(f"{name}_scalar",),
    )


def _arithmetic(name: str) -> Operator:
    return Operator(
        name,
        "arithmetic",
        (
            Param("x", Role.VALUE, aliases=("input",)),
            Param("y", Role.VALUE, aliases=("other",)),
            Param("sanitize_overflow", Role.FLAG, default=True, is_ignored=True),
        ),
        f"{_COMPUTED[name]} of two values, element by element; integers wrap.",
        operator=name,
        generics=1,
    )


def _logical(name: str) -> Operator:
    return Operator(
        f"logical_{name}",
        "logical",
        (Param("x", Role.MASK, aliases=("input",)), Param("y", Role.MASK, aliases=("other",))),
        f"Where {_JOINED[name]}: a mask of two.",
        operator=name,
        rule=_masks,
    )


def _masks(site: Site) -> tuple[TensorType, ...] | None:
    x, y = mask(site, "x"), mask(site, "y")
    if x is None or y is None:
        return None
    shape = met_shapes(site, {"x": x, "y": y})
    return None if shape is None else (TensorType(BOOL, shape),)


def _expand_dims(site: Site) -> tuple[TensorType, ...] | None:
    type = value(site, "input", Need.ANY)
    if type is None:
        return None
    place = axis(site, "axis", type.shape, added=1)
    if place is None:
        return None
    return (TensorType(type.element, (*type.shape[:place], ONE, *type.shape[place:])),)


OPERATORS = (
    *map(_comparison, _COMPARED),
    *map(_arithmetic, _COMPUTED),
    *map(_logical, _JOINED),
    Operator(
        "add_offsets",
        "offset",
        (Param("pointer", Role.POINTER, aliases=("ptr",)), Param("offsets", Role.VALUE)),
        "Moves a pointer by whole elements: `p + offsets`.",
        generics=1,
    ),
    Operator(
        "expand_dims",
        "expand_dims",
        (Param("input", Role.VALUE, aliases=("x",)), Param("axis", Role.AXIS, aliases=("dim",))),
        "Adds an axis of extent 1, at place `axis` of the result: `x[(.., None)]` is `expand_dims(x, -1)`.",
        rule=_expand_dims,
        generics=1,
        aliases=("unsqueeze",),
    ),
)
