"""`templates/helpers/num_warps.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1227225426

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/num_warps.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _num_warps():\n    """How many warps run the program; 1 under the interpreter."""\n    return tl.full([], 1 if _IS_INTERPRETED else tl.extra.cuda.num_warps(), tl.int32)\n'

blocks = {}
debug_info = ''
