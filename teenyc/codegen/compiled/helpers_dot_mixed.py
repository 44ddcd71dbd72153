"""`templates/helpers/dot_mixed.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3968189165

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/dot_mixed.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _dot_mixed(input, other, acc=None, input_precision: tl.constexpr = None, out_dtype: tl.constexpr = tl.float32):\n    """The product of a matrix that was computed and one that was stored: the first is rounded to the second\'s type.\n\n    Not if that is float16, which ends at 65504: then both are multiplied as float32, in three products of its parts.\n    """\n    BITS: tl.constexpr = input.dtype.primitive_bitwidth\n    STORED: tl.constexpr = input.dtype if BITS < other.dtype.primitive_bitwidth else other.dtype\n    if STORED == tl.float16:\n        PRECISION: tl.constexpr = "tf32x3" if tl.target_info.is_cuda() else "ieee"\n        input, other = tl.cast(input, tl.float32), tl.cast(other, tl.float32)\n        product = tl.dot(input, other, acc, input_precision=PRECISION, out_dtype=out_dtype)\n    else:\n        MULTIPLIED: tl.constexpr = STORED if STORED.primitive_bitwidth > 8 else tl.bfloat16\n        input, other = _round_to(input, MULTIPLIED), _round_to(other, MULTIPLIED)\n        product = tl.dot(input, other, acc, input_precision=input_precision, out_dtype=out_dtype)\n    return product\n'

blocks = {}
debug_info = ''
