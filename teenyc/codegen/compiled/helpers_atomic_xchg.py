"""`templates/helpers/atomic_xchg.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1294675910


def text(names, include):
    yield "@triton.jit\n"
    yield "def _atomic_xchg(pointer, val, mask=None, sem: tl.constexpr = None, scope: tl.constexpr = None):\n"
    yield "    \"\"\"Exchanges the bits of floats as integers; Triton's interpreter exchanges integers only.\"\"\"\n"
    yield "    element: tl.constexpr = pointer.dtype.element_ty\n"
    yield "    tl.static_assert(element.primitive_bitwidth >= 32, \"atomic_xchg takes elements of 32 and 64 bits\")\n"
    yield "    bits: tl.constexpr = tl.int64 if element.primitive_bitwidth == 64 else tl.int32\n"
    yield "    places = pointer.to(tl.pointer_type(bits), bitcast=True)\n"
    yield "    old = tl.atomic_xchg(places, tl.cast(val, element).to(bits, bitcast=True), mask=mask, sem=sem, scope=scope)\n"
    yield "    return old.to(element, bitcast=True)\n"
