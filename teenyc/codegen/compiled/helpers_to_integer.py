"""`templates/helpers/to_integer.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 867089720


def text(names, include):
    cast = names["cast"]
    yield "@triton.jit\n"
    yield f"def {cast.name}(x):\n"
    yield "    \"\"\"`x` cut toward zero; what is out of range becomes the nearest bound, and NaN becomes 0.\"\"\"\n"
    yield f"    whole = tl.where((x >= {cast.low}) & (x < {cast.limit}), x, 0.0).to({cast.dtype})\n"
    if cast.is_signed:
        yield f"    whole = tl.where(x < {cast.low}, tl.full([], {cast.least}, {cast.dtype}), whole)\n"
    yield f"    return tl.where(x >= {cast.limit}, tl.full([], {cast.greatest}, {cast.dtype}), whole)\n"
