"""`templates/helpers/dot.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3442643403

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/dot.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _dot(\n    input,\n    other,\n    acc=None,\n    input_precision: tl.constexpr = None,\n    max_num_imprecise_acc: tl.constexpr = None,\n    out_dtype: tl.constexpr = tl.float32,\n):\n    """The product, and `acc` if there is one, in the type of `acc`; Triton adds products of f64 to f64 only."""\n    if input.dtype == tl.float64:\n        product = tl.dot(input, other, out_dtype=tl.float64)\n        product = product.to(out_dtype) if acc is None else (acc + product).to(acc.dtype)\n    elif acc is None:\n        product = tl.dot(\n            input,\n            other,\n            input_precision=input_precision,\n            max_num_imprecise_acc=max_num_imprecise_acc,\n            out_dtype=out_dtype,\n        )\n    else:\n        product = tl.dot(\n            input,\n            other,\n            acc,\n            input_precision=input_precision,\n            max_num_imprecise_acc=max_num_imprecise_acc,\n            out_dtype=acc.dtype,\n        )\n    return product\n'

blocks = {}
debug_info = ''
