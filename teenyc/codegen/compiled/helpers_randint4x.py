"""`templates/helpers/randint4x.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 147717918


def text(names, include):
    yield "@triton.jit\n"
    yield "def _randint4x(seed, offset, n_rounds: tl.constexpr = 10):\n"
    yield "    \"\"\"Four random integers of 32 bits for each offset; Triton's own are unsigned.\"\"\"\n"
    yield "    a, b, c, d = tl.randint4x(seed, offset, n_rounds)\n"
    yield "    return (\n"
    yield "        a.to(tl.int32, bitcast=True),\n"
    yield "        b.to(tl.int32, bitcast=True),\n"
    yield "        c.to(tl.int32, bitcast=True),\n"
    yield "        d.to(tl.int32, bitcast=True),\n"
    yield "    )\n"
