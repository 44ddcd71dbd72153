"""`templates/helpers/dot_of_numbers.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2094882461

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/dot_of_numbers.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _dot_of_numbers(input, other, acc=None, input_precision: tl.constexpr = None, out_dtype: tl.constexpr = tl.float32):\n    """The product, and `acc` if there is one; of integers, which matrix units do not multiply, a sum of products."""\n    if input.dtype.is_floating():\n        product = tl.dot(input, other, acc, input_precision=input_precision, out_dtype=out_dtype)\n    else:\n        left, right = tl.expand_dims(input.to(out_dtype), -1), tl.expand_dims(other.to(out_dtype), -3)\n        product = tl.sum(left * right, axis=-2).to(out_dtype)\n        if acc is not None:\n            product = (acc + product).to(out_dtype)\n    return product\n'

blocks = {}
debug_info = ''
