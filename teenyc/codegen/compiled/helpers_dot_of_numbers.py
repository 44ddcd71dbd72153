"""`templates/helpers/dot_of_numbers.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2094882461


def text(names, include):
    yield "@triton.jit\n"
    yield "def _dot_of_numbers(input, other, acc=None, input_precision: tl.constexpr = None, out_dtype: tl.constexpr = tl.float32):\n"
    yield "    \"\"\"The product, and `acc` if there is one; of integers, which matrix units do not multiply, a sum of products.\"\"\"\n"
    yield "    if input.dtype.is_floating():\n"
    yield "        product = tl.dot(input, other, acc, input_precision=input_precision, out_dtype=out_dtype)\n"
    yield "    else:\n"
    yield "        left, right = tl.expand_dims(input.to(out_dtype), -1), tl.expand_dims(other.to(out_dtype), -3)\n"
    yield "        product = tl.sum(left * right, axis=-2).to(out_dtype)\n"
    yield "        if acc is not None:\n"
    yield "            product = (acc + product).to(out_dtype)\n"
    yield "    return product\n"
