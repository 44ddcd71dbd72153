"""`templates/helpers/topk.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2051579696

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/topk.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _topk(x, k: tl.constexpr, descending: tl.constexpr = True):\n    """The first `k` in order; Triton\'s own had one order before 3.8, no `k` of 1 before 3.9; it widens narrow types."""\n    last: tl.constexpr = len(x.shape) - 1\n    if k == 1:\n        first = tl.max(x, axis=last, keep_dims=True) if descending else tl.min(x, axis=last, keep_dims=True)\n    elif descending:\n        first = tl.topk(x, k)\n    elif x.dtype.is_floating():\n        first = -tl.topk(-x, k)\n    else:\n        all_bits: tl.constexpr = -1 if x.dtype.is_int_signed() else (1 << x.dtype.primitive_bitwidth) - 1\n        ones = tl.full([], all_bits, x.dtype)\n        first = tl.topk(x ^ ones, k).to(x.dtype) ^ ones\n    return first.to(x.dtype)\n'

blocks = {}
debug_info = ''
