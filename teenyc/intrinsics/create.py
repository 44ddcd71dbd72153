"""New tensors: ranges, constants, and two put together."""

from __future__ import annotations

from typing import Any

from teenyc.intrinsics.reference import in_each_program, numpy
from teenyc.intrinsics.rules import (
    Need,
    axis,
    extent,
    is_never_positive,
    is_power_of_two,
    is_sound_shape,
    is_within_limit,
    needs_axes,
    shape,
    value,
    values,
)
from teenyc.intrinsics.spec import Facts, Intrinsic, Param, Role, Rule, Site, Static, Variant
from teenyc.source import Span
from teenyc.types import F32, I32, DType, Element, Extent, TensorType, Type, shape_text

_SHAPE = Param("shape", Role.SHAPE)
_DTYPE = Param("dtype", Role.DTYPE, default=None, by_name_only=True)
_ENDS = (Param("start", Role.EXTENT), Param("end", Role.EXTENT))


# ---- ranges ---------------------------------------------------------------------------------------------------------


def _arange(element: DType) -> Rule:
    def rule(site: Site) -> tuple[TensorType, ...] | None:
        start, end = extent(site.given["start"]), extent(site.given["end"])
        span = site.given["start"].span.to(site.given["end"].span)
        if not _is_range(site, start, end, span):
            return None
        length = end - start
        what = f"the length of `{site.intrinsic.name}`"
        is_sound = is_power_of_two(site, length, what, span) and is_within_limit(site, (length,), span)
        return (TensorType(element, (length,)),) if is_sound else None

    return rule


def _is_range(site: Site, start: Extent, end: Extent, span: Span) -> bool:
    """Whether the ends fit 32 bits and leave something between them, as far as known."""
    for name, known in (("start", start.known), ("end", end.known)):
        if known is not None and not I32.minimum <= known <= I32.maximum:
            from teenyc.diagnostics.catalog.calls import OutOfBounds

            need = "an `i32`"
            at = site.given[name].span
            site.report(OutOfBounds(span=at, function=site.intrinsic.name, name=name, need=need, found=str(known)))
            return False
    if is_never_positive(end - start):
        from teenyc.diagnostics.catalog.shapes import EmptyRange

        site.report(EmptyRange(span=span, function=site.intrinsic.name, start=str(start), end=str(end)))
        return False
    return True


def _may_start_below_zero(facts: Facts) -> bool:
    start = facts.attributes.get("start")
    known = start.known if isinstance(start, Extent) else start
    return not isinstance(known, int) or known < 0


def _range_of(dtype: str) -> Any:
    def reference(start: int, end: int) -> Any:
        return numpy().arange(start, end, dtype=dtype)

    return reference


# ---- constants ------------------------------------------------------------------------------------------------------


def _stated(site: Site) -> Element | None:
    """The element type that the author states: `zeros::<f32>(…)` or `dtype = f32`."""
    given = site.given.get("dtype")
    if given is not None and given.static is not None:
        return given.static  # type: ignore[return-value]  # the checker reads types
    return site.generics[0] if site.generics else None


def _zeros(site: Site) -> tuple[TensorType, ...] | None:
    wanted, element = shape(site.given["shape"]), _stated(site)
    if element is None:
        from teenyc.diagnostics.catalog.calls import MissingDtype

        site.report(MissingDtype(span=site.span, function=site.intrinsic.name))
    if not is_sound_shape(site, wanted, site.given["shape"].span) or element is None:
        return None
    return (TensorType(element, wanted),)


def _full(site: Site) -> tuple[TensorType, ...] | None:
    wanted, type = shape(site.given["shape"]), value(site, "value", Need.ELEMENT)
    if not is_sound_shape(site, wanted, site.given["shape"].span) or type is None:
        return None
    element = _stated(site) or type.element
    if type.shape:
        _not_a_scalar(site, type, wanted)
        return None
    if element != type.element:
        _not_of(site, type, element)
        return None
    return (TensorType(element, wanted),)


def _not_a_scalar(site: Site, type: TensorType, wanted: tuple[Extent, ...]) -> None:
    from teenyc.diagnostics.catalog.calls import NotAScalar

    advice = f"stretch it: `broadcast_to(…, &{shape_text(wanted)})`"
    at = site.given["value"].span
    site.report(NotAScalar(span=at, function=site.intrinsic.name, name="value", found=str(type), advice=advice))


