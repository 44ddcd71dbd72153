"""`templates/helpers/to_number.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3797556818

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/to_number.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _to_number(x, DTYPE: tl.constexpr):\n    """A float as a number of any type; integers are cut toward zero and saturate, and NaN becomes 0."""\n    if DTYPE.is_floating():\n        number = x.to(DTYPE)\n    else:\n        least: tl.constexpr = -(2 ** (DTYPE.primitive_bitwidth - 1)) if DTYPE.is_int_signed() else 0\n        limit: tl.constexpr = 2 ** (DTYPE.primitive_bitwidth - (1 if DTYPE.is_int_signed() else 0))\n        low, high = tl.full([], least, tl.float64), tl.full([], limit, tl.float64)\n        wide = x.to(tl.float64)\n        number = tl.where((wide >= low) & (wide < high), wide, 0.0).to(DTYPE)\n        number = tl.where(wide < low, tl.full([], least, DTYPE), number)\n        number = tl.where(wide >= high, tl.full([], limit - 1, DTYPE), number)\n    return number\n'

blocks = {}
debug_info = ''
