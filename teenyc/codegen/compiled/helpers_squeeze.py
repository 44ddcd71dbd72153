"""`templates/helpers/squeeze.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 526371079


def text(names, include):
    yield "@triton.jit\n"
    yield "def _squeeze(x, dim: tl.constexpr):\n"
    yield "    \"\"\"`x` without an axis of extent 1; Triton has `squeeze` since 3.7, and not for the only axis.\"\"\"\n"
    yield "    return x.item() if len(x.shape) == 1 else tl.reshape(x, x.shape[:dim] + x.shape[dim + 1 :])\n"
