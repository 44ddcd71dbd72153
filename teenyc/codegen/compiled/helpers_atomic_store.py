"""`templates/helpers/atomic_store.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2893130915


def text(names, include):
    yield "@triton.jit\n"
    yield "def _atomic_store(pointer, val, mask=None, sem: tl.constexpr = None, scope: tl.constexpr = None):\n"
    yield "    \"\"\"Writes elements in one step; Triton has `atomic_store` since 3.9.\"\"\"\n"
    yield "    order: tl.constexpr = \"release\" if sem is None else sem\n"
    yield "    element: tl.constexpr = pointer.dtype.element_ty\n"
    yield "    tl.static_assert(element.primitive_bitwidth >= 32, \"atomic_store takes elements of 32 and 64 bits\")\n"
    yield "    bits: tl.constexpr = tl.int64 if element.primitive_bitwidth == 64 else tl.int32\n"
    yield "    places = pointer.to(tl.pointer_type(bits), bitcast=True)\n"
    yield "    tl.atomic_xchg(places, tl.cast(val, element).to(bits, bitcast=True), mask=mask, sem=order, scope=scope)\n"
