"""`templates/helpers/round_wide.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 953595984

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/round_wide.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _round_wide(x):\n    """A number of 32 or 64 bits rounded once to bfloat16: to odd in f32 first, so that only the last step rounds."""\n    if not x.dtype.is_floating():\n        if x.dtype.primitive_bitwidth == 64:\n            odd = (x >> 11 | ((x & 2047) != 0).to(x.dtype)) << 11\n            x = tl.where((x >> 53 == 0) | ((x >> 53) + 1 == 0), x, odd)\n        x = x.to(tl.float64)\n    near = x.to(tl.float32)\n    bits = near.to(tl.uint32, bitcast=True)\n    cut = bits - (tl.abs(near.to(tl.float64)) > tl.abs(x)).to(tl.uint32)\n    bits = tl.where(near.to(tl.float64) == x, bits, cut | 1)\n    return _round_to(bits.to(tl.float32, bitcast=True), tl.bfloat16)\n'

blocks = {}
debug_info = ''
