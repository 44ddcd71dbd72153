"""Adds to each kernel that asks for it the one whose programs and iterations take blocks: `x_tiled` behind `x`.

Between them stands `x_rows`, where that computes before what all programs of `x_tiled` need alike. Behind them stand
`x_parts` and `x_joined`, where several programs may share the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from teenyc.ir.nodes import Kernel, Program
from teenyc.passes.forms import free_name
from teenyc.record import replace
from teenyc.tiling.explain import certificate
from teenyc.tiling.plan import Refusal
from teenyc.tiling.tile import lowered, planned


def tile(program: Program) -> Program:
    """The program with a blocked kernel behind each one whose attributes ask for it and that allows it."""
    if all(kernel.attributes.tile is None for kernel in program.kernels):
        return program
    return replace(program, kernels=tuple(k for kernel in program.kernels for k in _with_tiled(kernel, program)))


def _with_tiled(kernel: Kernel, program: Program) -> Iterator[Kernel]:
    if kernel.attributes.tile is None:
        yield kernel
        return
    _, found = planned(kernel, program)
    yield replace(kernel, certificate=certificate(found))
    if not isinstance(found, Refusal):
        taken = {k.name for k in program.kernels}
        for made in lowered(found):
            yield replace(made, name=free_name(f"{kernel.name}_{_kind(made)}", taken))


def _kind(kernel: Kernel) -> str:
    """What a kernel in the place of another one is."""
    tiling = kernel.tiling
    if tiling is None or tiling.is_main:
        return "tiled"
    if tiling.split is None:
        return "rows"
    return "joined" if tiling.split.is_joined else "parts"
