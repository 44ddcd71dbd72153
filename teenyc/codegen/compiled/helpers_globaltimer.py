"""`templates/helpers/globaltimer.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3250483243

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/globaltimer.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _globaltimer():\n    """The nanoseconds that the GPU\'s clock shows; 0 under the interpreter."""\n    if _IS_INTERPRETED:\n        time = tl.full([], 0, tl.int64)\n    elif tl.target_info.is_hip():\n        time = tl.extra.hip.memrealtime() * 10\n    else:\n        time = tl.extra.cuda.globaltimer()\n    return time\n'

blocks = {}
debug_info = ''
