"""`templates/helpers/remainder.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3758773795


def text(names, include):
    yield "@triton.constexpr_function\n"
    yield "def _remainder(a, b):\n"
    yield "    \"\"\"What `a / b` leaves, with the sign of `a`; Python's own `%` takes that of `b`.\"\"\"\n"
    yield "    return abs(a) % max(abs(b), 1) * (1 if a >= 0 else -1)\n"
