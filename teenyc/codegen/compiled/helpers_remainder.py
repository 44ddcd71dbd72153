"""`templates/helpers/remainder.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3758773795

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/remainder.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.constexpr_function\ndef _remainder(a, b):\n    """What `a / b` leaves, with the sign of `a`; Python\'s own `%` takes that of `b`."""\n    return abs(a) % max(abs(b), 1) * (1 if a >= 0 else -1)\n'

blocks = {}
debug_info = ''
