"""`templates/helpers/atomic_load.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1929685827


def text(names, include):
    yield "@triton.jit\n"
    yield "def _atomic_load(pointer, mask=None, sem: tl.constexpr = None, scope: tl.constexpr = None):\n"
    yield "    \"\"\"The elements, read in one step, 0 where the mask is false; Triton has `atomic_load` since 3.9.\"\"\"\n"
    yield "    order: tl.constexpr = \"acquire\" if sem is None else sem\n"
    yield "    element: tl.constexpr = pointer.dtype.element_ty\n"
    yield "    tl.static_assert(element.primitive_bitwidth >= 32, \"atomic_load takes elements of 32 and 64 bits\")\n"
    yield "    bits: tl.constexpr = tl.int64 if element.primitive_bitwidth == 64 else tl.int32\n"
    yield "    places = pointer.to(tl.pointer_type(bits), bitcast=True)\n"
    yield "    found = tl.atomic_or(places, tl.zeros(pointer.shape, bits), mask=mask, sem=order, scope=scope)\n"
    yield "    if mask is not None:\n"
    yield "        found = tl.where(mask, found, 0)\n"
    yield "    return found.to(element, bitcast=True)\n"
