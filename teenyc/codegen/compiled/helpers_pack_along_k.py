"""`templates/helpers/pack_along_k.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1149291541

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/pack_along_k.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _pack_along_k(x):\n    """4-bit floats, of which two rows share a byte, [M / 2, K], packed along K, [M, K / 2], as Triton 3.6 needs it."""\n    rows = tl.permute(tl.join(x & 15, x >> 4), (0, 2, 1))\n    low, high = tl.split(tl.reshape(rows, (2 * x.shape[0], x.shape[1] // 2, 2)))\n    return low | (high << 4)\n'

blocks = {}
debug_info = ''
