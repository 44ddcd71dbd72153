"""`templates/helpers/smid.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1690386672

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/smid.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _smid():\n    """The number of the multiprocessor on which the program runs; 0 under the interpreter."""\n    return tl.full([], 0, tl.int32) if _IS_INTERPRETED else tl.extra.cuda.smid()\n'

blocks = {}
debug_info = ''
