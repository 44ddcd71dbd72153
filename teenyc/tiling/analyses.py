"""What is known of a kernel before it is blocked: made once of each, and handed to all who ask."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.ir.axes import AxisInfo, axes
from teenyc.ir.nodes import Kernel, Let
from teenyc.ir.walk import statements_of, values_of
from teenyc.record import field, record


@record
class Analyses:
    """A kernel, and of its values, by id, the axes and the definitions; no value has an id greater than `last`."""

    kernel: Kernel
    axes: Mapping[int, AxisInfo] = field(compare=False, repr=False)
    lets: Mapping[int, Let] = field(compare=False, repr=False)
    last: int = field(compare=False, repr=False)

    @staticmethod
    def of(kernel: Kernel) -> Analyses:
        """The analyses of a kernel."""
        lets = {v.id: s for _, s in statements_of(kernel.body) if isinstance(s, Let) for v in s.results}
        return Analyses(kernel, axes(kernel), lets, max((v.id for v in values_of(kernel)), default=0))
