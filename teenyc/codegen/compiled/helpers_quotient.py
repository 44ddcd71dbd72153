"""`templates/helpers/quotient.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2289311546


def text(names, include):
    yield "@triton.jit\n"
    yield "def _quotient(a, b):\n"
    yield "    \"\"\"`a / b`; integers are divided toward zero.\"\"\"\n"
    yield "    if a.dtype.is_floating():\n"
    yield "        quotient = a / b\n"
    yield "    else:\n"
    yield "        quotient = a // b\n"
    yield "    return quotient\n"
