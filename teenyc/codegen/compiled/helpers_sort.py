"""`templates/helpers/sort.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3215150780


def text(names, include):
    yield "@triton.jit\n"
    yield "def _sort(x, descending: tl.constexpr = False):\n"
    yield "    \"\"\"`tl.sort` in the type of the elements: an axis of one element it gives in a wider one.\"\"\"\n"
    yield "    return tl.sort(x, descending=descending).to(x.dtype)\n"
