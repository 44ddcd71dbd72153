"""`templates/helpers/cat.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 959336899

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/cat.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _cat(input, other, dim: tl.constexpr = 0):\n    """`other` behind `input` along an axis; Triton\'s `cat` mixes the elements, or in 3.7 and later need not."""\n    pairs = tl.join(input, other)\n    if len(input.shape) == 1:\n        whole = tl.reshape(tl.permute(pairs, (1, 0)), (2 * input.shape[0],))\n    elif len(input.shape) == 2:\n        m: tl.constexpr = input.shape[0]\n        n: tl.constexpr = input.shape[1]\n        if dim == 0:\n            whole = tl.reshape(tl.permute(pairs, (2, 0, 1)), (2 * m, n))\n        else:\n            whole = tl.reshape(tl.permute(pairs, (0, 2, 1)), (m, 2 * n))\n    else:\n        tl.static_assert(len(input.shape) == 3, "cat takes one to three axes")\n        b: tl.constexpr = input.shape[0]\n        m: tl.constexpr = input.shape[1]\n        n: tl.constexpr = input.shape[2]\n        if dim == 0:\n            whole = tl.reshape(tl.permute(pairs, (3, 0, 1, 2)), (2 * b, m, n))\n        elif dim == 1:\n            whole = tl.reshape(tl.permute(pairs, (0, 3, 1, 2)), (b, 2 * m, n))\n        else:\n            whole = tl.reshape(tl.permute(pairs, (0, 1, 3, 2)), (b, m, 2 * n))\n    return whole\n'

blocks = {}
debug_info = ''
