"""`templates/helpers/sum.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2353413988

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/sum.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _sum(input, axis: tl.constexpr = None, keep_dims: tl.constexpr = False):\n    """The sum in the type of the elements; Triton gives 32 bits for integers of 8 and 16."""\n    return tl.sum(input, axis=axis, keep_dims=keep_dims).to(input.dtype)\n'

blocks = {}
debug_info = ''
