"""`templates/helpers/reversed.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2854112059

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/reversed.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _reversed(x, first: tl.constexpr):\n    """Groups of `first` bits in reverse order: neighbours are exchanged, then pairs of them, fours and so on."""\n    width: tl.constexpr = x.dtype.primitive_bitwidth\n    size: tl.constexpr = 64 if width == 64 else 32\n    bits = x.to(tl.uint64 if width == 64 else tl.uint32)\n    for step in tl.static_range(6):\n        if first <= (1 << step) and (1 << step) < size:\n            bits = _exchanged(bits, 1 << step, (1 << size) - 1)\n    return (bits >> (size - width)).to(x.dtype)\n\n\n@triton.jit\ndef _exchanged(bits, count: tl.constexpr, ones: tl.constexpr):\n    """Groups of `count` bits that stand side by side, exchanged."""\n    return (bits >> count & (ones // ((1 << count) + 1))) | ((bits & (ones // ((1 << count) + 1))) << count)\n'

blocks = {}
debug_info = ''
