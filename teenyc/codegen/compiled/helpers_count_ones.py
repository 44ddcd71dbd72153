"""`templates/helpers/count_ones.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 441793503


def text(names, include):
    yield "@triton.jit\n"
    yield "def _count_ones(x):\n"
    yield "    \"\"\"How many bits are one: counted in pairs, in fours, in bytes, and summed by a product.\"\"\"\n"
    yield "    width: tl.constexpr = x.dtype.primitive_bitwidth\n"
    yield "    size: tl.constexpr = 64 if width == 64 else 32\n"
    yield "    ones: tl.constexpr = 0xFFFFFFFFFFFFFFFF if width == 64 else 0xFFFFFFFF\n"
    yield "    bits = x.to(tl.uint64 if width == 64 else tl.uint32)\n"
    yield "    if width < 32:\n"
    yield "        bits = bits & ((1 << width) - 1)\n"
    yield "    bits = bits - (bits >> 1 & (ones // 3))\n"
    yield "    bits = (bits & (ones // 5)) + (bits >> 2 & (ones // 5))\n"
    yield "    bits = (bits + (bits >> 4)) & (ones // 17)\n"
    yield "    return (bits * (ones // 255) >> (size - 8)).to(tl.uint32)\n"
