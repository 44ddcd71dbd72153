"""Configurations: a blocked kernel goes in; blocks and options worth a try come out, the likeliest first."""

from __future__ import annotations

from typing import TypeAlias

from teenyc.ir.nodes import Call, Kernel, Let
from teenyc.ir.walk import statements_of

Configuration: TypeAlias = tuple[tuple[str, int], ...]
"""Constants and launch options with their values."""

OPTIONS = ("num_warps", "num_stages")

PRODUCTS = {
    1: ((64, 4, 2), (128, 8, 2), (128, 4, 3), (32, 4, 2), (16, 4, 2)),
    2: (
        (128, 64, 8, 3),
        (128, 64, 4, 3),
        (128, 128, 8, 2),
        (64, 64, 4, 3),
        (64, 128, 4, 2),
        (128, 32, 4, 3),
        (64, 32, 4, 3),
        (32, 32, 4, 2),
        (16, 64, 4, 2),
    ),
    3: (
        (128, 128, 64, 8, 3),
        (128, 256, 64, 8, 3),
        (256, 128, 64, 8, 3),
        (128, 128, 32, 4, 4),
        (128, 64, 64, 4, 3),
        (64, 128, 64, 4, 3),
        (64, 64, 32, 4, 3),
        (32, 32, 32, 4, 2),
        (16, 64, 64, 4, 3),
    ),
}
"""For kernels with products of matrices, by how many blocks they have: blocks, warps and stages."""

SUMS = {
    1: ((1, 4, 2), (4, 4, 2), (16, 4, 2), (64, 4, 2)),
    2: ((1, 1024, 4, 2), (1, 4096, 8, 2), (4, 512, 4, 2), (16, 128, 4, 2), (16, 64, 4, 2), (32, 32, 4, 2)),
    3: ((1, 16, 256, 4, 2), (16, 16, 64, 4, 2), (32, 32, 32, 4, 2), (16, 16, 16, 4, 2)),
}
"""For kernels without, which are as fast as memory."""


def configurations(kernel: Kernel) -> tuple[Configuration, ...]:
    """What a tuner tries; the first that fits is taken where nothing is timed."""
    assert kernel.tiling is not None, "only blocked kernels have blocks"
    names = kernel.tiling.constants
    rows = (PRODUCTS if has_dots(kernel) else SUMS)[min(len(names), 3)]
    filled = [(*row[:-2], *[16] * (len(names) - 3), *row[-2:]) for row in rows]
    return tuple(tuple(zip((*names, *OPTIONS), row, strict=True)) for row in filled)


def has_dots(kernel: Kernel) -> bool:
    """Whether a kernel multiplies matrices."""
    lets = (s.operation for _, s in statements_of(kernel.body) if isinstance(s, Let))
    return any(isinstance(operation, Call) and operation.intrinsic == "dot" for operation in lets)
