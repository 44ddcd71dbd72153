"""`templates/helpers/atomic_cas.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1942587315


def text(names, include):
    yield "@triton.jit\n"
    yield "def _atomic_cas(pointer, cmp, val, sem: tl.constexpr = None, scope: tl.constexpr = None):\n"
    yield "    \"\"\"Compare and swap; Triton's own takes arguments of the memory's type and the pointers' shape only.\"\"\"\n"
    yield "    element: tl.constexpr = pointer.dtype.element_ty\n"
    yield "    cmp = tl.broadcast_to(tl.cast(cmp, element), pointer.shape)\n"
    yield "    val = tl.broadcast_to(tl.cast(val, element), pointer.shape)\n"
    yield "    return tl.atomic_cas(pointer, cmp, val, sem=sem, scope=scope)\n"
