"""`templates/helpers/bitonic_merge.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3901669975


def text(names, include):
    yield "@triton.jit\n"
    yield "def _bitonic_merge(x, descending: tl.constexpr = False):\n"
    yield "    \"\"\"`tl.bitonic_merge`, which does not know a tensor of one element.\"\"\"\n"
    yield "    if x.numel > 1:\n"
    yield "        x = tl.bitonic_merge(x, descending=descending)\n"
    yield "    return x\n"
