"""`templates/helpers/argmin.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1055137704


def text(names, include):
    yield "@triton.jit\n"
    yield "def _argmin(input, axis: tl.constexpr, tie_break_left: tl.constexpr = True, keep_dims: tl.constexpr = False):\n"
    yield "    \"\"\"The place of the least number; NaN counts as the greatest, where Triton's own result depends on the order.\"\"\"\n"
    yield "    input = tl.where(input == input, input, float(\"inf\"))\n"
    yield "    return tl.argmin(input, axis, tie_break_left=tie_break_left, keep_dims=keep_dims)\n"
