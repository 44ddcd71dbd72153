"""`templates/helpers/sqrt_rn.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3041441113

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/sqrt_rn.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _sqrt_rn(x):\n    """The square root rounded to nearest; Triton has `sqrt_rn` for f32 only, and its f64 root rounds so anyway."""\n    return tl.sqrt_rn(x) if x.dtype == tl.float32 else tl.sqrt(x)\n'

blocks = {}
debug_info = ''
