"""`templates/helpers/div_rn.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1471551894

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/div_rn.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _div_rn(x, y):\n    """The quotient rounded to nearest; Triton has `div_rn` for f32 only, and its f64 division rounds so anyway."""\n    quotient = x / y\n    if quotient.dtype == tl.float32:\n        quotient = tl.div_rn(x, y)\n    return quotient\n'

blocks = {}
debug_info = ''
