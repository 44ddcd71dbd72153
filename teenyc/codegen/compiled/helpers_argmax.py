"""`templates/helpers/argmax.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2469682109


def text(names, include):
    yield "@triton.jit\n"
    yield "def _argmax(input, axis: tl.constexpr, tie_break_left: tl.constexpr = True, keep_dims: tl.constexpr = False):\n"
    yield "    \"\"\"The place of the greatest number; NaN counts as the least, where Triton's own result depends on the order.\"\"\"\n"
    yield "    input = tl.where(input == input, input, float(\"-inf\"))\n"
    yield "    return tl.argmax(input, axis, tie_break_left=tie_break_left, keep_dims=keep_dims)\n"
