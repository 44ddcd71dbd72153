"""`templates/helpers/flip.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2609756492


def text(names, include):
    yield "@triton.jit\n"
    yield "def _flip(x):\n"
    yield "    \"\"\"The elements in reverse order along every axis; Triton's own does not know a vector of one element.\"\"\"\n"
    yield "    for axis in tl.static_range(len(x.shape)):\n"
    yield "        if x.numel > 1:\n"
    yield "            x = tl.flip(x, axis)\n"
    yield "    return x\n"
