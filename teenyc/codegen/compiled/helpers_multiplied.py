"""`templates/helpers/multiplied.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3431653549


def text(names, include):
    yield "@triton.jit\n"
    yield "def _multiplied(x, y):\n"
    yield "    \"\"\"What a product combines elements by.\"\"\"\n"
    yield "    return x * y\n"
