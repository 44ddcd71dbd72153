"""Reductions: sums, extrema and their places, along one axis or over all; and `softmax`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from teenyc.intrinsics.reference import numpy, place, reduction, softmax, summed_dtype, total
from teenyc.intrinsics.rules import (
    Need,
    agrees_with_turbofish,
    axis,
    flag,
    is_narrow_integer,
    is_present,
    needs_axes,
    value,
)
from teenyc.intrinsics.spec import Facts, Intrinsic, Param, Role, Rule, Site, Static, Variant
from teenyc.types import I32, ONE, DType, Element, Kind, Shape, TensorType, Type, is_float, is_generic_number

_INPUT = Param("input", Role.VALUE, aliases=("x",))
_ANY_AXIS = Param("axis", Role.AXIS, default=None, aliases=("dim",), counts="input")
_AXIS = Param("axis", Role.AXIS, aliases=("dim",), counts="input")
_KEEP = Param("keep_dims", Role.FLAG, default=False)
_TIES = Param("tie_break_left", Role.FLAG, default=True)
_INDICES = Param("return_indices", Role.FLAG, default=False, by_name_only=True)
_INDEX_TIES = Param("return_indices_tie_break_left", Role.FLAG, default=True, by_name_only=True)


def summed(element: Element) -> Element:
    """The element type of sums and products: 8- and 16-bit integers are added in i32."""
    return I32 if isinstance(element, DType) and is_narrow_integer(element) else element


def summed_unsigned(site: Site, results: tuple[Type, ...]) -> tuple[tuple[str, Static], ...]:
    """The dtype of sums of unsigned 8- and 16-bit integers, for which Triton would take u32."""
    type, (result, *_) = site.given["input"].type, results
    is_unsigned = (
        isinstance(type, TensorType) and isinstance(type.element, DType) and type.element.kind is Kind.UNSIGNED
    )
    is_widened = isinstance(result, TensorType) and result.element == I32
    return (("dtype", I32),) if is_unsigned and is_widened else ()


# ---- rules ----------------------------------------------------------------------------------------------------------


def _reduced(site: Site, type: TensorType) -> Shape | None:
    """The shape without the axis that is reduced, or without any."""
    keeps = flag(site, "keep_dims")
    if keeps is None or not needs_axes(site, "input", type, 1):
        return None
    if not is_present(site, "axis"):
        return (ONE,) * len(type.shape) if keeps else ()
    place = axis(site, "axis", type.shape)
    if place is None:
        return None
    return (*type.shape[:place], *((ONE,) if keeps else ()), *type.shape[place + 1 :])


def _reduction(need: Need, result: Callable[[Element], Element]) -> Rule:
    def rule(site: Site) -> tuple[TensorType, ...] | None:
        type = value(site, "input", need)
        if type is None or not agrees_with_turbofish(site, type.element):
            return None
        shape = _reduced(site, type)
        return None if shape is None else (TensorType(result(type.element), shape),)

    return rule


def _sum(site: Site) -> tuple[TensorType, ...] | None:
    given = site.given.get("dtype")
    stated = given.static if given is not None else None
    return _reduction(Need.NUMBER, lambda element: stated or summed(element))(site)  # type: ignore[return-value,arg-type]


def _extremum(site: Site) -> tuple[TensorType, ...] | None:
    """One result, or with indices two of one shape."""
    results = _reduction(Need.NUMBER, lambda element: element)(site)
    indices = flag(site, "return_indices")
    if results is None or not indices:
        return results  # type: ignore[return-value]
    return _with_indices(site)


def _with_indices(site: Site) -> tuple[TensorType, ...] | None:
    results = _reduction(Need.NUMBER, lambda element: element)(site)
    if results is None:
        return None
    if not is_present(site, "axis"):
        from teenyc.diagnostics.catalog.shapes import MissingAxis

        site.report(MissingAxis(span=site.span, function=site.intrinsic.name))
        return None
    (type,) = results
    assert isinstance(type, TensorType), "a reduction gives a tensor"
    return (type, TensorType(I32, type.shape))


def _softmax(site: Site) -> tuple[TensorType, ...] | None:
    type = value(site, "x", Need.FLOAT)
    if type is None or not needs_axes(site, "x", type, 1) or axis(site, "dim", type.shape) is None:
        return None
    return (type,)


# ---- forms ----------------------------------------------------------------------------------------------------------


def _widens(facts: Facts) -> bool:
    """Whether Triton gives 32 bits where the result has fewer, or for some `D` may have."""
    type = facts.types["input"]
    element = type.element if isinstance(type, TensorType) else I32
    is_whole = facts.attributes.get("dtype") is None and facts.attributes.get("return_indices") is not True
    return is_whole and (is_generic_number(element) or is_narrow_integer(element))


def _may_be_nan(facts: Facts) -> bool:
    """Whether places are asked for of what may hold NaN, which Triton compares by chance."""
    type = facts.types["input"]
    element = type.element if isinstance(type, TensorType) else I32
    return is_float(element) or is_generic_number(element)


def _places_numbers(facts: Facts) -> bool:
    return facts.attributes.get("return_indices") is True and _may_be_nan(facts)


def _sums_generic(facts: Facts) -> bool:
    """Whether the sum over a `D: Num` must come back to its type; named types give 32 bits by the language."""
    type = facts.types["input"]
    return _widens(facts) and isinstance(type, TensorType) and is_generic_number(type.element)


def _is_along_first(facts: Facts) -> bool:
    """Whether Triton's own softmax does, which until 3.8 divides rightly along the first axis only."""
    return facts.attributes.get("dim") == 0 and "ieee_rounding" not in facts.attributes


