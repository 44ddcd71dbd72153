"""`templates/helpers/topk.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2051579696


def text(names, include):
    yield "@triton.jit\n"
    yield "def _topk(x, k: tl.constexpr, descending: tl.constexpr = True):\n"
    yield "    \"\"\"The first `k` in order; Triton's own had one order before 3.8, no `k` of 1 before 3.9; it widens narrow types.\"\"\"\n"
    yield "    last: tl.constexpr = len(x.shape) - 1\n"
    yield "    if k == 1:\n"
    yield "        first = tl.max(x, axis=last, keep_dims=True) if descending else tl.min(x, axis=last, keep_dims=True)\n"
    yield "    elif descending:\n"
    yield "        first = tl.topk(x, k)\n"
    yield "    elif x.dtype.is_floating():\n"
    yield "        first = -tl.topk(-x, k)\n"
    yield "    else:\n"
    yield "        all_bits: tl.constexpr = -1 if x.dtype.is_int_signed() else (1 << x.dtype.primitive_bitwidth) - 1\n"
    yield "        ones = tl.full([], all_bits, x.dtype)\n"
    yield "        first = tl.topk(x ^ ones, k).to(x.dtype) ^ ones\n"
    yield "    return first.to(x.dtype)\n"
