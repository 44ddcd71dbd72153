"""Conversions beside the IR's own cast: bits read as another type, and floats narrowed with a stated rounding."""

from __future__ import annotations

from teenyc.intrinsics.reference import numpy
from teenyc.intrinsics.rules import Need, is_present, value, wrong_element
from teenyc.intrinsics.spec import Facts, Intrinsic, Operator, Param, Role, Site, Variant
from teenyc.record import replace
from teenyc.source import Span
from teenyc.types import BOOL, DType, Element, Kind, Pointer, TensorType, is_f8

ROUNDINGS = ("rtne", "rtz")

_INPUT = Param("input", Role.VALUE, aliases=("x",))
_DTYPE = Param("dtype", Role.DTYPE, default=None, by_name_only=True)
_ROUNDING = Param("fp_downcast_rounding", Role.CHOICE, default=None, choices=ROUNDINGS)
_BITCAST = Param("bitcast", Role.FLAG, default=False)
_UNROUNDED, _DECIDED = replace(_ROUNDING, is_ignored=True), replace(_BITCAST, is_ignored=True)


def target(site: Site) -> Element | None:
    """The type that is converted to: `dtype = f16`, or the last of `cast::<f32, f16>(x)`; None after a report."""
    given = site.given.get("dtype")
    stated = given.static if given is not None else site.generics[-1] if site.generics else None
    if stated is not None:
        return stated  # type: ignore[return-value]  # the checker reads types
    from teenyc.diagnostics.catalog.calls import MissingDtype

    site.report(MissingDtype(span=site.span, function=site.intrinsic.name))
    return None


def _filled(site: Site, results: tuple[object, ...]) -> tuple[tuple[str, Element], ...]:
    (result,) = results
    return (("dtype", result.element),) if isinstance(result, TensorType) else ()


def _plain_cast(site: Site) -> tuple[TensorType, ...] | None:
    type, element = value(site, "input", Need.ELEMENT), target(site)
    if type is None or element is None:
        return None
    if isinstance(element, Pointer) or (element == BOOL and type.element != BOOL):
        _no_cast(site, type, element)
        return None
    return (TensorType(element, type.shape),)


def _no_cast(site: Site, type: TensorType, element: Element) -> None:
    from teenyc.diagnostics.catalog.types import InvalidCast

    site.report(InvalidCast(span=site.span, source=str(type), target=str(element)))


def _rounding_cast(site: Site) -> tuple[TensorType, ...] | None:
    """A stated rounding is for floats that become narrower, whatever the dtype parameters are."""
    type, element = value(site, "input", Need.FLOAT), target(site)
    if type is None or element is None:
        return None
    is_narrow = isinstance(element, DType) and element.kind is Kind.FLOAT and element.bits < 32
    if not is_narrow and is_present(site, "fp_downcast_rounding"):
        _useless(site, site.given["fp_downcast_rounding"].span)
        return None
    return (TensorType(element, type.shape),)


def _useless(site: Site, span: Span) -> None:
    from teenyc.diagnostics.catalog.calls import UselessOption

    why = "only a conversion to a named float of 8 or 16 bits rounds in more than one way"
    site.report(UselessOption(span=span, function=site.intrinsic.name, name="fp_downcast_rounding", why=why))


def _bitcast(site: Site) -> tuple[TensorType, ...] | None:
    """Bits keep their number, so both types must be known, or be the same."""
    type, element = value(site, "input", Need.NUMBER), target(site)
    if type is None or element is None:
        return None
    source = type.element
    if not isinstance(element, DType) or element == BOOL:
        wrong_element(site, "input", "read as a named type", type)
        return None
    if isinstance(source, DType) and source.bits != element.bits:
        from teenyc.diagnostics.catalog.values import DifferentWidths

        at, widths = site.given["input"].span, (source.bits, element.bits)
        site.report(DifferentWidths(span=at, source=str(source), target=str(element), widths=widths))
        return None
    return (TensorType(element, type.shape),)


def _is_to_f8(facts: Facts) -> bool:
    return is_f8(facts.attributes.get("dtype"))


def _cuts_f8(facts: Facts) -> bool:
    return _is_to_f8(facts) and facts.attributes.get("fp_downcast_rounding") == "rtz"


def _bits(input: object, dtype: object) -> object:
    np = numpy()
    return np.asarray(input).view(dtype)


def _rounded(input: object, dtype: object, fp_downcast_rounding: str = "rtne") -> object:
    np = numpy()
    narrow = np.asarray(input).astype(dtype)
    if fp_downcast_rounding == "rtne":
        return narrow
    is_above = np.abs(narrow.astype(np.asarray(input).dtype)) > np.abs(input)
    return np.where(is_above, np.nextafter(narrow, np.zeros_like(narrow)), narrow)


CAST = Operator(
    "cast",
    "cast",
    (_INPUT, _ROUNDING, _BITCAST, _DTYPE),
    "Converts to another type: `cast::<f32, f16>(x, None, false)`, `cast::<i32>(x)`, `to(x, dtype = f16)`.",
    rule=_plain_cast,
    generics=2,
    aliases=("to",),
)

INTRINSICS = (
    Intrinsic(
        "cast",
        (_INPUT, _ROUNDING, _DECIDED, _DTYPE),
        _rounding_cast,
        "tl.cast({input}, {dtype}, fp_downcast_rounding={fp_downcast_rounding})",
        "Converts floats to a named narrower type with a stated rounding.",
        "conversion",
        generics=2,
        reference=_rounded,
        stored=frozenset({"input"}),
        fills=_filled,
        variants=(
            Variant(_cuts_f8, "_to_f8({input}, {dtype}, True)", "_to_f8"),
            Variant(_is_to_f8, "_to_f8({input}, {dtype})", "_to_f8"),
        ),
    ),
    Intrinsic(
        "bitcast",
        (_INPUT, _UNROUNDED, _DECIDED, _DTYPE),
        _bitcast,
        "tl.cast({input}, {dtype}, bitcast=True)",
        "Reads the bits as another type of the same width; `cast` with `bitcast = true`.",
        "conversion",
        generics=2,
        reference=_bits,
        stored=frozenset({"input"}),
        fills=_filled,
    ),
)
