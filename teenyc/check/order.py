"""Lints for sums whose result depends on an order that nobody fixes, or that lose small terms to 16 bits."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.diagnostics.model import Reporter
from teenyc.intrinsics import TABLE, spoken
from teenyc.intrinsics.spec import Effect
from teenyc.ir import nodes as ir
from teenyc.ir.walk import statements_of
from teenyc.types import (
    Compute,
    DescriptorType,
    DType,
    Element,
    Kind,
    Pointer,
    TensorType,
    TypeVar,
    is_float,
    is_generic_number,
)

_ADDING = frozenset({"atomic_add", "descriptor_atomic_add"})
"""Atomics whose result depends on the order because each step rounds."""


def lint_order(kernel: ir.Kernel, reporter: Reporter) -> None:
    """Reports float atomics, atomics in 16 bits, and loops that round what they carry to 16 bits."""
    fixed = dict(kernel.elements)
    made: dict[int, ir.Operation] = {}
    for _, statement in statements_of(kernel.body):
        match statement:
            case ir.Let():
                made.update((value.id, statement.operation) for value in statement.results)
                if isinstance(statement.operation, ir.Call):
                    _lint_atomic(statement, statement.operation, fixed, reporter)
            case ir.For() | ir.While() | ir.If() | ir.Return():
                pass
    for _, statement in statements_of(kernel.body):
        if isinstance(statement, ir.For | ir.While):
            _lint_carried(statement, made, reporter)


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
    if not is_generic and _is_narrow(element):
        reporter.report(NarrowSum(span=statement.span, element=str(element), function=spoken(call.intrinsic)))
    reporter.report(FloatAtomic(span=statement.span, function=spoken(call.intrinsic), variable=narrow))


def _memory(pointer: ir.Operand, fixed: Mapping[str, Element]) -> Element:
    """The element type in memory, with the dtype parameters that an option fixed."""
    type = pointer.type
    assert isinstance(type, TensorType | DescriptorType), "an atomic has an address"
    element = type.element.to if isinstance(type.element, Pointer) else type.element
    return fixed.get(element.name, element) if isinstance(element, TypeVar) else element


def _is_narrow(element: Element) -> bool:
    return isinstance(element, DType) and element.kind is Kind.FLOAT and element.bits < 32


def _lint_carried(loop: ir.For | ir.While, made: Mapping[int, ir.Operation], reporter: Reporter) -> None:
    """A carried value that each iteration adds to, or takes from, and rounds to a narrow type by a cast."""
    for carried, following in zip(loop.carried, loop.body.yields, strict=True):
        element = following.type.element if isinstance(following.type, TensorType) else None
        if element is None or not _is_narrow(element):
            continue
        rounded = _behind_copies(following, made)
        if not isinstance(rounded, ir.Cast) or rounded.implicit:
            continue
        total = _behind_copies(rounded.operand, made)
        if isinstance(total, ir.Binary) and total.operator in ("add", "sub") and _reads(total, carried.inside, made):
            from teenyc.diagnostics.catalog.lints import NarrowSum

            name = carried.inside.name
            span = next((s.span for s in loop.body.statements if _defines(s, following)), loop.span)
            reporter.report(NarrowSum(span=span, element=str(element), name=name))


def _behind_copies(operand: ir.Operand, made: Mapping[int, ir.Operation]) -> ir.Operation | None:
    operation = made.get(operand.id) if isinstance(operand, ir.Value) else None
    while isinstance(operation, ir.Copy) and isinstance(operation.operand, ir.Value):
        operation = made.get(operation.operand.id)
    return operation


def _reads(total: ir.Binary, inside: ir.Value, made: Mapping[int, ir.Operation]) -> bool:
    """Whether one side of a sum is the carried value, perhaps under another name or type."""
    return any(_is_same(side, inside, made) for side in (total.left, total.right))


def _is_same(operand: ir.Operand, value: ir.Value, made: Mapping[int, ir.Operation]) -> bool:
    while isinstance(operand, ir.Value) and operand.id != value.id:
        operation = made.get(operand.id)
        if not isinstance(operation, ir.Copy | ir.Cast):
            return False
        operand = operation.operand
    return isinstance(operand, ir.Value)


def _defines(statement: ir.Statement, operand: ir.Operand) -> bool:
    return isinstance(statement, ir.Let) and any(r == operand for r in statement.results)
