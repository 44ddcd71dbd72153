"""`templates/helpers/pow.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3104474701


def text(names, include):
    yield "@triton.jit\n"
    yield "def _pow(x, y):\n"
    yield "    \"\"\"The integer `x` to the power `y`, by squaring; it wraps as products do.\"\"\"\n"
    yield "    base, rest = tl.broadcast(x, y)\n"
    yield "    power = base * 0 + 1\n"
    yield "    for _ in range(32):\n"
    yield "        power = tl.where((rest & 1) != 0, power * base, power)\n"
    yield "        base = base * base\n"
    yield "        rest = rest >> 1\n"
    yield "    return power\n"
