"""Functions and methods that the IR has operations for: comparisons, `add_offsets`, `expand_dims`."""

from __future__ import annotations

from teenyc.intrinsics.rules import Need, axis, value
from teenyc.intrinsics.spec import Operator, Param, Role, Site
from teenyc.types import ONE, TensorType

_COMPARED = {
    "lt": "less than",
    "le": "less than or equal to",
    "gt": "greater than",
    "ge": "greater than or equal to",
    "eq": "equal to",
    "ne": "different from",
}


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
        (Param("input", Role.VALUE, aliases=("x",)), Param("axis", Role.AXIS)),
        "Adds an axis of extent 1, at place `axis` of the result: `x[(.., None)]` is `expand_dims(x, -1)`.",
        rule=_expand_dims,
        generics=1,
    ),
)
