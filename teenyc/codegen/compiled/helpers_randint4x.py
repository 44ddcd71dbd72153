"""`templates/helpers/randint4x.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 147717918

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/randint4x.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _randint4x(seed, offset, n_rounds: tl.constexpr = 10):\n    """Four random integers of 32 bits for each offset; Triton\'s own are unsigned."""\n    a, b, c, d = tl.randint4x(seed, offset, n_rounds)\n    return (\n        a.to(tl.int32, bitcast=True),\n        b.to(tl.int32, bitcast=True),\n        c.to(tl.int32, bitcast=True),\n        d.to(tl.int32, bitcast=True),\n    )\n'

blocks = {}
debug_info = ''