def _not_of(site: Site, type: TensorType, element: Element) -> None:
    from teenyc.diagnostics.catalog.types import MismatchedTypes

    why = f"`{site.intrinsic.name}` makes `{element}`"
    at = site.given["value"].span
    site.report(MismatchedTypes(span=at, expected=str(element), found=str(type), why=why, convert=str(element)))


def _dtype_of_result(site: Site, results: tuple[Type, ...]) -> tuple[tuple[str, Static], ...]:
    (result,) = results
    return (("dtype", result.element),) if isinstance(result, TensorType) else ()


def _filled(shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
    return numpy().broadcast_to(value.reshape(-1, *(1,) * len(shape)), (len(value), *shape))


def _joined(input: Any, other: Any, dim: int) -> Any:
    return numpy().concatenate(in_each_program(input, other), axis=dim)


def _zeros_like(site: Site) -> tuple[TensorType, ...] | None:
    type = value(site, "input", Need.ELEMENT)
    return None if type is None else (type,)


# ---- put together ---------------------------------------------------------------------------------------------------


def _cat(site: Site) -> tuple[TensorType, ...] | None:
    types = values(site, ("input", "other"), Need.ELEMENT)
    if types is None or not needs_axes(site, "input", types["input"], 1):
        return None
    first, second = types["input"], types["other"]
    if first.shape != second.shape:
        from teenyc.diagnostics.catalog.shapes import DifferentShapes

        site.report(
            DifferentShapes(
                span=site.given["other"].span,
                function="cat",
                names=("input", "other"),
                left=shape_text(first.shape),
                right=shape_text(second.shape),
                left_span=site.given["input"].span,
            )
        )
        return None
    dim = axis(site, "dim", first.shape)
    if dim is None:
        return None
    joined = tuple(extent * Extent.of(2) if i == dim else extent for i, extent in enumerate(first.shape))
    return (TensorType(first.element, joined),) if is_within_limit(site, joined, site.span) else None


INTRINSICS = (
    Intrinsic(
        "arange",
        _ENDS,
        _arange(I32),
        "tl.arange",
        "The integers from `start` to before `end`, whose number is a power of two, as `i32`.",
        "creation",
        reference=_range_of("int32"),
        variants=(Variant(_may_start_below_zero, "_arange", "_arange"),),
    ),
    Intrinsic(
        "arange_f32",
        _ENDS,
        _arange(F32),
        "tl.cast(tl.arange({start}, {end}), tl.float32)",
        "`arange` as `f32`.",
        "creation",
        reference=_range_of("float32"),
        variants=(Variant(_may_start_below_zero, "tl.cast(_arange({start}, {end}), tl.float32)", "_arange"),),
    ),
    Intrinsic(
        "zeros",
        (_SHAPE, _DTYPE),
        _zeros,
        "tl.zeros",
        "A tensor of zeros: `zeros::<f32>(&[N])`.",
        "creation",
        generics=1,
        first_by_name="dtype",
        fills=_dtype_of_result,
        reference=lambda shape, dtype: numpy().zeros(shape, dtype),
    ),
    Intrinsic(
        "zeros_like",
        (Param("input", Role.VALUE, aliases=("x",)),),
        _zeros_like,
        "tl.zeros_like",
        "Zeros with the shape and element type of another value.",
        "creation",
        generics=1,
        reference=lambda input: numpy().zeros_like(input),
    ),
    Intrinsic(
        "full",
        (_SHAPE, Param("value", Role.VALUE, meets="dtype"), _DTYPE),
        _full,
        "tl.full",
        "A tensor whose elements are all one number.",
        "creation",
        generics=1,
        first_by_name="dtype",
        fills=_dtype_of_result,
        reference=lambda shape, value, dtype: numpy().full(shape, value, dtype),
        batched=_filled,
    ),
    Intrinsic(
        "cat",
        (
            Param("input", Role.VALUE, aliases=("a",)),
            Param("other", Role.VALUE, aliases=("b",), meets="input"),
            Param("can_reorder", Role.FLAG, default=False, is_ignored=True),
            Param("dim", Role.AXIS, default=0, aliases=("axis",), by_name_only=True, counts="input"),
        ),
        _cat,
        "_cat",
        "Two tensors of one shape, one behind the other along an axis, by default the first. Their order is kept.",
        "creation",
        generics=1,
        helper="_cat",
        reference=lambda input, other, dim=0: numpy().concatenate([input, other], axis=dim),
        batched=_joined,
    ),
)
