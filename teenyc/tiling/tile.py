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
from teenyc.source import Span
from teenyc.tiling import lower, operations
from teenyc.tiling.plan import BlockedAxis, LoopPlan, Plan, Refusal
from teenyc.tiling.recurrences import laws_of
from teenyc.tiling.state import Blocking, RefusedError, Rows, Tile
from teenyc.types import I32, scalar


def plan_of(kernel: Kernel) -> Plan | Refusal:
    """All that is decided of a kernel, or why it stays as it is. Functions are expanded, floats widened before."""
    chosen = _chosen(kernel)
    if isinstance(chosen, Refusal):
        return chosen
    blocking, _ = _blocking(kernel, chosen)
    try:
        lower.block(blocking, kernel.body.statements)
    except RefusedError as refused:
        return Refusal(refused.reason, refused.span)
    return replace(chosen, contractions=tuple(blocking.contractions))


def lowered(kernel: Kernel, plan: Plan) -> Kernel:
    """The blocked kernel that a plan of the kernel describes."""
    blocking, programs = _blocking(kernel, plan)
    lower.block(blocking, kernel.body.statements)
    assert tuple(blocking.contractions) == plan.contractions, "what is written is what was decided"
    blocks = tuple(dict.fromkeys(axis.block for axis in plan.axes))
    constants = tuple(ConstantParameter(name=b, type=scalar(I32), span=kernel.span) for b in blocks)
    return replace(
        kernel,
        name=f"{kernel.name}_tiled",
        parameters=(*kernel.parameters, *(Parameter(value=p, span=kernel.span) for p in programs)),
        constants=(*kernel.constants, *constants),
        body=Block(statements=tuple(blocking.statements)),
        tiling=Tiling(
            of=kernel.name,
            blocks=tuple((axis.id, axis.block) for axis in plan.programs),
            counts=tuple((axis.id, p.name) for axis, p in zip(plan.programs, programs, strict=True)),
            constants=blocks,
        ),
    )


def _chosen(kernel: Kernel) -> Plan | Refusal:
    """The axes to block, and the laws that let a block of iterations be one step."""
    lets = _lets(kernel)
    loops: list[LoopPlan] = []
    for statement in kernel.body.statements:
        if isinstance(statement, For):
            laws = laws_of(statement)
            if isinstance(laws, Refusal):
                return laws
            name = statement.counter.name or "iteration"
            loops.append(LoopPlan(BlockedAxis("loop", statement.counter.id, "BLOCK_N", name, statement.span), laws))
    axis = BlockedAxis("program", 0, "BLOCK_M", *_row(lets, kernel.span))
    return Plan(kernel=kernel.name, programs=(axis,), loops=tuple(loops))


def _blocking(kernel: Kernel, plan: Plan) -> tuple[Blocking, tuple[Value, ...]]:
    """Where the rewriting of a kernel starts, and the parameters that count the programs of the source."""
    lets = _lets(kernel)
    ids = count(max((v.id for v in values_of(kernel)), default=0) + 1)
    programs = tuple(Value(next(ids), scalar(I32), f"num_{axis.name}s") for axis in plan.programs)
    blocking = Blocking(
        rows=[Rows(axis, p) for axis, p in zip(plan.programs, programs, strict=True)],
        loops={each.axis.id: each for each in plan.loops},
        infos=axes(kernel),
        lets=lets,
        ids=ids,
        define=operations.make,
        names=_loaded_names(lets),
        tiles={p.value.id: Tile(p.value) for p in kernel.parameters},
    )
    return blocking, programs


def _lets(kernel: Kernel) -> dict[int, Let]:
    """The definition of each value, by id."""
    return {v.id: s for _, s in statements_of(kernel.body) if isinstance(s, Let) for v in s.results}


def _row(lets: Mapping[int, Let], span: Span) -> tuple[str, Span]:
    """The author's name of the row that a program takes, and where it stands."""
    for let in lets.values():
        if (
            isinstance(let.operation, Call)
            and let.operation.intrinsic == "program_id"
            and let.operation.attribute("axis", 0) == 0
        ):
            (result,) = let.results
            casts = (s for s in lets.values() if isinstance(s.operation, Cast) and s.operation.operand == result)
            return result.name or next((s.results[0].name for s in casts), "") or "row", let.span
    return "row", span


def _loaded_names(lets: Mapping[int, Let]) -> dict[int, str]:
    """The author's names of loaded values, which stand on the conversions."""
    names: dict[int, str] = {}
    for let in lets.values():
        if isinstance(let.operation, Cast) and isinstance(let.operation.operand, Value) and let.results[0].name:
            names.setdefault(let.operation.operand.id, let.results[0].name)
    return names
