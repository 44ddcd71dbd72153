"""Configurations: a blocked kernel goes in; blocks and options worth a try come out, the likeliest first."""

from __future__ import annotations

from typing import TypeAlias

from teenyc.ir.nodes import Call, Kernel, Let
from teenyc.ir.walk import statements_of

Configuration: TypeAlias = tuple[tuple[str, int], ...]
"""Constants and launch options with their values."""

OPTIONS = ("num_warps", "num_stages")

PRODUCTS = {
    (0, 1): ((64, 4, 2), (128, 8, 2), (32, 4, 2)),
    (1, 0): ((64, 4, 2), (128, 8, 2), (32, 4, 2), (16, 4, 2)),
    (1, 1): (
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
    (2, 0): ((64, 64, 4, 2), (128, 64, 8, 2), (32, 32, 4, 2), (16, 64, 4, 2)),
    (2, 1): (
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
"""For kernels with products of matrices, by how many blocks of programs and of iterations: blocks, warps, stages."""

SUMS = {
    (0, 1): ((1024, 4, 2), (256, 2, 2), (4096, 8, 2), (128, 1, 2)),
    (1, 0): ((16, 4, 2), (4, 4, 2), (64, 4, 2), (128, 4, 2)),
    (1, 1): ((16, 128, 4, 2), (4, 512, 4, 2), (1, 1024, 4, 2), (16, 64, 4, 2), (32, 32, 4, 2)),
    (2, 0): ((16, 64, 4, 2), (32, 32, 4, 2), (4, 256, 4, 2)),
    (2, 1): ((16, 16, 32, 4, 2), (32, 32, 16, 4, 2), (16, 16, 16, 4, 2)),
}
"""For kernels without, which are as fast as memory."""


def configurations(kernel: Kernel) -> tuple[Configuration, ...]:
    """What a tuner tries; the first that fits is taken where nothing is timed."""
    assert kernel.tiling is not None, "only blocked kernels have blocks"
    names, programs = kernel.tiling.constants, len({name for _, name in kernel.tiling.blocks})
    known = PRODUCTS if has_dots(kernel) else SUMS
    rows = known.get((programs, len(names) - programs)) or ((*[32] * len(names), 4, 2),)
    return tuple(tuple(zip((*names, *OPTIONS), row, strict=True)) for row in rows)


def has_dots(kernel: Kernel) -> bool:
    """Whether a kernel multiplies matrices."""
    lets = (s.operation for _, s in statements_of(kernel.body) if isinstance(s, Let))
    return any(isinstance(operation, Call) and operation.intrinsic == "dot" for operation in lets)
