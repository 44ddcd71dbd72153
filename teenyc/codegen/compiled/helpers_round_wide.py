"""`templates/helpers/round_wide.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 953595984


def text(names, include):
    yield "@triton.jit\n"
    yield "def _round_wide(x):\n"
    yield "    \"\"\"A number of 32 or 64 bits rounded once to bfloat16: to odd in f32 first, so that only the last step rounds.\"\"\"\n"
    yield "    if not x.dtype.is_floating():\n"
    yield "        if x.dtype.primitive_bitwidth == 64:\n"
    yield "            odd = (x >> 11 | ((x & 2047) != 0).to(x.dtype)) << 11\n"
    yield "            x = tl.where((x >> 53 == 0) | ((x >> 53) + 1 == 0), x, odd)\n"
    yield "        x = x.to(tl.float64)\n"
    yield "    near = x.to(tl.float32)\n"
    yield "    bits = near.to(tl.uint32, bitcast=True)\n"
    yield "    cut = bits - (tl.abs(near.to(tl.float64)) > tl.abs(x)).to(tl.uint32)\n"
    yield "    bits = tl.where(near.to(tl.float64) == x, bits, cut | 1)\n"
    yield "    return _round_to(bits.to(tl.float32, bitcast=True), tl.bfloat16)\n"
