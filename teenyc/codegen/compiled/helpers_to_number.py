"""`templates/helpers/to_number.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3797556818


def text(names, include):
    yield "@triton.jit\n"
    yield "def _to_number(x, DTYPE: tl.constexpr):\n"
    yield "    \"\"\"A float as a number of any type; integers are cut toward zero and saturate, and NaN becomes 0.\"\"\"\n"
    yield "    if DTYPE.is_floating():\n"
    yield "        number = x.to(DTYPE)\n"
    yield "    else:\n"
    yield "        least: tl.constexpr = -(2 ** (DTYPE.primitive_bitwidth - 1)) if DTYPE.is_int_signed() else 0\n"
    yield "        limit: tl.constexpr = 2 ** (DTYPE.primitive_bitwidth - (1 if DTYPE.is_int_signed() else 0))\n"
    yield "        low, high = tl.full([], least, tl.float64), tl.full([], limit, tl.float64)\n"
    yield "        wide = x.to(tl.float64)\n"
    yield "        number = tl.where((wide >= low) & (wide < high), wide, 0.0).to(DTYPE)\n"
    yield "        number = tl.where(wide < low, tl.full([], least, DTYPE), number)\n"
    yield "        number = tl.where(wide >= high, tl.full([], limit - 1, DTYPE), number)\n"
    yield "    return number\n"
