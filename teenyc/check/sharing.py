"""Lint for stores whose lanes write different values to one address."""

from __future__ import annotations

from teenyc.check.facts import Facts
from teenyc.diagnostics.model import Reporter
from teenyc.ir import nodes as ir
from teenyc.ir.walk import statements_of
from teenyc.types import DescriptorType


def lint_shared_addresses(facts: Facts, reporter: Reporter) -> None:
    """Reports stores of values that vary along an axis along which neither the address nor the mask does."""
    for _, statement in statements_of(facts.kernel.body):
        call = statement.operation if isinstance(statement, ir.Let) else None
        if not isinstance(call, ir.Call):
            continue
        pointer, value, mask = (call.operand(name) for name in ("pointer", "value", "mask"))
        if pointer is None or value is None or isinstance(pointer.type, DescriptorType):
            continue  # each lane of a block has its own address
        shared = set(_positions(facts, value)) - set(_positions(facts, pointer))
        if mask is not None:
            shared -= set(_positions(facts, mask))
        if shared:
            from teenyc.diagnostics.catalog.lints import LanesShareAddress

            name = pointer.name if isinstance(pointer, ir.Value) else ""
            reporter.report(LanesShareAddress(span=statement.span, name=name))


def _positions(facts: Facts, operand: ir.Operand) -> tuple[int, ...]:
    """The axes, counted from the last, along which an operand varies."""
    return facts.masks.view(operand)[1]
