"""`templates/helpers/arange.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 4291499962

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/arange.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _arange(start: tl.constexpr, end: tl.constexpr):\n    """The integers from `start` to before `end`; Triton\'s `arange` does not begin below zero."""\n    return tl.arange(0, end - start) + start\n'

blocks = {}
debug_info = ''
