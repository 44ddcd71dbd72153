"""`templates/helpers/atomic_min.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 53480008


def text(names, include):
    yield "@triton.jit\n"
    yield "def _atomic_min(pointer, val, mask=None, sem: tl.constexpr = None, scope: tl.constexpr = None):\n"
    yield "    \"\"\"The least of floats by the order of their bits; before 3.8 Triton's own gives a wrong old value for f64.\"\"\"\n"
    yield "    element: tl.constexpr = pointer.dtype.element_ty\n"
    yield "    tl.static_assert(element.primitive_bitwidth >= 32, \"atomic_min takes elements of 32 and 64 bits\")\n"
    yield "    if element.is_floating():\n"
    yield "        signed: tl.constexpr = tl.int64 if element.primitive_bitwidth == 64 else tl.int32\n"
    yield "        unsigned: tl.constexpr = tl.uint64 if element.primitive_bitwidth == 64 else tl.uint32\n"
    yield "        bits = tl.broadcast_to(tl.cast(val, element), pointer.shape).to(signed, bitcast=True)\n"
    yield "        above, below = bits >= 0, bits < 0\n"
    yield "        if mask is not None:\n"
    yield "            above, below = above & mask, below & mask\n"
    yield "        places = pointer.to(tl.pointer_type(signed), bitcast=True)\n"
    yield "        first = tl.atomic_min(places, bits, mask=above, sem=sem, scope=scope)\n"
    yield "        others = pointer.to(tl.pointer_type(unsigned), bitcast=True)\n"
    yield "        second = tl.atomic_max(others, bits.to(unsigned, bitcast=True), mask=below, sem=sem, scope=scope)\n"
    yield "        old = tl.where(bits >= 0, first, second.to(signed, bitcast=True)).to(element, bitcast=True)\n"
    yield "    else:\n"
    yield "        old = tl.atomic_min(pointer, val, mask=mask, sem=sem, scope=scope)\n"
    yield "    return old\n"
