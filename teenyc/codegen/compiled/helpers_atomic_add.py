"""`templates/helpers/atomic_add.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3260956464

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/atomic_add.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '@triton.jit\ndef _atomic_add(pointer, val, mask=None, sem: tl.constexpr = None, scope: tl.constexpr = None):\n    """Adds to elements; to small ones that Triton cannot add to, by swapping the word around each."""\n    element: tl.constexpr = pointer.dtype.element_ty\n    if element.is_floating():\n        is_native: tl.constexpr = element != tl.bfloat16 or not _ROUNDS_BY_HAND\n    else:\n        is_native: tl.constexpr = element.primitive_bitwidth >= 32\n    if is_native:\n        old = tl.atomic_add(pointer, val, mask=mask, sem=sem, scope=scope)\n    else:\n        raw: tl.constexpr = tl.uint16 if element.primitive_bitwidth == 16 else tl.uint8\n        address = (pointer + tl.zeros([1], tl.int32)).to(tl.int64)\n        word, shift = address & -4, ((address & 3) * 8).to(tl.uint32)\n        bits = tl.full([1], (1 << element.primitive_bitwidth) - 1, tl.uint32) << shift\n        waiting = address != 0\n        if mask is not None:\n            waiting = waiting & mask\n        before = tl.zeros(address.shape, tl.uint32)\n        while tl.max(waiting.to(tl.int32)) > 0:\n            any_word = tl.min(tl.where(waiting, word, 0x7FFFFFFFFFFFFFFC))  # unchanged by lanes that are done\n            place = tl.where(waiting, word, any_word).to(tl.pointer_type(tl.uint32))\n            seen = tl.load(place, volatile=True)\n            held = (seen >> shift).to(raw).to(element, bitcast=True)\n            if element.is_floating():\n                sum = _round_to(held.to(tl.float32) + tl.cast(val, tl.float32), element)\n            else:\n                sum = (held + tl.cast(val, element)).to(element)\n            wanted = (seen & ~bits) | (sum.to(raw, bitcast=True).to(tl.uint32) << shift)\n            found = tl.atomic_cas(place, seen, tl.where(waiting, wanted, seen), sem=sem, scope=scope)\n            before = tl.where(waiting & (found == seen), seen, before)\n            waiting = waiting & (found != seen)\n        old = (before >> shift).to(raw).to(element, bitcast=True)\n        if not pointer.type.is_block():\n            old = tl.max(old).to(element)\n    return old\n'

blocks = {}
debug_info = ''
