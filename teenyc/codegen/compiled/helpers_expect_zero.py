"""`templates/helpers/expect_zero.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2858432536


def text(names, include):
    yield "@triton.jit\n"
    yield "def _expect_zero(x, mask):\n"
    yield "    \"\"\"`x`, of which a debug build asserts that it is zero where the mask holds; Triton has `expect_zero` since 3.8.\"\"\"\n"
    yield "    tl.device_assert((x == 0) | (mask == 0), \"expect_zero expected x == 0 where mask is true\")\n"
    yield "    return x\n"
