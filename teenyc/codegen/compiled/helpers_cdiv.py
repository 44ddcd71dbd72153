"""`templates/helpers/cdiv.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1921682931


def text(names, include):
    yield "@triton.jit\n"
    yield "def _cdiv(x, div):\n"
    yield "    \"\"\"The quotient of integers rounded up, for every sign; Triton's `cdiv` rounds so for positive ones only.\"\"\"\n"
    yield "    quotient = x // div\n"
    yield "    rest = x - quotient * div\n"
    yield "    is_below = (rest != 0) & ((rest > 0) == (div > 0))\n"
    yield "    return quotient + tl.cast(is_below, quotient.dtype)\n"
