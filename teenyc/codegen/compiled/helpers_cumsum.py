"""`templates/helpers/cumsum.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3167885396


def text(names, include):
    yield "@triton.jit\n"
    yield "def _cumsum(input, axis: tl.constexpr = 0, reverse: tl.constexpr = False):\n"
    yield "    \"\"\"Running sums in the type of the elements; Triton may give 32 bits for integers of 8 and 16.\"\"\"\n"
    yield "    return tl.cumsum(input, axis=axis, reverse=reverse).to(input.dtype)\n"
