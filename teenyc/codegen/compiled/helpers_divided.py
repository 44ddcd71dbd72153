"""`templates/helpers/divided.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2687596234

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/divided.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.constexpr_function\ndef _divided(a, b, bits):\n    """`a / b` toward zero, wrapped to its width; Python\'s own `//` rounds down."""\n    quotient = abs(a) // max(abs(b), 1) * (1 if (a < 0) == (b < 0) else -1)\n    return (quotient + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)\n'

blocks = {}
debug_info = ''
