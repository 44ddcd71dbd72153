"""`templates/helpers/round_to.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2928612764


def text(names, include):
    yield "@triton.jit\n"
    yield "def _round_to(x, DTYPE: tl.constexpr):\n"
    yield "    \"\"\"`x` rounded to nearest even in a dtype; Triton's interpreter would cut off the bits that a bfloat16 lacks.\"\"\"\n"
    yield "    if _ROUNDS_BY_HAND and DTYPE.is_fp8():\n"
    yield "        tl.static_assert(False, \"Triton's interpreter rounds these floats wrongly: name the dtype in the source\")\n"
    yield "    if _ROUNDS_BY_HAND and DTYPE == tl.bfloat16:\n"
    yield "        x = tl.cast(x, tl.float32)\n"
    yield "        bits = x.to(tl.uint32, bitcast=True)\n"
    yield "        bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16\n"
    yield "        return tl.where(x == x, bits, 0x7FC0).to(tl.uint16).to(tl.bfloat16, bitcast=True)\n"
    yield "    return tl.cast(x, DTYPE)\n"
