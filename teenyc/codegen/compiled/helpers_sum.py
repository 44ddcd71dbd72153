"""`templates/helpers/sum.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2353413988


def text(names, include):
    yield "@triton.jit\n"
    yield "def _sum(input, axis: tl.constexpr = None, keep_dims: tl.constexpr = False):\n"
    yield "    \"\"\"The sum in the type of the elements; Triton gives 32 bits for integers of 8 and 16.\"\"\"\n"
    yield "    return tl.sum(input, axis=axis, keep_dims=keep_dims).to(input.dtype)\n"
