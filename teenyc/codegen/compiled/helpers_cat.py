"""`templates/helpers/cat.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 959336899


def text(names, include):
    yield "@triton.jit\n"
    yield "def _cat(input, other, dim: tl.constexpr = 0):\n"
    yield "    \"\"\"`other` behind `input` along an axis; Triton's `cat` mixes the elements, or in 3.7 and later need not.\"\"\"\n"
    yield "    pairs = tl.join(input, other)\n"
    yield "    if len(input.shape) == 1:\n"
    yield "        whole = tl.reshape(tl.permute(pairs, (1, 0)), (2 * input.shape[0],))\n"
    yield "    elif len(input.shape) == 2:\n"
    yield "        m: tl.constexpr = input.shape[0]\n"
    yield "        n: tl.constexpr = input.shape[1]\n"
    yield "        if dim == 0:\n"
    yield "            whole = tl.reshape(tl.permute(pairs, (2, 0, 1)), (2 * m, n))\n"
    yield "        else:\n"
    yield "            whole = tl.reshape(tl.permute(pairs, (0, 2, 1)), (m, 2 * n))\n"
    yield "    else:\n"
    yield "        tl.static_assert(len(input.shape) == 3, \"cat takes one to three axes\")\n"
    yield "        b: tl.constexpr = input.shape[0]\n"
    yield "        m: tl.constexpr = input.shape[1]\n"
    yield "        n: tl.constexpr = input.shape[2]\n"
    yield "        if dim == 0:\n"
    yield "            whole = tl.reshape(tl.permute(pairs, (3, 0, 1, 2)), (2 * b, m, n))\n"
    yield "        elif dim == 1:\n"
    yield "            whole = tl.reshape(tl.permute(pairs, (0, 3, 1, 2)), (b, 2 * m, n))\n"
    yield "        else:\n"
    yield "            whole = tl.reshape(tl.permute(pairs, (0, 1, 3, 2)), (b, m, 2 * n))\n"
    yield "    return whole\n"
