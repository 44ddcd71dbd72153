"""`templates/helpers/max_with_indices.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1347838834


def text(names, include):
    yield "@triton.jit\n"
    yield "def _max_with_indices(input, axis: tl.constexpr, tie_break_left: tl.constexpr = True, keep_dims: tl.constexpr = False):\n"
    yield "    \"\"\"The greatest number and its place; NaN counts as the least, where Triton's own result depends on the order.\"\"\"\n"
    yield "    input = tl.where(input == input, input, float(\"-inf\"))\n"
    yield "    return tl.max(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left, keep_dims=keep_dims)\n"
