"""`templates/helpers/pack_along_k.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1149291541


def text(names, include):
    yield "@triton.jit\n"
    yield "def _pack_along_k(x):\n"
    yield "    \"\"\"4-bit floats, of which two rows share a byte, [M / 2, K], packed along K, [M, K / 2], as Triton 3.6 needs it.\"\"\"\n"
    yield "    rows = tl.permute(tl.join(x & 15, x >> 4), (0, 2, 1))\n"
    yield "    low, high = tl.split(tl.reshape(rows, (2 * x.shape[0], x.shape[1] // 2, 2)))\n"
    yield "    return low | (high << 4)\n"
