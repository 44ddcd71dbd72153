"""`templates/helpers/arange.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 4291499962


def text(names, include):
    yield "@triton.jit\n"
    yield "def _arange(start: tl.constexpr, end: tl.constexpr):\n"
    yield "    \"\"\"The integers from `start` to before `end`; Triton's `arange` does not begin below zero.\"\"\"\n"
    yield "    return tl.arange(0, end - start) + start\n"
