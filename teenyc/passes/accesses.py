"""Accesses to blocks: a call on a descriptor goes in, the load, store or atomic through pointers comes out."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.intrinsics.descriptors import indices
from teenyc.ir.nodes import Call, ExpandDims, Literal, Operand, Statement
from teenyc.passes.blocks import Access, Blocks, View, stem_of, wider
from teenyc.source import Span
from teenyc.types import BOOL, ONE, DescriptorType, Element, TensorType, is_float, scalar

ACCESSES: Mapping[str, str] = {
    **dict.fromkeys(("load_tensor_descriptor", "load_block_ptr", "descriptor_gather"), "load"),
    **dict.fromkeys(("store_tensor_descriptor", "store_block_ptr", "scatter"), "store"),
    **{f"descriptor_atomic_{name}": f"atomic_{name}" for name in ("add", "max", "min", "and", "or", "xor")},
}
"""What does through pointers what an access to a block does."""

KEPT = frozenset({"cache_modifier", "eviction_policy", "volatile"})
"""Arguments that an access through pointers takes over."""


def through_pointers(call: Call, view: View, blocks: Blocks, to: list[Statement], span: Span) -> Call:
    """An access to a block of a view; what it needs goes to the end of `to`."""
    type = descriptor_of(call).type
    assert isinstance(type, DescriptorType), "blocks are of descriptors"
    access = _access(call, view, type, blocks, to, span)
    mask, pointer = blocks.mask(access, to), blocks.pointers(access, to)
    name = ACCESSES[call.intrinsic]
    masked = (("mask", mask),) if mask is not None else ()
    kept = tuple((n, a) for n, a in call.attributes if n in KEPT)
    if name == "load":
        pads_nan = type.pads_nan or call.attribute("padding_option") == "nan"
        filled = (("other", _padding(type.element, pads_nan=pads_nan)),) if mask is not None else ()
        others = tuple((n, o) for n, o in call.operands if n in KEPT)
        return Call(intrinsic=name, operands=(("pointer", pointer), *masked, *filled, *others), attributes=kept)
    value = given(call, "value")
    if name == "store":
        return Call(intrinsic=name, operands=(("pointer", pointer), ("value", value), *masked), attributes=kept)
    operands = (("pointer", pointer), ("val", _ranked(value, len(type.block), blocks, to, span)), *masked)
    return Call(intrinsic=name, operands=operands, attributes=(("sem", "relaxed"),))


def descriptor_of(call: Call) -> Operand:
    """The descriptor or block pointer that an access goes through."""
    return call.operand("desc") or given(call, "pointer")


def given(call: Call, name: str) -> Operand:
    """An operand that a call certainly has."""
    found = call.operand(name)
    assert found is not None, f"`{call.intrinsic}` is given `{name}`"
    return found


def items(call: Call, name: str) -> tuple[Operand, ...]:
    """The items of a list."""
    return tuple(given(call, item) for item in indices(name, call.operand))


def _access(call: Call, view: View, type: DescriptorType, blocks: Blocks, to: list[Statement], span: Span) -> Access:
    stem, checked = stem_of(descriptor_of(call), view), _checked(call, type)
    rows = call.operand("x_offsets")
    offsets = view.offsets or (items(call, "offsets") if rows is None else (rows, given(call, "y_offset")))
    each: list[Operand] = []
    for axis, offset in enumerate(offsets):
        size = (view.sizes[axis],) if axis in checked else ()
        numbers = (offset, view.strides[axis], *size)
        if offset is rows:
            each.append(blocks.convert(offset, wider(*numbers), to, span))
        else:
            name = blocks.index_name(stem, axis, type.rank)
            each.append(blocks.index(name, numbers, type.block[axis], to, span))
    return Access(view, stem, tuple(each), checked, span)


def _checked(call: Call, type: DescriptorType) -> tuple[int, ...]:
    """The axes whose bounds are checked: all, or those that the access of a block pointer names."""
    if not type.is_block_pointer:
        return tuple(range(type.rank))
    axes = call.attribute("boundary_check", ())
    return tuple(sorted(a for a in axes if isinstance(a, int))) if isinstance(axes, tuple) else ()


def _padding(element: Element, *, pads_nan: bool) -> Literal:
    """What is read outside of a tensor."""
    if pads_nan:
        return Literal(float("nan"), scalar(element))
    return Literal(False if element == BOOL else 0.0 if is_float(element) else 0, scalar(element))


def _ranked(value: Operand, rank: int, blocks: Blocks, to: list[Statement], span: Span) -> Operand:
    """A tensor with so many axes: an atomic adds none by itself."""
    type = value.type
    assert isinstance(type, TensorType), "a block holds numbers"
    missing = rank - len(type.shape)
    if not type.shape or not missing:
        return value
    shape = (*(ONE,) * missing, *type.shape)
    expand = ExpandDims(operand=value, axes=tuple(range(missing)))
    return blocks.let(expand, TensorType(type.element, shape), to, span)
