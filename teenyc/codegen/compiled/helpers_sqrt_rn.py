"""`templates/helpers/sqrt_rn.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3041441113


def text(names, include):
    yield "@triton.jit\n"
    yield "def _sqrt_rn(x):\n"
    yield "    \"\"\"The square root rounded to nearest; Triton has `sqrt_rn` for f32 only, and its f64 root rounds so anyway.\"\"\"\n"
    yield "    return tl.sqrt_rn(x) if x.dtype == tl.float32 else tl.sqrt(x)\n"
