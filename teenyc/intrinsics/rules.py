"""What rules of intrinsics share: reading the arguments of a call, and judging their elements, shapes and axes.

Functions here return what they find, or None after a report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum

from teenyc.intrinsics.spec import Facts, Given, Rule, Site
from teenyc.source import Span
from teenyc.types import (
    BOOL,
    Compute,
    DType,
    Element,
    Extent,
    Kind,
    Pointer,
    Quotient,
    Shape,
    TensorType,
    TypeVar,
    Unsuffixed,
    broadcast,
    clash,
    is_float,
    is_generic_number,
    is_integer,
    shape_text,
)

LIMIT = 1 << 20
"""The most elements that Triton allows a tensor."""


class Need(Enum):
    """What elements a function computes with, in the words of a report."""

    FLOAT = "a float"
    INTEGER = "an integer"
    BITS = "an integer or a mask"
    NUMBER = "a number"  # not a mask
    ELEMENT = "a number or a mask"
    ANY = "a number, a mask or a pointer"


_FITS: Mapping[Need, Callable[[Element], bool]] = {
    Need.FLOAT: is_float,
    Need.INTEGER: is_integer,
    Need.BITS: lambda e: is_integer(e) or e == BOOL,
    Need.NUMBER: lambda e: e != BOOL and not isinstance(e, Pointer),
    Need.ELEMENT: lambda e: not isinstance(e, Pointer),
    Need.ANY: lambda e: True,
}


# ---- arguments ------------------------------------------------------------------------------------------------------


def value(site: Site, name: str, need: Need) -> TensorType | None:
    """The type of a run-time argument whose elements are what is needed."""
    given = site.given[name]
    type = given.type
    if not isinstance(type, TensorType) or (isinstance(type.element, Pointer) and need is not Need.ANY):
        from teenyc.diagnostics.catalog.calls import NotAValue

        is_pointer = isinstance(type, TensorType)
        advice = "load what it points to: `load(…)`" if is_pointer else None
        site.report(NotAValue(span=given.span, function=site.intrinsic.name, name=name, found=str(type), advice=advice))
        return None
    if _FITS[need](type.element):
        return type
    wrong_element(site, name, need.value, type)
    return None


def wrong_element(site: Site, name: str, need: str, type: TensorType) -> None:
    """Reports an argument whose elements the function has no meaning for."""
    from teenyc.diagnostics.catalog.calls import WrongElement

    advice = _advice(need, type.element)
    site.report(
        WrongElement(
            span=site.given[name].span,
            function=site.intrinsic.name,
            name=name,
            need=need,
            found=str(type),
            advice=advice,
        )
    )


def _advice(need: str, element: Element) -> str | None:
    if is_generic_number(element):
        variable = element.of if isinstance(element, Compute) else element
        return f"bound the dtype parameter: `{variable}: Float`" if need == Need.FLOAT.value else None
    if element == BOOL:
        return "convert masks on purpose: `as i32`" + (", then `as f32`" if need == Need.FLOAT.value else "")
    if need[0] == "`":
        return f"convert it: `as {need.split('`')[1]}`"
    if need == Need.FLOAT.value:
        return "write the number with a point: `2.0`" if isinstance(element, Unsuffixed) else "convert it: `as f32`"
    return "convert it: `as i32`" if need == Need.INTEGER.value and is_float(element) else None


def values(site: Site, names: Iterable[str], need: Need) -> dict[str, TensorType] | None:
    """The types of those arguments that are present, all of one element type."""
    types: dict[str, TensorType] = {}
    for name in names:
        if name not in site.given:
            continue
        type = value(site, name, need)
        if type is None:
            return None
        types[name] = type
    return types if same_elements(site, types) else None


def same_elements(site: Site, types: Mapping[str, TensorType]) -> bool:
    """Whether all arguments have one element type; the checker converted what converts by itself."""
    first, *others = types
    for name in others:
        if types[name].element != types[first].element:
            from teenyc.diagnostics.catalog.calls import MismatchedArguments

            site.report(
                MismatchedArguments(
                    span=site.given[name].span,
                    function=site.intrinsic.name,
                    name=name,
                    found=str(types[name]),
                    other=first,
                    expected=str(types[first].element),
                    other_span=site.given[first].span,
                )
            )
            return False
    return agrees_with_turbofish(site, types[first].element)


def agrees_with_turbofish(site: Site, element: Element) -> bool:
    """Whether the first type of `f::<…>`, if there is one, is the element type that follows from the arguments."""
    stated = site.generics[0] if site.generics else element
    if stated == element or isinstance(element, Unsuffixed):
        return True
    from teenyc.diagnostics.catalog.calls import ContradictsTurbofish

    site.report(
        ContradictsTurbofish(span=site.span, function=site.intrinsic.name, stated=str(stated), found=str(element))
    )
    return False


def listed(site: Site, name: str) -> tuple[str, ...]:
    """The names of the arguments that a parameter of `several` has: `args`, `args1`, …."""
    return tuple(given for given in site.given if given.rstrip("0123456789") == name)


def flag(site: Site, name: str) -> bool | None:
    """A flag on which types depend, so that its value must be known here."""
    param = site.intrinsic.param(name)
    given = site.given.get(name)
    found = given.static if given is not None else param.default if param is not None else None
    if isinstance(found, bool):
        return found
    from teenyc.diagnostics.catalog.types import NotConstant

    site.report(NotConstant(span=given.span if given else site.span, what=f"`{name}` of `{site.intrinsic.name}`"))
    return None


def extent(given: Given) -> Extent:
    """An argument that is an integer known at compile time."""
    if isinstance(given.static, int):
        return Extent.of(given.static)
    assert isinstance(given.static, Extent), "the checker reads extents"
    return given.static


def shape(given: Given) -> Shape:
    """An argument that is a shape."""
    assert isinstance(given.static, tuple), "the checker reads shapes"
    return tuple(e if isinstance(e, Extent) else Extent.of(e) for e in given.static)


# ---- shapes ---------------------------------------------------------------------------------------------------------


def met_shapes(site: Site, types: Mapping[str, TensorType]) -> Shape | None:
    """The broadcast of the shapes of all arguments."""
    total: Shape = ()
    widest = next(iter(types))
    for name, type in types.items():
        met = broadcast(total, type.shape)
        if met is None:
            from teenyc.diagnostics.catalog.types import MismatchedShapes

            site.report(
                MismatchedShapes(
                    span=site.given[name].span,
                    left=shape_text(total),
                    right=shape_text(type.shape),
                    left_span=site.given[widest].span,
                    right_span=site.given[name].span,
                    extents=clash(total, type.shape),
                    function=site.intrinsic.name,
                )
            )
            return None
        widest = name if met == type.shape else widest
        total = met
    return total


def elementwise(names: str, need: Need, *, element: Element | None = None) -> Rule:
    """The rule of a function that works element by element on arguments of one element type."""

    def rule(site: Site) -> tuple[TensorType, ...] | None:
        types = values(site, names.split(), need)
        if types is None:
            return None
        shape = met_shapes(site, types)
        if shape is None:
            return None
        return (TensorType(element or next(iter(types.values())).element, shape),)

    return rule


def is_sound_shape(site: Site, wanted: Shape, span: Span) -> bool:
    """Whether extents that the author states are powers of two, as far as known; the rest is required."""
    what = f"an extent of `{site.intrinsic.name}`"
    are_powers = [is_power_of_two(site, extent, what, span) for extent in wanted]
    return all(are_powers) and is_within_limit(site, wanted, span)


def is_power_of_two(site: Site, extent: Extent, what: str, span: Span) -> bool:
    """Whether an extent is a power of two, or may be one; then it is required to be."""
    known = extent.known
    if known is None:
        site.require(extent, "power-of-two", what, span)
        return True
    if known > 0 and known & (known - 1) == 0:
        return True
    from teenyc.diagnostics.catalog.types import BrokenRequirement

    site.report(BrokenRequirement(span=span, what=what, extent=str(known), value=known, need="a power of two"))
    return False


def is_within_limit(site: Site, wanted: Shape, span: Span) -> bool:
    """Whether a new tensor has no more elements than Triton allows, as far as known."""
    count = numel(wanted).known
    if count is None or count <= LIMIT:
        return True
    from teenyc.diagnostics.catalog.shapes import TooManyElements

    site.report(TooManyElements(span=span, shape=shape_text(wanted), count=count, limit=LIMIT))
    return False


def is_never_positive(extent: Extent) -> bool:
    """Whether an extent is zero or negative whatever positive values its constants have."""
    return all(coefficient < 0 for _, coefficient in extent.terms)


def numel(shape: Shape) -> Extent:
    """How many elements a shape has. `N / 2 * 2` is `N`: an extent that is halved is a power of two."""
    total = Extent.of(1)
    for extent in shape:
        total = total * extent
    while True:
        simpler = _without_quotients(total)
        if simpler == total:
            return total
        total = simpler


def _without_quotients(extent: Extent) -> Extent:
    """Cancels each quotient with a factor that is its denominator."""
    total = Extent.of(0)
    for monomial, coefficient in extent.terms:
        factors = list(monomial)
        rest = Extent.of(1)
        for atom in monomial:
            if not isinstance(atom, Quotient):
                continue
            known = atom.denominator.known
            if known and coefficient % known == 0:
                coefficient //= known
            elif known is None and _factor(atom.denominator) in factors:
                factors.remove(_factor(atom.denominator))
            else:
                continue
            factors.remove(atom)
            rest = rest * atom.numerator
        for factor in factors:
            rest = rest * Extent.of(factor)
        total = total + Extent.of(coefficient) * rest
    return total


def _factor(extent: Extent) -> str | Quotient:
    """The constant that an extent is, or text that no constant has."""
    (monomial, coefficient), *others = extent.terms or (((), 0),)
    return monomial[0] if not others and coefficient == 1 and len(monomial) == 1 else ""


def has_quotient(extent: Extent) -> bool:
    """Whether equality with another extent is open, since a quotient is left in it."""
    return any(isinstance(atom, Quotient) for monomial, _ in extent.terms for atom in monomial)


def needs_axes(site: Site, name: str, type: TensorType, count: int) -> bool:
    """Whether an argument has at least so many axes."""
    if len(type.shape) >= count:
        return True
    from teenyc.diagnostics.catalog.shapes import TooFewAxes

    needs = "at least one axis" if count == 1 else f"at least {count} axes"
    site.report(
        TooFewAxes(span=site.given[name].span, function=site.intrinsic.name, name=name, needs=needs, found=str(type))
    )
    return False


# ---- axes -----------------------------------------------------------------------------------------------------------


def axis(site: Site, name: str, shape: Shape, *, added: int = 0) -> int | None:
    """The axis that an argument, or its default, states, from the front; `added` axes come with the result."""
    param = site.intrinsic.param(name)
    assert param is not None, f"`{site.intrinsic.name}` has no `{name}`"
    given = site.given.get(name)
    stated = given.static if given is not None else param.default
    assert isinstance(stated, int), "the checker reads axes"
    rank = len(shape) + added
    if -rank <= stated < rank:
        return stated % rank
    from teenyc.diagnostics.catalog.shapes import AxisOutOfRange

    span = given.span if given is not None else site.span
    site.report(
        AxisOutOfRange(span=span, function=site.intrinsic.name, axis=stated, rank=rank, shape=shape_text(shape))
    )
    return None


def is_present(site: Site, name: str) -> bool:
    """Whether an argument is given, and not as `None`."""
    given = site.given.get(name)
    return given is not None and (given.type is not None or given.static is not None)


# ---- masks ----------------------------------------------------------------------------------------------------------


def mask(site: Site, name: str) -> TensorType | None:
    """The type of a mask or condition."""
    given = site.given[name]
    type = given.type if given.type is not None else TensorType(BOOL) if isinstance(given.static, bool) else None
    if isinstance(type, TensorType) and type.element == BOOL:
        return type
    from teenyc.diagnostics.catalog.memory import MaskNeeded

    site.report(MaskNeeded(span=given.span, function=site.intrinsic.name, name=name, found=str(type)))
    return None


# ---- element types --------------------------------------------------------------------------------------------------


def is_narrow_integer(element: Element) -> bool:
    """Whether elements are integers of 8 or 16 bits."""
    return isinstance(element, DType) and element.kind in (Kind.SIGNED, Kind.UNSIGNED) and element.bits < 32


def may_be_f32(element: Element) -> bool:
    """Whether elements are f32, or may be for some `D`."""
    return isinstance(element, TypeVar | Compute) or (isinstance(element, DType) and element.name == "f32")


def may_be_one(facts: Facts, name: str, *, rank: int | None = None) -> bool:
    """Whether a tensor, of so many axes, may have one element only, which functions of Triton do not expect."""
    type = facts.types[name]
    assert isinstance(type, TensorType), "what has axes is a tensor"
    return all(e.known in (None, 1) for e in type.shape) and rank in (None, len(type.shape))
