"""Configurations: a plan goes in; blocks and launch options worth a try come out, the likeliest first."""

from __future__ import annotations

from teenyc.ir.nodes import DESCRIPTORS, OPTIONS, Call, Configuration, Kernel, Let
from teenyc.ir.walk import statements_of
from teenyc.tiling.plan import Grouped, Plan

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

LIKELY = 3
"""So many configurations come before those that load by descriptors."""

DESCRIBED = {(1, 1): ((64, 64, 4, 3), (128, 64, 4, 2))}
"""With blocks that are loaded by tensor descriptors, where a loop has few products."""

FEW_PRODUCTS = 2
"""With more of them for what it loads, a loop does not wait for what it loads."""


def configurations(kernel: Kernel, plan: Plan) -> tuple[Configuration, ...]:
    """What a tuner tries; the first that fits is taken where nothing is timed."""
    names = tuple(dict.fromkeys(axis.block for axis in plan.axes))
    stated = kernel.attributes.configs
    if stated and all({*names} <= {name for name, _ in each} for each in stated):
        chosen = {*names, *OPTIONS, *([plan.order.size] if isinstance(plan.order, Grouped) else [])}
        return tuple(tuple((n, v) for n, v in each if n in chosen or (n, v) == (DESCRIPTORS, 1)) for each in stated)
    programs = len({axis.block for axis in plan.programs})
    has_dots = any(len(each.sides) == 2 for each in plan.contractions) or _has_dots(kernel)
    known = PRODUCTS if has_dots else SUMS
    rows = known.get((programs, len(names) - programs)) or ((*[32] * len(names), 4, 2),)
    described = DESCRIBED.get((programs, len(names) - programs), ()) if _has_few_products(plan) else ()
    plain = [tuple(zip((*names, *OPTIONS), row, strict=True)) for row in rows]
    others = [tuple(zip((*names, *OPTIONS, DESCRIPTORS), (*row, 1), strict=True)) for row in described]
    return (*plain[:LIKELY], *others, *plain[LIKELY:])


def _has_few_products(plan: Plan) -> bool:
    return 0 < sum(len(each.sides) == 2 for each in plan.contractions) <= FEW_PRODUCTS


def _has_dots(kernel: Kernel) -> bool:
    """Whether the author multiplies matrices."""
    lets = (s.operation for _, s in statements_of(kernel.body) if isinstance(s, Let))
    return any(isinstance(operation, Call) and operation.intrinsic == "dot" for operation in lets)
