"""`templates/helpers/min.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1912268597


def text(names, include):
    yield "@triton.jit\n"
    yield "def _min(input, axis: tl.constexpr = None, keep_dims: tl.constexpr = False):\n"
    yield "    \"\"\"The least number in the type of the elements; Triton gives 32 bits for integers of 8 and 16.\"\"\"\n"
    yield "    return tl.min(input, axis=axis, keep_dims=keep_dims).to(input.dtype)\n"
