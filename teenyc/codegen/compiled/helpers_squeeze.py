"""`templates/helpers/squeeze.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 526371079

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/squeeze.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _squeeze(x, dim: tl.constexpr):\n    """`x` without an axis of extent 1; Triton has `squeeze` since 3.7, and not for the only axis."""\n    return x.item() if len(x.shape) == 1 else tl.reshape(x, x.shape[:dim] + x.shape[dim + 1 :])\n'

blocks = {}
debug_info = ''
