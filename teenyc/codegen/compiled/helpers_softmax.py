"""`templates/helpers/softmax.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2324520115


def text(names, include):
    yield "@triton.jit\n"
    yield "def _softmax(x, dim: tl.constexpr, ieee_rounding: tl.constexpr = False):\n"
    yield "    \"\"\"Exponentials that sum to 1 along an axis; Triton's `softmax` before 3.9 is right along the first one only.\"\"\"\n"
    yield "    powers = tl.exp(x - tl.max(x, axis=dim, keep_dims=True))\n"
    yield "    total = tl.sum(powers, axis=dim, keep_dims=True)\n"
    yield "    quotient = powers / total\n"
    yield "    if ieee_rounding and quotient.dtype == tl.float32:\n"
    yield "        quotient = tl.div_rn(powers, total)\n"
    yield "    return quotient\n"
