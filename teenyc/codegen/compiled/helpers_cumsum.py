"""`templates/helpers/cumsum.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3167885396

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/cumsum.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _cumsum(input, axis: tl.constexpr = 0, reverse: tl.constexpr = False):\n    """Running sums in the type of the elements; Triton may give 32 bits for integers of 8 and 16."""\n    return tl.cumsum(input, axis=axis, reverse=reverse).to(input.dtype)\n'

blocks = {}
debug_info = ''
