"""`templates/helpers/dot.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2492016881


def text(names, include):
    yield "@triton.jit\n"
    yield "def _dot(input, other, acc=None, input_precision: tl.constexpr = None, out_dtype: tl.constexpr = tl.float32):\n"
    yield "    \"\"\"The product, and `acc` if there is one, in a named type; Triton adds products of f64 to f64 only.\"\"\"\n"
    yield "    if input.dtype == tl.float64:\n"
    yield "        product = tl.dot(input, other, out_dtype=tl.float64)\n"
    yield "        product = product.to(out_dtype) if acc is None else (acc + product).to(out_dtype)\n"
    yield "    else:\n"
    yield "        product = tl.dot(input, other, acc, input_precision=input_precision, out_dtype=out_dtype)\n"
    yield "    return product\n"
