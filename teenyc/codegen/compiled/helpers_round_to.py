"""`templates/helpers/round_to.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2928612764

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/round_to.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _round_to(x, DTYPE: tl.constexpr):\n    """`x` rounded to nearest even in a dtype; Triton\'s interpreter would cut off the bits that a bfloat16 lacks."""\n    if _ROUNDS_BY_HAND and DTYPE.is_fp8():\n        tl.static_assert(False, "Triton\'s interpreter rounds these floats wrongly: name the dtype in the source")\n    if _ROUNDS_BY_HAND and DTYPE == tl.bfloat16:\n        x = tl.cast(x, tl.float32)\n        bits = x.to(tl.uint32, bitcast=True)\n        bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16\n        return tl.where(x == x, bits, 0x7FC0).to(tl.uint16).to(tl.bfloat16, bitcast=True)\n    return tl.cast(x, DTYPE)\n'

blocks = {}
debug_info = ''
