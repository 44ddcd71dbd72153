"""What reports at the end of a kernel's check share: analyses of the whole kernel, each made when first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from teenyc.ir.nodes import Call, Compare, Kernel, Let
from teenyc.ir.walk import statements_of
from teenyc.types import Extent

if TYPE_CHECKING:
    from teenyc.check.places import Places
    from teenyc.ir.addresses import Access
    from teenyc.ir.digits import Digits
    from teenyc.ir.masks import Masks
    from teenyc.ir.padding import Filled
    from teenyc.syntax.ast import Module


class Facts:
    """The analyses of one kernel."""

    def __init__(self, kernel: Kernel, tree: Module) -> None:
        self.kernel = kernel
        self.tree = tree

    @cached_property
    def places(self) -> Places:
        """What stands where in the file, for fixes."""
        from teenyc.check.places import Places

        return Places(self.tree)

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
