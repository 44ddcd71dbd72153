"""Memory: loads and stores through pointers, and what accesses have in common."""

from __future__ import annotations

from teenyc.intrinsics.rules import Need, is_present, mask, value, wrong_element
from teenyc.intrinsics.spec import Effect, Intrinsic, Operator, Param, Role, Site
from teenyc.types import F32, I32, Compute, Element, Pointer, TensorType, Type, Unsuffixed, broadcast, shape_text

POINTER = Param("pointer", Role.POINTER, aliases=("ptr", "dest"))
MASK = Param("mask", Role.MASK, default=None)
_CHECKED = Param("boundary_check", Role.AXES, default=(), is_ignored=True)
_PADDING = Param("padding_option", Role.CHOICE, default=None, choices=("zero", "nan"), is_ignored=True)
EVICTION = Param(
    "eviction_policy",
    Role.CHOICE,
    default="no_evict",
    choices=("no_evict", "evict_first", "evict_last"),
    gives_way=("cache_modifier", "volatile"),  # an instruction has one of these, and assemblers refuse two
)


def cache(*choices: str) -> Param:
    """What a cache is told about an access."""
    return Param("cache_modifier", Role.CHOICE, default=None, choices=choices, gives_way=("volatile",))


# ---- what accesses share --------------------------------------------------------------------------------------------


def address(site: Site) -> tuple[TensorType, Pointer] | None:
    """The type of the pointers and of what they point to."""
    given = site.given["pointer"]
    if isinstance(given.type, TensorType) and isinstance(given.type.element, Pointer):
        return given.type, given.type.element
    from teenyc.diagnostics.catalog.memory import PointerNeeded

    site.report(PointerNeeded(span=given.span, function=site.intrinsic.name, found=str(given.type)))
    return None


def stored_types(
    site: Site, names: tuple[str, ...], memory: Element, place: str = "pointer"
) -> dict[str, TensorType] | None:
    """The types of arguments that become elements of the memory; `place` names the argument that says where it is."""
    types: dict[str, TensorType] = {}
    for name in names:
        type = site.given[name].type
        if not isinstance(type, TensorType) or not _becomes(type.element, memory):
            _other_type(site, name, type, memory, place)
            return None
        types[name] = type
    return types


def _becomes(element: Element, memory: Element) -> bool:
    """Whether a value is what the memory holds; `D` and the type in which `D` is computed stand for each other."""
    if element == memory or isinstance(element, Unsuffixed):
        return True
    return (isinstance(element, Compute) and element.of == memory) or (
        isinstance(memory, Compute) and memory.of == element
    )


def _other_type(site: Site, name: str, type: Type | None, memory: Element, place: str) -> None:
    from teenyc.diagnostics.catalog.memory import StoredType

    found = str(type.element) if isinstance(type, TensorType) else str(type)
    site.report(
        StoredType(
            span=site.given[name].span,
            function=site.intrinsic.name,
            name=name,
            found=found,
            memory=str(memory),
            pointer_span=site.given[place].span,
        )
    )


def has_no_block_options(site: Site) -> bool:
    """Whether what only block pointers have is left out."""
    for name in ("boundary_check", "padding_option"):
        given = site.given.get(name)
        if given is not None and given.static not in (None, ()):
            from teenyc.diagnostics.catalog.memory import BlockPointerOption

            site.report(BlockPointerOption(span=given.span, function=site.intrinsic.name, name=name))
            return False
    return True


def misfit(site: Site, name: str, type: TensorType, pointer: TensorType) -> None:
    """Reports a mask, or what stands for masked lanes, that does not fit the pointers."""
    from teenyc.diagnostics.catalog.memory import AccessShape

    site.report(
        AccessShape(
            span=site.given[name].span,
            function=site.intrinsic.name,
            name=name,
            found=shape_text(type.shape),
            pointer=shape_text(pointer.shape),
            pointer_span=site.given["pointer"].span,
        )
    )


def stored_misfit(site: Site, name: str, type: TensorType, pointer: TensorType) -> None:
    """Reports a value that does not fit the pointers to which it goes."""
    from teenyc.diagnostics.catalog.memory import StoredShape

    site.report(
        StoredShape(
            span=site.given[name].span,
            function=site.intrinsic.name,
            name=name,
            found=shape_text(type.shape),
            pointer=shape_text(pointer.shape),
            pointer_span=site.given["pointer"].span,
        )
    )


