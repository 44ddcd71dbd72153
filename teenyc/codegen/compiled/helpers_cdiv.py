"""`templates/helpers/cdiv.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1921682931

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/cdiv.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _cdiv(x, div):\n    """The quotient of integers rounded up, for every sign; Triton\'s `cdiv` rounds so for positive ones only."""\n    quotient = x // div\n    rest = x - quotient * div\n    is_below = (rest != 0) & ((rest > 0) == (div > 0))\n    return quotient + tl.cast(is_below, quotient.dtype)\n'

blocks = {}
debug_info = ''
