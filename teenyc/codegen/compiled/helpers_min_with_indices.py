"""`templates/helpers/min_with_indices.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2728709889


def text(names, include):
    yield "@triton.jit\n"
    yield "def _min_with_indices(input, axis: tl.constexpr, tie_break_left: tl.constexpr = True, keep_dims: tl.constexpr = False):\n"
    yield "    \"\"\"The least number and its place; NaN counts as the greatest, where Triton's own result depends on the order.\"\"\"\n"
    yield "    input = tl.where(input == input, input, float(\"inf\"))\n"
    yield "    return tl.min(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left, keep_dims=keep_dims)\n"
