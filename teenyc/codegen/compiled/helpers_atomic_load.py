"""`templates/helpers/atomic_load.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1929685827

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/atomic_load.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _atomic_load(pointer, mask=None, sem: tl.constexpr = None, scope: tl.constexpr = None):\n    """The elements, read in one step, 0 where the mask is false; Triton has `atomic_load` since 3.9."""\n    order: tl.constexpr = "acquire" if sem is None else sem\n    element: tl.constexpr = pointer.dtype.element_ty\n    tl.static_assert(element.primitive_bitwidth >= 32, "atomic_load takes elements of 32 and 64 bits")\n    bits: tl.constexpr = tl.int64 if element.primitive_bitwidth == 64 else tl.int32\n    places = pointer.to(tl.pointer_type(bits), bitcast=True)\n    found = tl.atomic_or(places, tl.zeros(pointer.shape, bits), mask=mask, sem=order, scope=scope)\n    if mask is not None:\n        found = tl.where(mask, found, 0)\n    return found.to(element, bitcast=True)\n'

blocks = {}
debug_info = ''
