"""What reports at the end of a kernel's check share: analyses of the whole kernel, each made when first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from teenyc.ir.nodes import Call, Compare, For, If, Kernel, Let, Operand, Value, While
from teenyc.ir.walk import operands_of, statements_of
from teenyc.types import Extent

if TYPE_CHECKING:
    from teenyc.check.context import Library
    from teenyc.check.places import Places
    from teenyc.ir.addresses import Access
    from teenyc.ir.digits import Digits
    from teenyc.ir.masks import Masks
    from teenyc.ir.padding import Filled
    from teenyc.syntax.ast import Module


class Facts:
    """The analyses of one kernel."""

    def __init__(self, kernel: Kernel, tree: Module, library: Library) -> None:
        self.kernel = kernel
        self.tree = tree
        self.library = library

    @property
    def places(self) -> Places:
        """What stands where in the file, for fixes."""
        return self.library.places(self.tree)

    @cached_property
    def masks(self) -> Masks:
        from teenyc.ir.masks import masks

        return masks(self.kernel)

    @cached_property
    def compares(self) -> Mapping[int, tuple[bool, Compare]]:
        """The comparisons by the number of their condition, and whether it must hold for them to."""
        found: dict[int, tuple[bool, Compare]] = {}
        for _, statement in statements_of(self.kernel.body):
            if isinstance(statement, Let) and isinstance(statement.operation, Compare):
                for holds, number, _ in self.masks.conditions(statement.results[0]):
                    found[number] = holds, statement.operation
        return found

    @cached_property
    def accesses(self) -> tuple[Access, ...]:
        from teenyc.ir.addresses import accesses

        return accesses(self.kernel, self.masks)

    @cached_property
    def digits(self) -> Digits:
        from teenyc.ir.digits import program_digits

        return program_digits(self.kernel, self.masks)

    def is_update(self, store: Let, value: Operand | None) -> bool:
        """Whether a value that is stored is computed from what is loaded of the same tensor."""
        roots = {access.root.id for access in self.accesses if access.let is store}
        loads = {
            access.let.results[0].id for access in self.accesses if access.root.id in roots and not access.is_write
        }
        pending, seen = [value], set[int]()
        while pending:
            each = pending.pop()
            if isinstance(each, Value) and each.id not in seen:
                seen.add(each.id)
                pending += self.operands.get(each.id, ())
        return not seen.isdisjoint(loads)

    @cached_property
    def operands(self) -> Mapping[int, tuple[Operand, ...]]:
        """What each value is made of by an operation, a loop or a branch."""
        found: dict[int, tuple[Operand, ...]] = {}
        for _, statement in statements_of(self.kernel.body):
            if isinstance(statement, Let):
                found |= dict.fromkeys((r.id for r in statement.results), operands_of(statement.operation))
            elif isinstance(statement, For | While):
                for carried, following in zip(statement.carried, statement.body.yields, strict=True):
                    found |= dict.fromkeys((carried.inside.id, carried.result.id), (carried.initial, following))
            elif isinstance(statement, If):
                for block in (statement.then, statement.otherwise):
                    for result, operand in zip(statement.results, block.yields, strict=False):
                        found[result.id] = (*found.get(result.id, ()), operand)
        return found

    @cached_property
    def lanes(self) -> Mapping[int, Extent]:
        """The numbers that each `arange` from 0 has in `masks`, and its extent."""
        found: dict[int, Extent] = {}
        for _, statement in statements_of(self.kernel.body):
            operation = statement.operation if isinstance(statement, Let) else None
            if isinstance(operation, Call) and operation.intrinsic == "arange" and isinstance(statement, Let):
                start, end = operation.attribute("start", 0), operation.attribute("end")
                if isinstance(end, Extent) and start in (0, Extent.of(0)):
                    found[self.masks.view(statement.results[0])[0]] = end
        return found

    @cached_property
    def filled(self) -> Filled:
        from teenyc.ir.padding import paddings

        return paddings(self.kernel, self.masks)
