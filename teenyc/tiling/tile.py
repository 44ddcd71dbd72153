"""Tiling of one kernel: which axes to block is chosen, the laws are proven, and the blocked kernel is made."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from teenyc.ir.axes import axes
from teenyc.ir.nodes import (
    Block,
    Call,
    Cast,
    ConstantParameter,
    For,
    Kernel,
    Let,
    Parameter,
    Tiling,
    Value,
)
from teenyc.ir.walk import statements_of, values_of
from teenyc.record import replace
from teenyc.tiling import lower, operations
from teenyc.tiling.plan import BlockedAxis, LoopPlan, Refusal
from teenyc.tiling.recurrences import laws_of
from teenyc.tiling.state import Blocking, RefusedError, Rows, Tile
from teenyc.types import I32, scalar


def tiled(kernel: Kernel) -> Kernel | Refusal:
    """The blocked kernel, or why it stays as it is. Device functions are expanded, floats widened before."""
    lets = {v.id: s for _, s in statements_of(kernel.body) if isinstance(s, Let) for v in s.results}
    ids = count(max((v.id for v in values_of(kernel)), default=0) + 1)
    axis = BlockedAxis("program", 0, "BLOCK_M", _row_name(lets))
    loops: dict[int, LoopPlan] = {}
    for statement in kernel.body.statements:
        if isinstance(statement, For):
            laws = laws_of(statement)
            if isinstance(laws, Refusal):
                return laws
            name = statement.counter.name or "iteration"
            loops[statement.counter.id] = LoopPlan(BlockedAxis("loop", statement.counter.id, "BLOCK_N", name), laws)
    programs = Value(next(ids), scalar(I32), f"num_{axis.name}s")
    blocking = Blocking(
        rows=[Rows(axis, programs)],
        loops=loops,
        infos=axes(kernel),
        lets=lets,
        ids=ids,
        define=operations.make,
        names=_loaded_names(lets),
        tiles={p.value.id: Tile(p.value) for p in kernel.parameters},
    )
    try:
        lower.block(blocking, kernel.body.statements)
    except RefusedError as refused:
        return Refusal(refused.reason, refused.span)
    blocks = ("BLOCK_M", *(("BLOCK_N",) if loops else ()))
    constants = tuple(ConstantParameter(name=b, type=scalar(I32), span=kernel.span) for b in blocks)
    return replace(
        kernel,
        name=f"{kernel.name}_tiled",
        parameters=(*kernel.parameters, Parameter(value=programs, span=kernel.span)),
        constants=(*kernel.constants, *constants),
        body=Block(statements=tuple(blocking.statements)),
        tiling=Tiling(of=kernel.name, blocks=((0, "BLOCK_M"),), counts=((0, programs.name),), constants=blocks),
    )


def _row_name(lets: Mapping[int, Let]) -> str:
    """The author's name of the row that a program takes."""
    for let in lets.values():
        if (
            isinstance(let.operation, Call)
            and let.operation.intrinsic == "program_id"
            and let.operation.attribute("axis", 0) == 0
        ):
            (result,) = let.results
            casts = (s for s in lets.values() if isinstance(s.operation, Cast) and s.operation.operand == result)
            return result.name or next((s.results[0].name for s in casts), "") or "row"
    return "row"


def _loaded_names(lets: Mapping[int, Let]) -> dict[int, str]:
    """The author's names of loaded values, which stand on the conversions."""
    names: dict[int, str] = {}
    for let in lets.values():
        if isinstance(let.operation, Cast) and isinstance(let.operation.operand, Value) and let.results[0].name:
            names.setdefault(let.operation.operand.id, let.results[0].name)
    return names
