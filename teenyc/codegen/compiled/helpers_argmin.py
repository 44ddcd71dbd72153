"""`templates/helpers/argmin.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1055137704

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/argmin.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _argmin(input, axis: tl.constexpr, tie_break_left: tl.constexpr = True, keep_dims: tl.constexpr = False):\n    """The place of the least number; NaN counts as the greatest, where Triton\'s own result depends on the order."""\n    input = tl.where(input == input, input, float("inf"))\n    return tl.argmin(input, axis, tie_break_left=tie_break_left, keep_dims=keep_dims)\n'

blocks = {}
debug_info = ''
