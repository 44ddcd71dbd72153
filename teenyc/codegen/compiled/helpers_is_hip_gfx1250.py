"""`templates/helpers/is_hip_gfx1250.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2478220837

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/is_hip_gfx1250.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _is_hip_gfx1250():\n    """Whether the GPU is a gfx1250, which Triton knows since 3.8."""\n    return tl.target_info.is_hip_gfx1250() if hasattr(tl.target_info, "is_hip_gfx1250") else False\n'

blocks = {}
debug_info = ''
