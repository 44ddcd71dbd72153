"""What reports at the end of a kernel's check share: analyses of the whole kernel, each made when first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from teenyc.ir.nodes import Kernel

if TYPE_CHECKING:
    from teenyc.ir.digits import Digits
    from teenyc.ir.masks import Masks
    from teenyc.ir.padding import Filled


class Facts:
    """The analyses of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @cached_property
    def masks(self) -> Masks:
        from teenyc.ir.masks import masks

        return masks(self.kernel)

    @cached_property
    def digits(self) -> Digits:
        from teenyc.ir.digits import program_digits

        return program_digits(self.kernel, self.masks)

    @cached_property
    def filled(self) -> Filled:
        from teenyc.ir.padding import paddings

        return paddings(self.kernel, self.masks)
