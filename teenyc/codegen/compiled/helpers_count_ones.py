"""`templates/helpers/count_ones.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 441793503

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/count_ones.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _count_ones(x):\n    """How many bits are one: counted in pairs, in fours, in bytes, and summed by a product."""\n    width: tl.constexpr = x.dtype.primitive_bitwidth\n    size: tl.constexpr = 64 if width == 64 else 32\n    ones: tl.constexpr = 0xFFFFFFFFFFFFFFFF if width == 64 else 0xFFFFFFFF\n    bits = x.to(tl.uint64 if width == 64 else tl.uint32)\n    if width < 32:\n        bits = bits & ((1 << width) - 1)\n    bits = bits - (bits >> 1 & (ones // 3))\n    bits = (bits & (ones // 5)) + (bits >> 2 & (ones // 5))\n    bits = (bits + (bits >> 4)) & (ones // 17)\n    return (bits * (ones // 255) >> (size - 8)).to(tl.uint32)\n'

blocks = {}
debug_info = ''
