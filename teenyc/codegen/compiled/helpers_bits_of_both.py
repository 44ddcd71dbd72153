"""`templates/helpers/bits_of_both.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3437368937


def text(names, include):
    yield "@triton.jit\n"
    yield "def _bits_of_both(x, y):\n"
    yield "    \"\"\"What the bits that all elements have are combined by.\"\"\"\n"
    yield "    return x & y\n"
