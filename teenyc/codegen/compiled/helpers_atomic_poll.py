"""`templates/helpers/atomic_poll.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2278486795


def text(names, include):
    yield "@triton.jit\n"
    yield "def _atomic_poll(pointer, expected_value, sem: tl.constexpr = None, scope: tl.constexpr = None, timeout_ns=None):\n"
    yield "    \"\"\"Waits until elements are as expected, and says which are; Triton has `atomic_poll` since 3.9.\n"
    yield "\n"
    yield "    It looks twice under the interpreter, where programs run one after the other and nothing else changes memory.\n"
    yield "    \"\"\"\n"
    yield "    order: tl.constexpr = \"acquire\" if sem is None else sem\n"
    yield "    nothing = tl.zeros(pointer.shape, pointer.dtype.element_ty)\n"
    yield "    start = _globaltimer()\n"
    yield "    seen = tl.atomic_or(pointer, nothing, sem=order, scope=scope) == expected_value\n"
    yield "    missing = tl.max(tl.cast(seen == 0, tl.int32)) if len(pointer.shape) > 0 else tl.cast(seen == 0, tl.int32)\n"
    yield "    is_waiting = missing > 0\n"
    yield "    while is_waiting:\n"
    yield "        seen = seen | (tl.atomic_or(pointer, nothing, sem=order, scope=scope) == expected_value)\n"
    yield "        missing = tl.max(tl.cast(seen == 0, tl.int32)) if len(pointer.shape) > 0 else tl.cast(seen == 0, tl.int32)\n"
    yield "        is_waiting = missing > 0\n"
    yield "        if timeout_ns is not None:\n"
    yield "            is_waiting = is_waiting & (_globaltimer() - start < timeout_ns)\n"
    yield "        if _IS_INTERPRETED:\n"
    yield "            is_waiting = is_waiting & (missing == 0)\n"
    yield "    return seen\n"
