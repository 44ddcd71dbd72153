"""`templates/helpers/dot.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2492016881

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/dot.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _dot(input, other, acc=None, input_precision: tl.constexpr = None, out_dtype: tl.constexpr = tl.float32):\n    """The product, and `acc` if there is one, in a named type; Triton adds products of f64 to f64 only."""\n    if input.dtype == tl.float64:\n        product = tl.dot(input, other, out_dtype=tl.float64)\n        product = product.to(out_dtype) if acc is None else (acc + product).to(out_dtype)\n    else:\n        product = tl.dot(input, other, acc, input_precision=input_precision, out_dtype=out_dtype)\n    return product\n'

blocks = {}
debug_info = ''
