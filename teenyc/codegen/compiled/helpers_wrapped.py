"""`templates/helpers/wrapped.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2337218007


def text(names, include):
    yield "@triton.constexpr_function\n"
    yield "def _wrapped(n):\n"
    yield "    \"\"\"`n` wrapped to 32 bits, which Python's own numbers never do.\"\"\"\n"
    yield "    return (n + 0x80000000) % 0x100000000 - 0x80000000\n"
