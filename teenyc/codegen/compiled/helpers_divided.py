"""`templates/helpers/divided.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2687596234


def text(names, include):
    yield "@triton.constexpr_function\n"
    yield "def _divided(a, b, bits):\n"
    yield "    \"\"\"`a / b` toward zero, wrapped to its width; Python's own `//` rounds down.\"\"\"\n"
    yield "    quotient = abs(a) // max(abs(b), 1) * (1 if (a < 0) == (b < 0) else -1)\n"
    yield "    return (quotient + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)\n"
