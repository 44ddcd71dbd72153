"""`templates/helpers/wrapped.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2337218007

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/wrapped.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.constexpr_function\ndef _wrapped(n):\n    """`n` wrapped to 32 bits, which Python\'s own numbers never do."""\n    return (n + 0x80000000) % 0x100000000 - 0x80000000\n'

blocks = {}
debug_info = ''
