"""`templates/helpers/leading_zeros.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3117985329


def text(names, include):
    yield "@triton.jit\n"
    yield "def _leading_zeros(x):\n"
    yield "    \"\"\"How many zeros are above the highest one: those that stay when it is copied to all bits below it.\"\"\"\n"
    yield "    width: tl.constexpr = x.dtype.primitive_bitwidth\n"
    yield "    bits = x.to(tl.uint64 if width == 64 else tl.uint32)\n"
    yield "    if width < 32:\n"
    yield "        bits = bits & ((1 << width) - 1)\n"
    yield "    for step in tl.static_range(6):\n"
    yield "        if (1 << step) < width:\n"
    yield "            bits = bits | (bits >> (1 << step))\n"
    yield "    return width - _count_ones(bits)\n"
