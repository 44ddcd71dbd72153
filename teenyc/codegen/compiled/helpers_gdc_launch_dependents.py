"""`templates/helpers/gdc_launch_dependents.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 4072033132

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/gdc_launch_dependents.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _gdc_launch_dependents():\n    """Lets the next kernel begin; under the interpreter, kernels run one after the other."""\n    if not _IS_INTERPRETED:\n        tl.extra.cuda.gdc_launch_dependents()\n'

blocks = {}
debug_info = ''