def _xor(input: Any, axis: int | None = None, keep_dims: bool = False) -> Any:
    return numpy().bitwise_xor.reduce(input, axis=axis, keepdims=keep_dims)


def _or(input: Any, axis: int | None = None, keep_dims: bool = False) -> Any:
    return numpy().bitwise_or.reduce(input, axis=axis, keepdims=keep_dims)


def _product(input: Any, axis: int | None = None, keep_dims: bool = False) -> Any:
    np = numpy()
    return np.prod(input, axis=axis, keepdims=keep_dims, dtype=summed_dtype(np.asarray(input).dtype))


def _and(input: Any, axis: int | None = None, keep_dims: bool = False) -> Any:
    return numpy().bitwise_and.reduce(input, axis=axis, keepdims=keep_dims)


def _keeps(facts: Facts) -> bool:
    return facts.attributes.get("keep_dims") is True


def _is_widened(facts: Facts) -> bool:
    """Whether elements are multiplied in i32, of which Triton knows nothing here."""
    type = facts.types["input"]
    return isinstance(type, TensorType) and isinstance(type.element, DType) and is_narrow_integer(type.element)


def _is_widened_and_kept(facts: Facts) -> bool:
    return _is_widened(facts) and _keeps(facts)


def _extremum_record(name: str, word: str) -> Intrinsic:
    places = "{input}, axis={axis}, tie_break_left={return_indices_tie_break_left}, keep_dims={keep_dims}"
    return Intrinsic(
        name,
        (_INPUT, _ANY_AXIS, _KEEP, _INDICES, _INDEX_TIES),
        _extremum,
        f"tl.{name}",
        f"The {word} number along an axis, or of all; with `return_indices = true` its place along the axis too.",
        "reduction",
        generics=1,
        reference=reduction(f"f{name}", f"arg{name}"),
        first_by_name="axis",
        variants=(
            Variant(_widens, f"_{name}", f"_{name}"),
            Variant(_places_numbers, f"_{name}_with_indices({places})", f"_{name}_with_indices"),
        ),
    )


def _pair_record(name: str, word: str) -> Intrinsic:
    along = "axis={axis}, return_indices=True, return_indices_tie_break_left={tie_break_left}, keep_dims={keep_dims}"
    reference = reduction(f"f{name}", f"arg{name}")
    return Intrinsic(
        f"{name}_with_indices",
        (_INPUT, _AXIS, _TIES, _KEEP),
        _with_indices,
        f"tl.{name}({{input}}, {along})",
        f"The {word} number along an axis and its place: `{name}` with `return_indices = true`.",
        "reduction",
        generics=1,
        reference=lambda input, axis, tie_break_left=True, keep_dims=False: reference(input, axis, keep_dims, True),
        variants=(Variant(_may_be_nan, f"_{name}_with_indices", f"_{name}_with_indices"),),
    )


