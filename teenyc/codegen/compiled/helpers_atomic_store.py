"""`templates/helpers/atomic_store.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2893130915

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/atomic_store.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _atomic_store(pointer, val, mask=None, sem: tl.constexpr = None, scope: tl.constexpr = None):\n    """Writes elements in one step; Triton has `atomic_store` since 3.9."""\n    order: tl.constexpr = "release" if sem is None else sem\n    element: tl.constexpr = pointer.dtype.element_ty\n    tl.static_assert(element.primitive_bitwidth >= 32, "atomic_store takes elements of 32 and 64 bits")\n    bits: tl.constexpr = tl.int64 if element.primitive_bitwidth == 64 else tl.int32\n    places = pointer.to(tl.pointer_type(bits), bitcast=True)\n    tl.atomic_xchg(places, tl.cast(val, element).to(bits, bitcast=True), mask=mask, sem=order, scope=scope)\n'

blocks = {}
debug_info = ''
