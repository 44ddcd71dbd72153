"""`templates/helpers/reversed.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2854112059


def text(names, include):
    yield "@triton.jit\n"
    yield "def _reversed(x, first: tl.constexpr):\n"
    yield "    \"\"\"Groups of `first` bits in reverse order: neighbours are exchanged, then pairs of them, fours and so on.\"\"\"\n"
    yield "    width: tl.constexpr = x.dtype.primitive_bitwidth\n"
    yield "    size: tl.constexpr = 64 if width == 64 else 32\n"
    yield "    bits = x.to(tl.uint64 if width == 64 else tl.uint32)\n"
    yield "    for step in tl.static_range(6):\n"
    yield "        if first <= (1 << step) and (1 << step) < size:\n"
    yield "            bits = _exchanged(bits, 1 << step, (1 << size) - 1)\n"
    yield "    return (bits >> (size - width)).to(x.dtype)\n"
    yield "\n"
    yield "\n"
    yield "@triton.jit\n"
    yield "def _exchanged(bits, count: tl.constexpr, ones: tl.constexpr):\n"
    yield "    \"\"\"Groups of `count` bits that stand side by side, exchanged.\"\"\"\n"
    yield "    return (bits >> count & (ones // ((1 << count) + 1))) | ((bits & (ones // ((1 << count) + 1))) << count)\n"
