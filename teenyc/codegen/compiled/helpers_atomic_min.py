"""`templates/helpers/atomic_min.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 53480008

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/atomic_min.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _atomic_min(pointer, val, mask=None, sem: tl.constexpr = None, scope: tl.constexpr = None):\n    """The least of floats by the order of their bits; before 3.8 Triton\'s own gives a wrong old value for f64."""\n    element: tl.constexpr = pointer.dtype.element_ty\n    tl.static_assert(element.primitive_bitwidth >= 32, "atomic_min takes elements of 32 and 64 bits")\n    if element.is_floating():\n        signed: tl.constexpr = tl.int64 if element.primitive_bitwidth == 64 else tl.int32\n        unsigned: tl.constexpr = tl.uint64 if element.primitive_bitwidth == 64 else tl.uint32\n        bits = tl.broadcast_to(tl.cast(val, element), pointer.shape).to(signed, bitcast=True)\n        above, below = bits >= 0, bits < 0\n        if mask is not None:\n            above, below = above & mask, below & mask\n        places = pointer.to(tl.pointer_type(signed), bitcast=True)\n        first = tl.atomic_min(places, bits, mask=above, sem=sem, scope=scope)\n        others = pointer.to(tl.pointer_type(unsigned), bitcast=True)\n        second = tl.atomic_max(others, bits.to(unsigned, bitcast=True), mask=below, sem=sem, scope=scope)\n        old = tl.where(bits >= 0, first, second.to(signed, bitcast=True)).to(element, bitcast=True)\n    else:\n        old = tl.atomic_min(pointer, val, mask=mask, sem=sem, scope=scope)\n    return old\n'

blocks = {}
debug_info = ''
