"""Configurations: a plan goes in; blocks and launch options worth a try come out, the likeliest first."""

from __future__ import annotations

from teenyc.ir.nodes import OPTIONS, Call, Configuration, Kernel, Let
from teenyc.ir.walk import statements_of
from teenyc.tiling.plan import Plan

PRODUCTS = {
    (0, 1): ((64, 4, 2), (128, 8, 2), (32, 4, 2), (32, 8, 2), (16, 4, 2)),
    (1, 0): ((64, 4, 2), (128, 8, 2), (32, 4, 2), (32, 8, 2), (16, 4, 2)),
    (1, 1): (
        (128, 64, 8, 3),
        (64, 64, 4, 3),
        (64, 32, 4, 3),
        (128, 32, 4, 3),
        (128, 128, 8, 3),
        (64, 64, 4, 2),
        (64, 64, 8, 3),
        (64, 128, 8, 2),
        (128, 32, 8, 3),
        (64, 32, 8, 2),
        (32, 64, 4, 2),
        (32, 32, 8, 2),
        (16, 64, 4, 2),
        (32, 32, 4, 2),
        (32, 16, 8, 2),
        (16, 32, 4, 2),
        (16, 16, 8, 2),
        (16, 16, 4, 2),
    ),
    (2, 0): ((64, 64, 4, 2), (128, 64, 8, 2), (32, 32, 4, 2), (32, 32, 8, 2), (16, 64, 4, 2), (16, 16, 4, 2)),
    (2, 1): (
        (128, 256, 64, 8, 3),
        (128, 128, 64, 8, 3),
        (256, 128, 64, 8, 3),
        (128, 128, 32, 4, 4),
        (128, 64, 64, 4, 3),
        (64, 128, 64, 4, 3),
        (64, 64, 32, 4, 3),
        (64, 64, 16, 4, 3),
        (32, 32, 32, 4, 2),
        (16, 64, 64, 4, 3),
        (16, 32, 32, 4, 2),
        (16, 16, 16, 4, 2),
    ),
}
"""For kernels with products of matrices, by how many blocks of programs and of iterations: blocks, warps, stages.

The last are for numbers and lanes so wide that registers hold no larger ones. A launcher takes the first few that fit.
"""

SUMS = {
    (0, 1): ((1024, 4, 2), (256, 2, 2), (4096, 8, 2), (128, 1, 2)),
    (1, 0): ((16, 4, 2), (4, 4, 2), (64, 4, 2), (128, 4, 2)),
    (1, 1): ((16, 128, 4, 2), (4, 512, 4, 2), (1, 1024, 4, 2), (16, 64, 4, 2), (32, 32, 4, 2)),
    (2, 0): ((16, 64, 4, 2), (32, 32, 4, 2), (4, 256, 4, 2)),
    (2, 1): ((16, 16, 32, 4, 2), (32, 32, 16, 4, 2), (16, 16, 16, 4, 2)),
}
"""For kernels without, which are as fast as memory."""


def configurations(kernel: Kernel, plan: Plan) -> tuple[Configuration, ...]:
    """What a tuner tries; the first that fits is taken where nothing is timed."""
    names = tuple(dict.fromkeys(axis.block for axis in plan.axes))
    stated = kernel.attributes.configs
    if stated and all({*names} <= {name for name, _ in each} for each in stated):
        return tuple(tuple((n, v) for n, v in each if n in names or n in OPTIONS) for each in stated)
    programs = len({axis.block for axis in plan.programs})
    has_dots = any(len(each.sides) == 2 for each in plan.contractions) or _has_dots(kernel)
    known = PRODUCTS if has_dots else SUMS
    rows = known.get((programs, len(names) - programs)) or ((*[32] * len(names), 4, 2),)
    return tuple(tuple(zip((*names, *OPTIONS), row, strict=True)) for row in rows)


def _has_dots(kernel: Kernel) -> bool:
    """Whether the author multiplies matrices."""
    lets = (s.operation for _, s in statements_of(kernel.body) if isinstance(s, Let))
    return any(isinstance(operation, Call) and operation.intrinsic == "dot" for operation in lets)
