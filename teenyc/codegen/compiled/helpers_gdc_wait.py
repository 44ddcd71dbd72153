"""`templates/helpers/gdc_wait.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2030373089

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/gdc_wait.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _gdc_wait():\n    """Waits for the kernel before, as `gdc_wait` does; under the interpreter, kernels run one after the other."""\n    if not _IS_INTERPRETED:\n        tl.extra.cuda.gdc_wait()\n'

blocks = {}
debug_info = ''
