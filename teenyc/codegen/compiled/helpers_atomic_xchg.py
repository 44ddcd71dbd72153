"""`templates/helpers/atomic_xchg.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1294675910

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/atomic_xchg.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _atomic_xchg(pointer, val, mask=None, sem: tl.constexpr = None, scope: tl.constexpr = None):\n    """Exchanges the bits of floats as integers; Triton\'s interpreter exchanges integers only."""\n    element: tl.constexpr = pointer.dtype.element_ty\n    tl.static_assert(element.primitive_bitwidth >= 32, "atomic_xchg takes elements of 32 and 64 bits")\n    bits: tl.constexpr = tl.int64 if element.primitive_bitwidth == 64 else tl.int32\n    places = pointer.to(tl.pointer_type(bits), bitcast=True)\n    old = tl.atomic_xchg(places, tl.cast(val, element).to(bits, bitcast=True), mask=mask, sem=sem, scope=scope)\n    return old.to(element, bitcast=True)\n'

blocks = {}
debug_info = ''
