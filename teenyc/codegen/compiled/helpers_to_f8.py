"""`templates/helpers/to_f8.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 802781696


def text(names, include):
    yield "@triton.jit\n"
    yield "def _to_f8(x, DTYPE: tl.constexpr, toward_zero: tl.constexpr = False):\n"
    yield "    \"\"\"`x` rounded once to an 8-bit float, to nearest even or toward zero; what is out of range becomes the greatest.\"\"\"\n"
    yield "    greatest: tl.constexpr = 448.0 if DTYPE == tl.float8e4nv else 240.0 if DTYPE == tl.float8e4b8 else 57344.0\n"
    yield "    limit: tl.constexpr = 1.75 if DTYPE == tl.float8e4b15 else greatest\n"
    yield "    x = tl.where(x > limit, limit, tl.where(x < -limit, -limit, x))\n"
    yield "    near = tl.cast(x, tl.float32)\n"
    yield "    if x.dtype == tl.float64:  # to odd, so that only the last step rounds\n"
    yield "        bits = near.to(tl.uint32, bitcast=True)\n"
    yield "        cut = bits - (tl.abs(near.to(tl.float64)) > tl.abs(x)).to(tl.uint32)\n"
    yield "        near = tl.where(near.to(tl.float64) == x, bits, cut | 1).to(tl.float32, bitcast=True)\n"
    yield "    if _IS_INTERPRETED or toward_zero or DTYPE == tl.float8e4b15:\n"
    yield "        mantissa: tl.constexpr = DTYPE.fp_mantissa_width\n"
    yield "        bias: tl.constexpr = DTYPE.exponent_bias\n"
    yield "        is_unsigned: tl.constexpr = DTYPE == tl.float8e4b8 or DTYPE == tl.float8e5b16\n"
    yield "        bits = near.to(tl.int32, bitcast=True)\n"
    yield "        exponent = tl.maximum(tl.minimum(bits >> 23 & 255, 254) - 127, 1 - bias)\n"
    yield "        scale = ((127 + mantissa - exponent) << 23).to(tl.float32, bitcast=True)\n"
    yield "        count = tl.abs(tl.where(near == near, near, 0.0)) * scale\n"
    yield "        if not toward_zero:\n"
    yield "            count = (count + 8388608.0) - 8388608.0\n"
    yield "        code = ((exponent + bias - 1) << mantissa) + count.to(tl.int32)\n"
    yield "        code = tl.where((code == 0) & is_unsigned, 0, code | (bits >> 31 & 1) << 7)\n"
    yield "        near = tl.where(near == near, code, 128 if is_unsigned else 127).to(tl.uint8).to(DTYPE, bitcast=True)\n"
    yield "    else:\n"
    yield "        near = tl.cast(near, DTYPE)\n"
    yield "    return near\n"
