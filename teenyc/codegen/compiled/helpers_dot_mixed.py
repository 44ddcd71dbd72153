"""`templates/helpers/dot_mixed.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3968189165


def text(names, include):
    yield "@triton.jit\n"
    yield "def _dot_mixed(input, other, acc=None, input_precision: tl.constexpr = None, out_dtype: tl.constexpr = tl.float32):\n"
    yield "    \"\"\"The product of a matrix that was computed and one that was stored: the first is rounded to the second's type.\n"
    yield "\n"
    yield "    Not if that is float16, which ends at 65504: then both are multiplied as float32, in three products of its parts.\n"
    yield "    \"\"\"\n"
    yield "    BITS: tl.constexpr = input.dtype.primitive_bitwidth\n"
    yield "    STORED: tl.constexpr = input.dtype if BITS < other.dtype.primitive_bitwidth else other.dtype\n"
    yield "    if STORED == tl.float16:\n"
    yield "        PRECISION: tl.constexpr = \"tf32x3\" if tl.target_info.is_cuda() else \"ieee\"\n"
    yield "        input, other = tl.cast(input, tl.float32), tl.cast(other, tl.float32)\n"
    yield "        product = tl.dot(input, other, acc, input_precision=PRECISION, out_dtype=out_dtype)\n"
    yield "    else:\n"
    yield "        MULTIPLIED: tl.constexpr = STORED if STORED.primitive_bitwidth > 8 else tl.bfloat16\n"
    yield "        input, other = _round_to(input, MULTIPLIED), _round_to(other, MULTIPLIED)\n"
    yield "        product = tl.dot(input, other, acc, input_precision=input_precision, out_dtype=out_dtype)\n"
    yield "    return product\n"
