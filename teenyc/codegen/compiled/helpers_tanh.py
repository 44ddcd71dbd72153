"""`templates/helpers/tanh.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2734797487

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/tanh.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _tanh(x):\n    """The hyperbolic tangent, right to the last bits of f32 and f64, 1 or -1 for large `x`.\n\n    Below 5/8 a quotient of polynomials in `x * x` (Cephes), above by way of the exponential; neither overflows.\n    """\n    size = tl.abs(x)\n    small = tl.where(size < 1, x, 0.0)\n    square = small * small\n    top = (-9.64399179425052238628e-1 * square - 9.92877231001918586564e1) * square - 1.61468768441708447952e3\n    bottom = ((square + 1.12811678491632931402e2) * square + 2.23548839060100448583e3) * square\n    near = small + small * (square * top / (bottom + 4.84406305325125486048e3))\n    far = 1 - 2 / (tl.exp(2 * tl.where(size > 20, 20.0, size)) + 1)\n    return tl.where(size < 0.625, near, tl.where(x < 0, -far, far))\n'

blocks = {}
debug_info = ''
