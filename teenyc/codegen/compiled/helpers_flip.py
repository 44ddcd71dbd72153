"""`templates/helpers/flip.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 98441509

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/flip.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _flip(x):\n    """The elements in reverse order along every axis."""\n    for axis in tl.static_range(len(x.shape)):\n        x = tl.flip(x, axis)\n    return x\n'

blocks = {}
debug_info = ''
