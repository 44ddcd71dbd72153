"""Tensor descriptors, and what block pointers share with them: views of memory, read and written by whole blocks.

The pass `lower-descriptors` turns them into masked loads and stores, so that none of what hardware needs of them is
needed here: any strides, any alignment, any extents of the tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, takewhile

from teenyc.intrinsics import atomics
from teenyc.intrinsics.memory import stored_types
from teenyc.intrinsics.rules import is_sound_shape, shape
from teenyc.intrinsics.spec import Effect, Given, Intrinsic, Param, Role, Rule, Site
from teenyc.types import (
    ONE,
    U64,
    DescriptorType,
    Element,
    Pointer,
    Shape,
    TensorType,
    broadcast,
    is_float,
    is_integer,
    shape_text,
)

MOST_AXES = 5
"""The most axes of a descriptor in Triton."""

FORMS = {
    "load": "load_tensor_descriptor",
    "store": "store_tensor_descriptor",
    "gather": "descriptor_gather",
    **{f"atomic_{name}": f"descriptor_atomic_{name}" for name in ("add", "max", "min", "and", "or", "xor")},
}
"""What a function is called whose first argument is a tensor descriptor."""

BASE = Param("base", Role.POINTER)
_DESC = Param("desc", Role.POINTER)
SHAPE, STRIDES, OFFSETS = (Param(name, Role.INDICES) for name in ("shape", "strides", "offsets"))
BLOCK = Param("block_shape", Role.SHAPE)
PADDINGS = ("zero", "nan")


def written(meets: str) -> Param:
    """The argument that goes to memory."""
    return Param("value", Role.VALUE, aliases=("src",), meets=meets)


def indices(name: str, present: Callable[[str], object]) -> Iterator[str]:
    """The names of the operands that the items of a list became, as far as they are present."""
    return takewhile(present, (f"{name}{number}" for number in count()))


# ---- what descriptors are made of -----------------------------------------------------------------------------------


def make(*lists: str, is_block_pointer: bool) -> Rule:
    """The rule of what makes a descriptor from a pointer and `lists` of one number an axis."""

    def rule(site: Site) -> tuple[DescriptorType, ...] | None:
        memory = _base(site)
        block = shape(site.given["block_shape"])
        rank = len(list(indices("shape", site.given.__contains__)))
        is_counted = _is_rank(site, rank) and all(is_list(site, name, rank, "shape") for name in lists)
        if not is_counted or not _is_count(site, "block_shape", len(block), rank, "shape") or memory is None:
            return None
        padding = site.given.get("padding_option")
        pads_nan = padding is not None and padding.static == "nan"
        is_sound = is_sound_shape(site, block, site.given["block_shape"].span) and _is_order(site, rank)
        if not is_sound or (pads_nan and not has_nan(site, "padding_option", memory)):
            return None
        return (DescriptorType(memory, block, is_block_pointer, pads_nan),)

    return rule


def _base(site: Site) -> Element | None:
    """The element type of the memory that a single pointer points to."""
    given = site.given["base"]
    type = given.type
    if not isinstance(type, TensorType) or not isinstance(type.element, Pointer):
        from teenyc.diagnostics.catalog.memory import PointerNeeded

        site.report(PointerNeeded(span=given.span, function=site.intrinsic.name, found=str(type)))
        return None
    if type.shape:
        from teenyc.diagnostics.catalog.calls import NotAScalar

        advice = "the pointer to the first element of the tensor"
        name = site.intrinsic.name
        site.report(NotAScalar(span=given.span, function=name, name="base", found=str(type), advice=advice))
        return None
    if isinstance(type.element.to, Pointer):
        from teenyc.diagnostics.catalog.descriptors import DescriptorElement

        site.report(DescriptorElement(span=given.span, function=site.intrinsic.name, found=str(type)))
        return None
    return type.element.to


def _is_rank(site: Site, rank: int) -> bool:
    if 1 <= rank <= MOST_AXES:
        return True
    from teenyc.diagnostics.catalog.descriptors import DescriptorRank

    site.report(DescriptorRank(span=site.given["shape"].span, function=site.intrinsic.name, rank=rank))
    return False


def is_list(site: Site, name: str, rank: int, like: str) -> bool:
    """Whether a list has one integer scalar for each axis; `like` is the argument that says how many there are."""
    items = [site.given[item] for item in indices(name, site.given.__contains__)]
    if not _is_count(site, name, len(items), rank, like):
        return False
    wrong = next((item for item in items if not _is_index(item)), None)
    if wrong is not None:
        _not_an_index(site, name, wrong)
    return wrong is None


def _is_count(site: Site, name: str, found: int, rank: int, like: str) -> bool:
    if found == rank:
        return True
    from teenyc.diagnostics.catalog.descriptors import AxisCount

    at, function = site.given[name].span, site.intrinsic.name
    site.report(AxisCount(span=at, function=function, name=name, found=found, rank=rank, of_span=site.given[like].span))
    return False


def _is_index(given: Given, axes: int = 0) -> bool:
    """Whether an argument is a scalar, or has so many axes, of an integer type that 64 signed bits hold."""
    type = given.type
    is_number = isinstance(type, TensorType) and is_integer(type.element) and type.element != U64
    return is_number and isinstance(type, TensorType) and len(type.shape) == axes


def _not_an_index(site: Site, name: str, given: Given, needed: str = "integer scalars") -> None:
    from teenyc.diagnostics.catalog.descriptors import NotAnIndex

    function, found = site.intrinsic.name, str(given.type)
    site.report(NotAnIndex(span=given.span, function=function, name=name, found=found, needed=needed))


def _is_order(site: Site, rank: int) -> bool:
    """Whether `order`, which makes no difference to what is read, names each axis once."""
    given = site.given.get("order")
    order = tuple(a for a in given.static if isinstance(a, int)) if given and isinstance(given.static, tuple) else ()
    if given is None or sorted(order) == list(range(rank)):
        return True
    from teenyc.diagnostics.catalog.shapes import NotAPermutation

    base = site.given["base"]
    site.report(
        NotAPermutation(
            span=given.span,
            function=site.intrinsic.name,
            dims=order,
            value=f"this has {rank} axes",
            rank=rank,
            value_span=site.given["shape"].span if "shape" in site.given else base.span,
        )
    )
    return False


def has_nan(site: Site, name: str, element: Element) -> bool:
    """Whether an element can be padded with NaN; `name` is the argument that asks for it."""
    if is_float(element):
        return True
    from teenyc.diagnostics.catalog.descriptors import PaddingElement

    site.report(PaddingElement(span=site.given[name].span, function=site.intrinsic.name, element=str(element)))
    return False


# ---- accesses -------------------------------------------------------------------------------------------------------


def descriptor(site: Site, name: str = "desc", *, is_block_pointer: bool = False) -> DescriptorType | None:
    """The type of the descriptor or block pointer that a call is given."""
    given = site.given[name]
    if isinstance(given.type, DescriptorType) and given.type.is_block_pointer == is_block_pointer:
        return given.type
    from teenyc.diagnostics.catalog.descriptors import DescriptorNeeded

    maker = "make_block_ptr" if is_block_pointer else "make_tensor_descriptor"
    needed = "a block pointer" if is_block_pointer else "a tensor descriptor"
    function, found = site.intrinsic.name, str(given.type)
    site.report(DescriptorNeeded(span=given.span, function=function, needed=needed, found=found, maker=maker))
    return None


def is_value(site: Site, block: Shape, type: DescriptorType, place: str) -> bool:
    """Whether the argument `value` may be written to a block."""
    types = stored_types(site, ("value",), type.element, place)
    if types is None:
        return False
    found = types["value"].shape
    if broadcast(block, found) == block:
        return True
    from teenyc.diagnostics.catalog.descriptors import BlockValue

    given, at = site.given["value"], site.given[place].span
    name, text = site.intrinsic.name, shape_text(found)
    site.report(BlockValue(span=given.span, function=name, found=text, block=shape_text(block), descriptor_span=at))
    return False


def _load(site: Site) -> tuple[TensorType, ...] | None:
    type = descriptor(site)
    if type is None or not is_list(site, "offsets", type.rank, "desc"):
        return None
    return (TensorType(type.element, type.block),)


def _store(site: Site) -> tuple[TensorType, ...] | None:
    type = descriptor(site)
    if type is None or not is_list(site, "offsets", type.rank, "desc"):
        return None
    return () if is_value(site, type.block, type, "desc") else None


def _atomic(fits: Callable[[Element], bool], need: str) -> Rule:
    def rule(site: Site) -> tuple[TensorType, ...] | None:
        type = descriptor(site)
        if type is None or fits(type.element):
            return _store(site)
        atomics.unsupported(site, type.element, need, "desc")
        return None

    return rule


def _rows(site: Site) -> tuple[DescriptorType, Shape] | None:
    """The descriptor of single rows and the shape of those that a tensor of offsets picks."""
    type = descriptor(site)
    if type is None:
        return None
    if type.rank != 2 or type.block[0] != ONE:
        from teenyc.diagnostics.catalog.descriptors import RowsNeeded

        at, function = site.given["desc"].span, site.intrinsic.name
        site.report(RowsNeeded(span=at, function=function, found=shape_text(type.block)))
        return None
    rows, column = site.given["x_offsets"], site.given["y_offset"]
    if not _is_index(rows, axes=1):
        _not_an_index(site, "x_offsets", rows, "a tensor of integers with one axis")
        return None
    if not _is_index(column):
        _not_an_index(site, "y_offset", column, "an integer scalar")
        return None
    assert isinstance(rows.type, TensorType), "indices are integers"
    return type, (*rows.type.shape, type.block[1])


def _gather(site: Site) -> tuple[TensorType, ...] | None:
    found = _rows(site)
    return None if found is None else (TensorType(found[0].element, found[1]),)


def _scatter(site: Site) -> tuple[TensorType, ...] | None:
    found = _rows(site)
    return () if found is not None and is_value(site, found[1], found[0], "desc") else None


# ---- records --------------------------------------------------------------------------------------------------------

READS, WRITES = frozenset({Effect.READS}), frozenset({Effect.WRITES})
VALUE = frozenset({"value"})


def _atomic_record(name: str, fits: Callable[[Element], bool], need: str, summary: str) -> Intrinsic:
    return Intrinsic(
        f"descriptor_atomic_{name}",
        (_DESC, OFFSETS, written("desc")),
        _atomic(fits, need),
        f"{{desc}}.atomic_{name}({{offsets}}, {{value}})",
        summary,
        "descriptors",
        effects=frozenset({Effect.ATOMIC}),
        update=atomics.UPDATES[name],
        stored=VALUE,
    )


INTRINSICS = (
    Intrinsic(
        "make_tensor_descriptor",
        (BASE, SHAPE, STRIDES, BLOCK, Param("padding_option", Role.CHOICE, default="zero", choices=PADDINGS)),
        make("shape", "strides", is_block_pointer=False),
        "tl.make_tensor_descriptor({base}, [{shape}], [{strides}], {block_shape})",
        "A tensor in memory, of which blocks of `block_shape` are read and written.",
        "descriptors",
        generics=1,
    ),
    Intrinsic(
        "load_tensor_descriptor",
        (_DESC, OFFSETS),
        _load,
        "{desc}.load([{offsets}])",
        "The block at `offsets`: `desc.load([i, j])`. What lies outside of the tensor is the padding.",
        "descriptors",
        generics=1,
        effects=READS,
    ),
    Intrinsic(
        "store_tensor_descriptor",
        (_DESC, OFFSETS, written("desc")),
        _store,
        "{desc}.store([{offsets}], {value})",
        "Writes the block at `offsets`: `desc.store([i, j], x)`. What lies outside of the tensor is not written.",
        "descriptors",
        generics=1,
        effects=WRITES,
        stored=VALUE,
    ),
    Intrinsic(
        "descriptor_gather",
        (_DESC, Param("x_offsets", Role.VALUE), Param("y_offset", Role.VALUE)),
        _gather,
        "{desc}.gather({x_offsets}, {y_offset})",
        "Rows of a tensor, from column `y_offset` on: `desc.gather(rows, 0)`. Blocks of `desc` are one row.",
        "descriptors",
        effects=READS,
    ),
    Intrinsic(
        "scatter",
        (_DESC, written("desc"), Param("x_offsets", Role.VALUE), Param("y_offset", Role.VALUE)),
        _scatter,
        "{desc}.scatter({value}, {x_offsets}, {y_offset})",
        "Writes rows of a tensor, from column `y_offset` on: `desc.scatter(x, rows, 0)`.",
        "descriptors",
        effects=WRITES,
        stored=VALUE,
    ),
    _atomic_record("add", atomics.may_be_added, atomics.ADDED, "Adds to a block: `desc.atomic_add([i, j], x)`."),
    _atomic_record("max", atomics.is_wide, atomics.WIDE, "Leaves the greater of the block and the value."),
    _atomic_record("min", atomics.is_wide, atomics.WIDE, "Leaves the smaller of the block and the value."),
    _atomic_record("and", atomics.is_wide_integer, atomics.INTEGERS, "Leaves the bits that both have."),
    _atomic_record("or", atomics.is_wide_integer, atomics.INTEGERS, "Leaves the bits that either has."),
    _atomic_record("xor", atomics.is_wide_integer, atomics.INTEGERS, "Leaves the bits that one of both has."),
)