def _place_record(name: str, word: str) -> Intrinsic:
    return Intrinsic(
        f"arg{name}",
        (_INPUT, _AXIS, _TIES, _KEEP),
        _reduction(Need.NUMBER, lambda element: I32),
        f"tl.arg{name}",
        f"The place of the {word} number along an axis, of equal ones the first.",
        "reduction",
        generics=1,
        reference=place(f"arg{name}"),
        first_by_name="axis",
        variants=(Variant(_may_be_nan, f"_arg{name}", f"_arg{name}"),),
    )


_WIDENED = "tl.reduce(tl.cast({input}, tl.int32), {axis}, _multiplied"

INTRINSICS = (
    Intrinsic(
        "sum",
        (_INPUT, _ANY_AXIS, _KEEP, Param("dtype", Role.DTYPE, default=None, by_name_only=True)),
        _sum,
        "tl.sum",
        "The sum along an axis, or of all elements; of 8- and 16-bit integers in i32.",
        "reduction",
        generics=1,
        reference=total,
        first_by_name="axis",
        variants=(Variant(_sums_generic, "_sum", "_sum"),),
        fills=summed_unsigned,
    ),
    _extremum_record("max", "greatest"),
    _extremum_record("min", "least"),
    _pair_record("max", "greatest"),
    _pair_record("min", "least"),
    _place_record("max", "greatest"),
    _place_record("min", "least"),
    Intrinsic(
        "prod",
        (_INPUT, _ANY_AXIS, _KEEP),
        _reduction(Need.NUMBER, summed),
        "tl.reduce({input}, {axis}, _multiplied)",
        "The product along an axis, or of all elements; of 8- and 16-bit integers in i32.",
        "reduction",
        generics=1,
        reference=_product,
        helper="_multiplied",
        variants=(
            Variant(_is_widened_and_kept, f"{_WIDENED}, keep_dims=True)", "_multiplied"),
            Variant(_is_widened, f"{_WIDENED})", "_multiplied"),
            Variant(_keeps, "tl.reduce({input}, {axis}, _multiplied, keep_dims=True)", "_multiplied"),
        ),
    ),
    Intrinsic(
        "xor_sum",
        (_INPUT, _ANY_AXIS, _KEEP),
        _reduction(Need.INTEGER, lambda element: element),
        "tl.xor_sum",
        "The exclusive or of integers along an axis, or of all elements.",
        "reduction",
        generics=1,
        reference=_xor,
        first_by_name="axis",
    ),
    Intrinsic(
        "reduce_or",
        (_INPUT, _ANY_AXIS, _KEEP),
        _reduction(Need.BITS, lambda element: element),
        "tl.reduce_or({input}, axis={axis})",
        "The bits that any integer has along an axis, or of all elements; of masks, whether one holds.",
        "reduction",
        generics=1,
        reference=_or,
        variants=(Variant(_keeps, "tl.reduce_or({input}, axis={axis}, keep_dims=True)"),),
    ),
    Intrinsic(
        "reduce_and",
        (_INPUT, _ANY_AXIS, _KEEP),
        _reduction(Need.BITS, lambda element: element),
        "tl.reduce({input}, {axis}, _bits_of_both)",
        "The bits that all integers have along an axis, or all elements; of masks, whether all hold.",
        "reduction",
        generics=1,
        reference=_and,
        helper="_bits_of_both",
        variants=(Variant(_keeps, "tl.reduce({input}, {axis}, _bits_of_both, keep_dims=True)", "_bits_of_both"),),
    ),
    Intrinsic(
        "softmax",
        (
            Param("x", Role.VALUE, aliases=("input",)),
            Param("dim", Role.AXIS, default=-1, aliases=("axis",), counts="x"),
            Param("keep_dims", Role.FLAG, default=False, is_ignored=True),
            Param("ieee_rounding", Role.FLAG, default=False),
        ),
        _softmax,
        "_softmax",
        "Exponentials that sum to 1 along an axis, the last one where none is stated; the shape stays.",
        "reduction",
        generics=1,
        reference=softmax,
        first_by_name="dim",
        helper="_softmax",
        variants=(Variant(_is_along_first, "tl.softmax({x})"),),
    ),
)
