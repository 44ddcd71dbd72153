"""`templates/helpers/div_rn.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1471551894


def text(names, include):
    yield "@triton.jit\n"
    yield "def _div_rn(x, y):\n"
    yield "    \"\"\"The quotient rounded to nearest; Triton has `div_rn` for f32 only, and its f64 division rounds so anyway.\"\"\"\n"
    yield "    quotient = x / y\n"
    yield "    if quotient.dtype == tl.float32:\n"
    yield "        quotient = tl.div_rn(x, y)\n"
    yield "    return quotient\n"
