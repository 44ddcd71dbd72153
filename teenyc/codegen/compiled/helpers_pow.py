"""`templates/helpers/pow.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3104474701

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/pow.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _pow(x, y):\n    """The integer `x` to the power `y`, by squaring; it wraps as products do."""\n    base, rest = tl.broadcast(x, y)\n    power = base * 0 + 1\n    for _ in range(32):\n        power = tl.where((rest & 1) != 0, power * base, power)\n        base = base * base\n        rest = rest >> 1\n    return power\n'

blocks = {}
debug_info = ''
