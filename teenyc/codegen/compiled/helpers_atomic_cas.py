"""`templates/helpers/atomic_cas.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1942587315

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/atomic_cas.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _atomic_cas(pointer, cmp, val, sem: tl.constexpr = None, scope: tl.constexpr = None):\n    """Compare and swap; Triton\'s own takes arguments of the memory\'s type and the pointers\' shape only."""\n    element: tl.constexpr = pointer.dtype.element_ty\n    cmp = tl.broadcast_to(tl.cast(cmp, element), pointer.shape)\n    val = tl.broadcast_to(tl.cast(val, element), pointer.shape)\n    return tl.atomic_cas(pointer, cmp, val, sem=sem, scope=scope)\n'

blocks = {}
debug_info = ''
