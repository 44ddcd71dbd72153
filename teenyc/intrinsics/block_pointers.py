"""Block pointers: views of memory with the offsets of one block, which `advance` moves.

Triton has dropped them in 3.9; here the pass `lower-descriptors` lowers them, alike for all versions.
"""

from __future__ import annotations

from teenyc.intrinsics.descriptors import (
    BASE,
    BLOCK,
    OFFSETS,
    PADDINGS,
    READS,
    SHAPE,
    STRIDES,
    VALUE,
    WRITES,
    descriptor,
    has_nan,
    is_list,
    is_value,
    make,
    written,
)
from teenyc.intrinsics.memory import EVICTION, MASK, cache
from teenyc.intrinsics.rules import is_present
from teenyc.intrinsics.spec import Intrinsic, Param, Role, Site
from teenyc.types import DescriptorType, TensorType, shape_text

FORMS = {"load": "load_block_ptr", "store": "store_block_ptr"}
"""What a function is called whose first argument is a block pointer."""

_POINTER = Param("pointer", Role.POINTER, aliases=("ptr", "dest"))
_CHECKED = Param("boundary_check", Role.AXES, default=(), counts="pointer")


def _advance(site: Site) -> tuple[DescriptorType, ...] | None:
    type = descriptor(site, "base", is_block_pointer=True)
    return (type,) if type is not None and is_list(site, "offsets", type.rank, "base") else None


def _checked(site: Site) -> DescriptorType | None:
    """The type of a block pointer that is accessed, without a mask, and with axes to check that it has."""
    type = descriptor(site, "pointer", is_block_pointer=True)
    for name in ("mask", "other"):
        if type is not None and is_present(site, name):
            from teenyc.diagnostics.catalog.descriptors import BlockPointerMask

            site.report(BlockPointerMask(span=site.given[name].span, function=site.intrinsic.name, name=name))
            return None
    return type if type is not None and _are_axes(site, type) else None


def _are_axes(site: Site, type: DescriptorType) -> bool:
    given = site.given.get("boundary_check")
    axes = [a for a in given.static if isinstance(a, int)] if given and isinstance(given.static, tuple) else []
    seen: set[int] = set()
    for axis in axes:
        assert given is not None, "what is not given names no axis"
        function, rank = site.intrinsic.name, type.rank
        if not -rank <= axis < rank:
            from teenyc.diagnostics.catalog.shapes import AxisOutOfRange

            text = shape_text(type.block)
            site.report(AxisOutOfRange(span=given.span, function=function, axis=axis, rank=rank, shape=text))
            return False
        if axis % rank in seen:
            from teenyc.diagnostics.catalog.descriptors import CheckedTwice

            site.report(CheckedTwice(span=given.span, function=function, axis=axis))
            return False
        seen.add(axis % rank)
    return True


def _load_block(site: Site) -> tuple[TensorType, ...] | None:
    type = _checked(site)
    if type is None:
        return None
    padding = site.given.get("padding_option")
    if padding is not None and padding.static == "nan" and not has_nan(site, "padding_option", type.element):
        return None
    return (TensorType(type.element, type.block),)


def _store_block(site: Site) -> tuple[TensorType, ...] | None:
    type = _checked(site)
    return () if type is not None and is_value(site, type.block, type, "pointer") else None


# ---- records --------------------------------------------------------------------------------------------------------

INTRINSICS = (
    Intrinsic(
        "make_block_ptr",
        (BASE, SHAPE, STRIDES, OFFSETS, BLOCK, Param("order", Role.AXES, is_ignored=True)),
        make("shape", "strides", "offsets", is_block_pointer=True),
        "tl.make_block_ptr",
        "A pointer to the block at `offsets` of a tensor in memory. `order` makes no difference to what is read.",
        "descriptors",
        generics=1,
    ),
    Intrinsic(
        "advance",
        (Param("base", Role.POINTER, aliases=("ptr",)), OFFSETS),
        _advance,
        "{base}.advance({offsets})",
        "A block pointer that is `offsets` further.",
        "descriptors",
        generics=1,
    ),
    Intrinsic(
        "load_block_ptr",
        (
            _POINTER,
            MASK,
            Param("other", Role.VALUE, default=None),
            _CHECKED,
            Param("padding_option", Role.CHOICE, default=None, choices=PADDINGS),
            cache(".ca", ".cg", ".cv"),
            EVICTION,
            Param("volatile", Role.FLAG, default=False),
        ),
        _load_block,
        "tl.load({pointer}, boundary_check={boundary_check}, padding_option={padding_option})",
        "`load` of a block pointer. Along the axes of `boundary_check`, what lies outside is the padding: zero or NaN.",
        "descriptors",
        generics=2,
        effects=READS,
    ),
    Intrinsic(
        "store_block_ptr",
        (_POINTER, written("pointer"), MASK, _CHECKED, cache(".wb", ".cg", ".cs", ".wt"), EVICTION),
        _store_block,
        "tl.store({pointer}, {value}, boundary_check={boundary_check})",
        "`store` to a block pointer. Along the axes of `boundary_check`, what lies outside is not written.",
        "descriptors",
        generics=2,
        effects=WRITES,
        stored=VALUE,
    ),
)
