"""`templates/helpers/quotient.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2289311546

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/quotient.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _quotient(a, b):\n    """`a / b`; integers are divided toward zero."""\n    if a.dtype.is_floating():\n        quotient = a / b\n    else:\n        quotient = a // b\n    return quotient\n'

blocks = {}
debug_info = ''
