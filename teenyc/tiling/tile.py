"""Tiling of one kernel: which axes to block is chosen, the laws are proven, and the blocked kernel is made."""

from __future__ import annotations

from itertools import count

from teenyc.ir.axes import axes
from teenyc.ir.nodes import Block, ConstantParameter, For, Kernel, Let, Operand, Parameter, Value
from teenyc.ir.walk import statements_of, values_of
from teenyc.record import replace
from teenyc.tiling import lower, operations
from teenyc.tiling.plan import BlockedAxis, LoopPlan, Refusal
from teenyc.tiling.recurrences import laws_of
from teenyc.tiling.state import Blocking, RefusedError, Rows, Tile
from teenyc.types import I32, Extent, scalar


def tiled(kernel: Kernel) -> Kernel | Refusal:
    """The blocked kernel, or why it stays as it is."""
    infos = axes(kernel)
    lets = {v.id: s for _, s in statements_of(kernel.body) if isinstance(s, Let) for v in s.results}
    ids = count(max((v.id for v in values_of(kernel)), default=0) + 1)
    axis = BlockedAxis("program", 0, "BLOCK_M", "row")
    loops: dict[int, LoopPlan] = {}
    for statement in kernel.body.statements:
        if isinstance(statement, For):
            laws = laws_of(statement)
            if isinstance(laws, Refusal):
                return laws
            loops[statement.counter.id] = LoopPlan(
                BlockedAxis("loop", statement.counter.id, "BLOCK_N", statement.counter.name), laws
            )
    blocking = Blocking(
        rows=[Rows(axis, _count(kernel))], loops=loops, infos=infos, lets=lets, ids=ids, define=operations.make
    )
    for parameter in kernel.parameters:
        blocking.tiles[parameter.value.id] = Tile(parameter.value)
    try:
        lower.block(blocking, kernel.body.statements)
    except RefusedError as refused:
        return Refusal(refused.reason, refused.span)
    blocks = ["BLOCK_M", *(["BLOCK_N"] if loops else [])]
    constants = tuple(ConstantParameter(name=b, type=scalar(I32), span=kernel.span) for b in blocks)
    return replace(
        kernel,
        constants=(*kernel.constants, *constants),
        body=Block(statements=tuple(blocking.statements)),
        attributes=replace(kernel.attributes, options=()),
    )


def _count(kernel: Kernel) -> Operand:
    (extent, *_) = kernel.attributes.grid or ()
    parameter: Parameter = next(p for p in kernel.parameters if Extent.of(p.name) == extent)
    assert isinstance(parameter.value, Value)
    return parameter.value
