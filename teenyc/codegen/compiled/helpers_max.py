"""`templates/helpers/max.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2936172233


def text(names, include):
    yield "@triton.jit\n"
    yield "def _max(input, axis: tl.constexpr = None, keep_dims: tl.constexpr = False):\n"
    yield "    \"\"\"The greatest number in the type of the elements; Triton gives 32 bits for integers of 8 and 16.\"\"\"\n"
    yield "    return tl.max(input, axis=axis, keep_dims=keep_dims).to(input.dtype)\n"
