"""`templates/helpers/to_f8.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 802781696

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/to_f8.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _to_f8(x, DTYPE: tl.constexpr, toward_zero: tl.constexpr = False):\n    """`x` rounded once to an 8-bit float, to nearest even or toward zero; what is out of range becomes the greatest."""\n    greatest: tl.constexpr = 448.0 if DTYPE == tl.float8e4nv else 240.0 if DTYPE == tl.float8e4b8 else 57344.0\n    limit: tl.constexpr = 1.75 if DTYPE == tl.float8e4b15 else greatest\n    x = tl.where(x > limit, limit, tl.where(x < -limit, -limit, x))\n    near = tl.cast(x, tl.float32)\n    if x.dtype == tl.float64:  # to odd, so that only the last step rounds\n        bits = near.to(tl.uint32, bitcast=True)\n        cut = bits - (tl.abs(near.to(tl.float64)) > tl.abs(x)).to(tl.uint32)\n        near = tl.where(near.to(tl.float64) == x, bits, cut | 1).to(tl.float32, bitcast=True)\n    if _IS_INTERPRETED or toward_zero or DTYPE == tl.float8e4b15:\n        mantissa: tl.constexpr = DTYPE.fp_mantissa_width\n        bias: tl.constexpr = DTYPE.exponent_bias\n        is_unsigned: tl.constexpr = DTYPE == tl.float8e4b8 or DTYPE == tl.float8e5b16\n        bits = near.to(tl.int32, bitcast=True)\n        exponent = tl.maximum(tl.minimum(bits >> 23 & 255, 254) - 127, 1 - bias)\n        scale = ((127 + mantissa - exponent) << 23).to(tl.float32, bitcast=True)\n        count = tl.abs(tl.where(near == near, near, 0.0)) * scale\n        if not toward_zero:\n            count = (count + 8388608.0) - 8388608.0\n        code = ((exponent + bias - 1) << mantissa) + count.to(tl.int32)\n        code = tl.where((code == 0) & is_unsigned, 0, code | (bits >> 31 & 1) << 7)\n        near = tl.where(near == near, code, 128 if is_unsigned else 127).to(tl.uint8).to(DTYPE, bitcast=True)\n    else:\n        near = tl.cast(near, DTYPE)\n    return near\n'

blocks = {}
debug_info = ''