# ---- rules ----------------------------------------------------------------------------------------------------------


def _load(site: Site) -> tuple[TensorType, ...] | None:
    """The shape is that of the pointers and the mask together; one address takes one flag."""
    found = address(site)
    if found is None or not has_no_block_options(site):
        return None
    pointers, memory = found
    if not is_present(site, "mask"):
        return None if is_present(site, "other") and _no_mask(site) else (TensorType(memory.to, pointers.shape),)
    flags = mask(site, "mask")
    if flags is None:
        return None
    shape = broadcast(pointers.shape, flags.shape)
    if shape is None or (flags.shape and not pointers.shape):
        misfit(site, "mask", flags, pointers)
        return None
    if is_present(site, "other"):
        types = stored_types(site, ("other",), memory.to)
        if types is None:
            return None
        if broadcast(shape, types["other"].shape) != shape:
            misfit(site, "other", types["other"], TensorType(memory, shape))
            return None
    return (TensorType(memory.to, shape),)


def _no_mask(site: Site) -> bool:
    from teenyc.diagnostics.catalog.memory import OtherWithoutMask

    site.report(OtherWithoutMask(span=site.given["other"].span, function=site.intrinsic.name))
    return True


def _store(site: Site) -> tuple[TensorType, ...] | None:
    """Values and mask stretch to the pointers, never the pointers to them: lanes would write to one address."""
    found = address(site)
    if found is None or not has_no_block_options(site):
        return None
    pointers, memory = found
    types = stored_types(site, ("value",), memory.to)
    if types is None:
        return None
    if broadcast(pointers.shape, types["value"].shape) != pointers.shape:
        stored_misfit(site, "value", types["value"], pointers)
        return None
    if not is_present(site, "mask"):
        return ()
    flags = mask(site, "mask")
    if flags is None:
        return None
    if broadcast(pointers.shape, flags.shape) == pointers.shape:
        return ()
    misfit(site, "mask", flags, pointers)
    return None


def _stored_index(site: Site) -> tuple[TensorType, ...] | None:
    """One address of an f32, and one offset."""
    found, offset = address(site), value(site, "offset", Need.INTEGER)
    if found is None or offset is None:
        return None
    pointer, memory = found
    if memory.to != F32:
        wrong_element(site, "pointer", "a pointer to `f32`", pointer)
        return None
    for name, type in (("pointer", pointer), ("offset", offset)):
        if type.shape:
            from teenyc.diagnostics.catalog.calls import NotAScalar

            at, function = site.given[name].span, site.intrinsic.name
            site.report(NotAScalar(span=at, function=function, name=name, found=str(type)))
            return None
    return (TensorType(I32),)


STORED_INDEX = Operator(
    "load_scalar_f32_as_i32",
    "stored_index",
    (POINTER, Param("offset", Role.VALUE)),
    "An index that is stored as an f32, cut toward zero.",
    rule=_stored_index,
)

INTRINSICS = (
    Intrinsic(
        "load",
        (
            POINTER,
            MASK,
            Param("other", Role.VALUE, default=None, meets="pointer"),
            _CHECKED,
            _PADDING,
            cache(".ca", ".cg", ".cv"),
            EVICTION,
            Param("volatile", Role.FLAG, default=False),
        ),
        _load,
        "tl.load",
        "The elements at addresses; where the mask is false, nothing is read and the lane holds `other`.",
        "memory",
        generics=2,
        effects=frozenset({Effect.READS}),
        first_by_name="mask",
        stored=frozenset({"other"}),
    ),
    Intrinsic(
        "store",
        (
            POINTER,
            Param("value", Role.VALUE, aliases=("src",), meets="pointer"),
            MASK,
            _CHECKED,
            cache(".wb", ".cg", ".cs", ".wt"),
            EVICTION,
        ),
        _store,
        "tl.store",
        "Writes elements to addresses; where the mask is false, nothing is written.",
        "memory",
        generics=2,
        effects=frozenset({Effect.WRITES}),
        first_by_name="mask",
        stored=frozenset({"value"}),
    ),
)
