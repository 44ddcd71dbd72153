"""Scans along an axis: running sums and products; and `histogram`."""

from __future__ import annotations

from typing import Any

from teenyc.intrinsics.reduce import summed, summed_unsigned
from teenyc.intrinsics.reference import numpy, one_after_the_other, scan
from teenyc.intrinsics.rules import (
    Need,
    axis,
    extent,
    is_narrow_integer,
    is_power_of_two,
    mask,
    needs_axes,
    value,
    wrong_element,
)
from teenyc.intrinsics.spec import Facts, Intrinsic, Param, Role, Site, Variant
from teenyc.types import I32, U32, DType, TensorType, Unsuffixed, broadcast, is_generic_number, shape_text

_INPUT = Param("input", Role.VALUE, aliases=("x",))
_SCANNED = (
    _INPUT,
    Param("axis", Role.AXIS, default=0, aliases=("dim",), counts="input"),
    Param("reverse", Role.FLAG, default=False),
    Param("dtype", Role.DTYPE, default=None, by_name_only=True),
)


def _scan(site: Site) -> tuple[TensorType, ...] | None:
    type = value(site, "input", Need.NUMBER)
    if type is None or not needs_axes(site, "input", type, 1) or axis(site, "axis", type.shape) is None:
        return None
    given = site.given.get("dtype")
    stated = given.static if given is not None else None
    return (TensorType(stated or summed(type.element), type.shape),)  # type: ignore[arg-type]


def _histogram(site: Site) -> tuple[TensorType, ...] | None:
    type, bins = value(site, "input", Need.INTEGER), extent(site.given["num_bins"])
    if type is None or not needs_axes(site, "input", type, 1):
        return None
    if type.element not in (I32, U32) and not isinstance(type.element, Unsuffixed):
        wrong_element(site, "input", "`i32` or `u32`", type)
        return None
    if len(type.shape) > 1:
        wrong_element(site, "input", "a tensor with one axis", type)
        return None
    if not is_power_of_two(site, bins, "`num_bins` of `histogram`", site.given["num_bins"].span):
        return None
    return (TensorType(I32, (bins,)),) if "mask" not in site.given or _covers(site, type) else None


def _covers(site: Site, type: TensorType) -> bool:
    found = mask(site, "mask")
    if found is None or broadcast(type.shape, found.shape) == type.shape:
        return found is not None
    from teenyc.diagnostics.catalog.shapes import DifferentShapes

    site.report(
        DifferentShapes(
            span=site.given["mask"].span,
            function=site.intrinsic.name,
            names=("input", "mask"),
            left=shape_text(type.shape),
            right=shape_text(found.shape),
            left_span=site.given["input"].span,
        )
    )
    return False


# ---- forms ----------------------------------------------------------------------------------------------------------


def _narrow(facts: Facts) -> bool:
    """Whether 8- or 16-bit integers are scanned; Triton 3.6 multiplies them in their own width."""
    type = facts.types["input"]
    element = type.element if isinstance(type, TensorType) else I32
    return isinstance(element, DType) and is_narrow_integer(element) and facts.attributes.get("dtype") is None


def _is_generic(facts: Facts) -> bool:
    type = facts.types["input"]
    is_number = isinstance(type, TensorType) and is_generic_number(type.element)
    return is_number and facts.attributes.get("dtype") is None


def _has_dtype(facts: Facts) -> bool:
    return facts.attributes.get("dtype") is not None


def _product(dtype: str) -> str:
    return f"tl.cumprod(tl.cast({{input}}, {dtype}), axis={{axis}}, reverse={{reverse}})"


def _counted(input: Any, num_bins: int, mask: Any = True) -> Any:
    np = numpy()
    inside = np.broadcast_to(mask, input.shape) & (input >= 0) & (input < num_bins)
    return np.bincount(input[inside], minlength=num_bins).astype(np.int32)


INTRINSICS = (
    Intrinsic(
        "cumsum",
        _SCANNED,
        _scan,
        "tl.cumsum",
        "Running sums along an axis, from the end with `reverse = true`.",
        "scan",
        generics=1,
        reference=scan("cumsum"),
        first_by_name="axis",
        variants=(Variant(_is_generic, "_cumsum", "_cumsum"),),
        fills=summed_unsigned,
    ),
    Intrinsic(
        "cumprod",
        _SCANNED,
        _scan,
        "tl.cumprod",
        "Running products along an axis, from the end with `reverse = true`.",
        "scan",
        generics=1,
        reference=scan("cumprod"),
        first_by_name="axis",
        variants=(
            Variant(_is_generic, "_cumprod", "_cumprod"),
            Variant(_has_dtype, _product("{dtype}")),
            Variant(_narrow, _product("tl.int32")),
        ),
    ),
    Intrinsic(
        "histogram",
        (_INPUT, Param("num_bins", Role.EXTENT), Param("mask", Role.MASK, default=None)),
        _histogram,
        "tl.histogram",
        "How often each number below `num_bins` occurs, of the elements that the mask lets through.",
        "scan",
        reference=_counted,
        batched=one_after_the_other(_counted),
        first_by_name="mask",
    ),
)
