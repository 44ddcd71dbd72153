"""Descriptors and block pointers: views of memory, and the addresses of their blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from teenyc.evaluate.arithmetic import aligned, where
from teenyc.evaluate.numbers import Array
from teenyc.record import record, replace


@record
class BlockView:
    """A tensor in memory: its base, and of each axis the extent, the stride and, for a block pointer, the offset."""

    base: Array
    extents: tuple[Array, ...]
    strides: tuple[Array, ...]
    offsets: tuple[Array, ...] = ()

    def moved(self, by: Sequence[Array]) -> BlockView:
        """The block pointer, so much further."""
        return replace(self, offsets=tuple(a + b for a, b in zip(self.offsets, by, strict=True)))

    def chosen(self, mask: Array, other: BlockView) -> BlockView:
        """This view where the mask is true, the other one elsewhere."""
        return BlockView(
            where(mask, self.base, other.base),
            *(
                tuple(where(mask, a, b) for a, b in zip(mine, others, strict=True))
                for mine, others in (
                    (self.extents, other.extents),
                    (self.strides, other.strides),
                    (self.offsets, other.offsets),
                )
            ),
        )

    def block(self, starts: Sequence[Array], block: Sequence[int], checked: Sequence[int]) -> tuple[Array, Array]:
        """The addresses of the block at `starts`, and which of its lanes lie inside along the axes `checked`."""
        indices = [
            aligned(start, 1) + np.arange(extent, dtype=np.int64) for start, extent in zip(starts, block, strict=True)
        ]
        return self.places(indices, checked)

    def places(self, indices: Sequence[Array], checked: Sequence[int]) -> tuple[Array, Array]:
        """Addresses and mask of all combinations of the indices along each axis, which have one axis of lanes each."""
        rank = len(indices)
        address, mask = aligned(self.base, rank), np.ones((1,) * (rank + 1), bool)
        for axis, index in enumerate(indices):
            spread = index.reshape(len(index), *(1,) * axis, -1, *(1,) * (rank - axis - 1))
            address = address + spread * aligned(self.strides[axis], rank)
            if axis in checked:
                mask = mask & (spread >= 0) & (spread < aligned(self.extents[axis], rank))
        return address, mask
