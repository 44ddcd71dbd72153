"""`templates/helpers/leading_zeros.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3117985329

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/leading_zeros.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _leading_zeros(x):\n    """How many zeros are above the highest one: those that stay when it is copied to all bits below it."""\n    width: tl.constexpr = x.dtype.primitive_bitwidth\n    bits = x.to(tl.uint64 if width == 64 else tl.uint32)\n    if width < 32:\n        bits = bits & ((1 << width) - 1)\n    for step in tl.static_range(6):\n        if (1 << step) < width:\n            bits = bits | (bits >> (1 << step))\n    return width - _count_ones(bits)\n'

blocks = {}
debug_info = ''
