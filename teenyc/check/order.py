"""Lints for atomic sums, whose result depends on an order that nobody fixes, and which lose small terms to 16 bits."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.check.facts import Facts
from teenyc.check.rounding import is_narrow
from teenyc.diagnostics.model import Reporter
from teenyc.intrinsics import TABLE, spoken
from teenyc.intrinsics.spec import Effect
from teenyc.ir import nodes as ir
from teenyc.ir.walk import statements_of
from teenyc.types import (
    Compute,
    DescriptorType,
    Element,
    Pointer,
    TensorType,
    TypeVar,
    is_float,
    is_generic_number,
)

_ADDING = frozenset({"atomic_add", "descriptor_atomic_add"})
"""Atomics whose result depends on the order because each step rounds."""


def lint_order(facts: Facts, reporter: Reporter) -> None:
    """Reports atomics that add floats, and those that add them in 16 bits."""
    fixed = dict(facts.kernel.elements)
    for _, statement in statements_of(facts.kernel.body):
        if isinstance(statement, ir.Let) and isinstance(statement.operation, ir.Call):
            _lint_atomic(statement, statement.operation, fixed, reporter)


def _lint_atomic(statement: ir.Let, call: ir.Call, fixed: Mapping[str, Element], reporter: Reporter) -> None:
    pointer = call.operand("pointer") or call.operand("desc")
    if Effect.ATOMIC not in TABLE[call.intrinsic].effects or pointer is None or call.intrinsic not in _ADDING:
        return
    element = _memory(pointer, fixed)
    if not is_float(element) and not is_generic_number(element):
        return
    from teenyc.diagnostics.catalog.lints import FloatAtomic, NarrowSum

    is_generic = isinstance(element, TypeVar | Compute)
    narrow = f"{element}" if isinstance(element, TypeVar) else None
    if not is_generic and is_narrow(element):
        reporter.report(NarrowSum(span=statement.span, element=str(element), function=spoken(call.intrinsic)))
    reporter.report(FloatAtomic(span=statement.span, function=spoken(call.intrinsic), variable=narrow))


def _memory(pointer: ir.Operand, fixed: Mapping[str, Element]) -> Element:
    """The element type in memory, with the dtype parameters that an option fixed."""
    type = pointer.type
    assert isinstance(type, TensorType | DescriptorType), "an atomic has an address"
    element = type.element.to if isinstance(type.element, Pointer) else type.element
    return fixed.get(element.name, element) if isinstance(element, TypeVar) else element
