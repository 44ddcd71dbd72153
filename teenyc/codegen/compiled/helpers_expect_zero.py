"""`templates/helpers/expect_zero.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2858432536

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/expect_zero.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _expect_zero(x, mask):\n    """`x`, of which a debug build asserts that it is zero where the mask holds; Triton has `expect_zero` since 3.8."""\n    tl.device_assert((x == 0) | (mask == 0), "expect_zero expected x == 0 where mask is true")\n    return x\n'

blocks = {}
debug_info = ''
