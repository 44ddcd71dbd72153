"""`templates/helpers/atomic_poll.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2278486795

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/atomic_poll.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _atomic_poll(pointer, expected_value, sem: tl.constexpr = None, scope: tl.constexpr = None, timeout_ns=None):\n    """Waits until elements are as expected, and says which are; Triton has `atomic_poll` since 3.9.\n\n    It looks twice under the interpreter, where programs run one after the other and nothing else changes memory.\n    """\n    order: tl.constexpr = "acquire" if sem is None else sem\n    nothing = tl.zeros(pointer.shape, pointer.dtype.element_ty)\n    start = _globaltimer()\n    seen = tl.atomic_or(pointer, nothing, sem=order, scope=scope) == expected_value\n    missing = tl.max(tl.cast(seen == 0, tl.int32)) if len(pointer.shape) > 0 else tl.cast(seen == 0, tl.int32)\n    is_waiting = missing > 0\n    while is_waiting:\n        seen = seen | (tl.atomic_or(pointer, nothing, sem=order, scope=scope) == expected_value)\n        missing = tl.max(tl.cast(seen == 0, tl.int32)) if len(pointer.shape) > 0 else tl.cast(seen == 0, tl.int32)\n        is_waiting = missing > 0\n        if timeout_ns is not None:\n            is_waiting = is_waiting & (_globaltimer() - start < timeout_ns)\n        if _IS_INTERPRETED:\n            is_waiting = is_waiting & (missing == 0)\n    return seen\n'

blocks = {}
debug_info = ''
