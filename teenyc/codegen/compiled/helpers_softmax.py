"""`templates/helpers/softmax.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2324520115

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/softmax.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _softmax(x, dim: tl.constexpr, ieee_rounding: tl.constexpr = False):\n    """Exponentials that sum to 1 along an axis; Triton\'s `softmax` before 3.9 is right along the first one only."""\n    powers = tl.exp(x - tl.max(x, axis=dim, keep_dims=True))\n    total = tl.sum(powers, axis=dim, keep_dims=True)\n    quotient = powers / total\n    if ieee_rounding and quotient.dtype == tl.float32:\n        quotient = tl.div_rn(powers, total)\n    return quotient\n'

blocks = {}
debug_info = ''
