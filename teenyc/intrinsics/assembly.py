"""Inline assembly: the text of another language, element by element, for one kind of GPU."""

from __future__ import annotations

from teenyc.intrinsics.rules import Need, extent, flag, listed, met_shapes, value
from teenyc.intrinsics.spec import Effect, Facts, Intrinsic, Param, Role, Site, Static, Variant
from teenyc.types import Element, TensorType, Type

_CALL = "tl.inline_asm_elementwise({asm}, {constraints}, [%s], %s, is_pure={is_pure}, pack={pack})"


def _assembly(site: Site) -> tuple[TensorType, ...] | None:
    """One result for each type that is stated, of the common shape of the arguments."""
    given = {name: value(site, name, Need.ANY) for name in listed(site, "args")}
    types = {name: type for name, type in given.items() if type is not None}
    shape = met_shapes(site, types) if types else ()
    elements = _elements(site)
    if len(types) < len(given) or shape is None or elements is None or not _is_sound(site):
        return None
    return tuple(TensorType(element, shape) for element in elements)


def _elements(site: Site) -> tuple[Element, ...] | None:
    stated = [site.given[name].static for name in listed(site, "dtype")]
    elements = tuple(stated) or site.generics
    if not elements:
        from teenyc.diagnostics.catalog.calls import MissingDtype

        site.report(MissingDtype(span=site.span, function=site.intrinsic.name))
        return None
    return elements  # type: ignore[return-value]  # the checker reads types


def _is_sound(site: Site) -> bool:
    """Whether `pack` is a positive number, and `is_pure` known."""
    pack = extent(site.given["pack"]).known
    if pack is not None and pack > 0:
        return flag(site, "is_pure") is not None
    from teenyc.diagnostics.catalog.calls import OutOfBounds

    need, found = "a number of at least 1", str(extent(site.given["pack"]))
    at = site.given["pack"].span
    site.report(OutOfBounds(span=at, function=site.intrinsic.name, name="pack", need=need, found=found))
    return False


def _filled(site: Site, results: tuple[Type, ...]) -> tuple[tuple[str, Static], ...]:
    elements = [result.element for result in results if isinstance(result, TensorType)]
    return tuple((f"dtype{place or ''}", element) for place, element in enumerate(elements))


def _has_no_arguments(facts: Facts) -> bool:
    return "args" not in facts.types


def _has_several(facts: Facts) -> bool:
    return "dtype1" in facts.attributes


INTRINSICS = (
    Intrinsic(
        "inline_asm_elementwise",
        (
            Param("asm", Role.TEXT),
            Param("constraints", Role.TEXT),
            Param("is_pure", Role.FLAG),
            Param("pack", Role.EXTENT),
            Param("args", Role.VALUE, default=None, by_name_only=True, several=True),
            Param("dtype", Role.DTYPE, default=None, by_name_only=True, several=True),
        ),
        _assembly,
        _CALL % ("{args}", "{dtype}"),
        "Runs assembly of the GPU on `pack` elements at a time: `args = &[a, b]`, and a result for each type of `dtype`"
        " or of the turbofish. Triton's interpreter cannot.",
        "assembly",
        generics=8,
        effects=frozenset({Effect.CONTROL}),
        variants=(
            Variant(lambda f: _has_no_arguments(f) and _has_several(f), _CALL % ("", "({dtype})")),
            Variant(_has_no_arguments, _CALL % ("", "{dtype}")),
            Variant(_has_several, _CALL % ("{args}", "({dtype})")),
        ),
        fills=_filled,
    ),
)
