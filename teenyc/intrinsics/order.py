"""Orderings along the last axis: `sort`, the greatest or least `k`, and the last step of a bitonic sort."""

from __future__ import annotations

from typing import Any

from teenyc.intrinsics.reference import numpy
from teenyc.intrinsics.rules import Need, axis, extent, is_power_of_two, may_be_one, needs_axes, value
from teenyc.intrinsics.spec import Facts, Intrinsic, Param, Role, Site, Variant
from teenyc.types import Compute, DType, Extent, TensorType, is_float

_X = Param("x", Role.VALUE, aliases=("input",))
_DIM = Param("dim", Role.AXIS, default=-1, aliases=("axis",), counts="x", is_ignored=True)
_DESCENDING = Param("descending", Role.FLAG, default=False)


# ---- rules ----------------------------------------------------------------------------------------------------------


def _sort(site: Site) -> tuple[TensorType, ...] | None:
    type = value(site, "x", Need.NUMBER)
    if type is None or not needs_axes(site, "x", type, 1):
        return None
    place = axis(site, "dim", type.shape)
    if place is None:
        return None
    if place == len(type.shape) - 1:
        return (type,)
    from teenyc.diagnostics.catalog.shapes import OnlyLastAxis

    at = site.given["dim"].span
    site.report(OnlyLastAxis(span=at, function=site.intrinsic.name, axis=place, rank=len(type.shape)))
    return None


def _topk(site: Site) -> tuple[TensorType, ...] | None:
    ordered, k = _sort(site), extent(site.given["k"])
    if ordered is None or not is_power_of_two(site, k, "`k` of `topk`", site.given["k"].span):
        return None
    (type,) = ordered
    return (TensorType(type.element, (*type.shape[:-1], k)),) if _has(site, type, k) else None


def _has(site: Site, type: TensorType, k: Extent) -> bool:
    """Whether there are as many elements along the last axis as are asked for, as far as known."""
    spare = (type.shape[-1] - k).known
    if spare is None:
        site.require(type.shape[-1] - k, "at-least:0", "the last axis without the `k` elements of `topk`", site.span)
        return True
    if spare >= 0:
        return True
    from teenyc.diagnostics.catalog.shapes import TooFewElements

    at = site.given["k"].span
    site.report(TooFewElements(span=at, wanted=str(k), found=str(type), of=site.given["x"].span))
    return False


# ---- forms ----------------------------------------------------------------------------------------------------------


def _is_plain(facts: Facts) -> bool:
    """Whether Triton's own does: the greatest, more than one of them, of elements that it does not widen."""
    type, k = facts.types["x"], facts.attributes.get("k")
    known = k.known if isinstance(k, Extent) else k
    is_several = isinstance(known, int) and known > 1
    return is_several and facts.attributes.get("descending") is not False and _stays(type.element)  # type: ignore[union-attr]


def _may_widen(facts: Facts) -> bool:
    """Triton takes the extremum of an axis of one element, which it makes wider where it is narrow."""
    type = facts.types["x"]
    assert isinstance(type, TensorType), "what is sorted has axes"
    return not _stays(type.element) and type.shape[-1].known in (None, 1)


def _stays(element: object) -> bool:
    if isinstance(element, DType):
        return element.bits >= 32
    return isinstance(element, Compute) and is_float(element)


def _sorted(x: Any, dim: int = -1, descending: bool = False) -> Any:
    np = numpy()
    ascending = np.sort(x, axis=dim)
    return np.flip(ascending, dim) if descending else ascending


def _first(x: Any, k: int, dim: int = -1, descending: bool = True) -> Any:
    return _sorted(x, dim, descending)[..., :k]


INTRINSICS = (
    Intrinsic(
        "sort",
        (_X, _DIM, _DESCENDING),
        _sort,
        "tl.sort",
        "The elements in ascending or descending order along the last axis.",
        "order",
        generics=1,
        reference=_sorted,
        first_by_name="descending",
        variants=(Variant(_may_widen, "_sort", "_sort"),),
    ),
    Intrinsic(
        "topk",
        (_X, Param("k", Role.EXTENT), _DIM, Param("descending", Role.FLAG, default=True)),
        _topk,
        "_topk",
        "The `k` greatest elements along the last axis, the greatest first; or the least with `descending = false`.",
        "order",
        generics=1,
        reference=_first,
        first_by_name="descending",
        helper="_topk",
        variants=(Variant(_is_plain, "tl.topk({x}, {k})"),),
    ),
    Intrinsic(
        "bitonic_merge",
        (_X, _DIM, _DESCENDING),
        _sort,
        "tl.bitonic_merge",
        "As `sort`, for elements that first rise and then fall along the last axis, or the other way round.",
        "order",
        generics=1,
        reference=_sorted,
        first_by_name="descending",
        variants=(Variant(lambda facts: may_be_one(facts, "x"), "_bitonic_merge", "_bitonic_merge"),),
    ),
)
