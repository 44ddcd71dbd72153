"""`templates/helpers/tanh.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2734797487


def text(names, include):
    yield "@triton.jit\n"
    yield "def _tanh(x):\n"
    yield "    \"\"\"The hyperbolic tangent, right to the last bits of f32 and f64, 1 or -1 for large `x`.\n"
    yield "\n"
    yield "    Below 5/8 a quotient of polynomials in `x * x` (Cephes), above by way of the exponential; neither overflows.\n"
    yield "    \"\"\"\n"
    yield "    size = tl.abs(x)\n"
    yield "    small = tl.where(size < 1, x, 0.0)\n"
    yield "    square = small * small\n"
    yield "    top = (-9.64399179425052238628e-1 * square - 9.92877231001918586564e1) * square - 1.61468768441708447952e3\n"
    yield "    bottom = ((square + 1.12811678491632931402e2) * square + 2.23548839060100448583e3) * square\n"
    yield "    near = small + small * (square * top / (bottom + 4.84406305325125486048e3))\n"
    yield "    far = 1 - 2 / (tl.exp(2 * tl.where(size > 20, 20.0, size)) + 1)\n"
    yield "    return tl.where(size < 0.625, near, tl.where(x < 0, -far, far))\n"
