"""Tiling of one kernel: which axes to block is chosen, the laws are proven, and the blocked kernel is made."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from teenyc.ir.axes import axes
from teenyc.ir.nodes import (
    Block,
    Cast,
    ConstantParameter,
    Kernel,
    Let,
    Parameter,
    Tiling,
    Value,
)
from teenyc.ir.walk import statements_of, values_of
from teenyc.record import replace
from teenyc.source import Span
from teenyc.tiling import choose, lower, operations
from teenyc.tiling.configurations import configurations
from teenyc.tiling.minima import with_minima
from teenyc.tiling.normal import normal
from teenyc.tiling.plan import Plan, Refusal
from teenyc.tiling.state import Blocking, RefusedError, Rows, Tile
from teenyc.tiling.straight import straightened
from teenyc.types import I32, scalar


def plan_of(kernel: Kernel) -> Plan | Refusal:
    """All that is decided of a kernel, or why it stays as it is. Functions are expanded, floats widened before."""
    kernel = normal(kernel)
    tried = choose.candidates(kernel)
    if isinstance(tried, Refusal):
        return tried
    infos, best, most = axes(kernel), None, 0
    reason = Refusal("it has neither rows nor a loop of which a program could take a block", kernel.span)
    for n, candidate in enumerate(tried):
        plan = _tried(kernel, candidate)
        gain = 0 if isinstance(plan, Refusal) else choose.gain(kernel, infos, plan)
        if not isinstance(plan, Refusal) and (gain > most or kernel.attributes.tile):
            best, most = plan, gain
        if n == 0 or (n == 1 and candidate.programs):  # what was hoped for first
            reason = plan if isinstance(plan, Refusal) else next(iter(plan.left), choose.no_gain(kernel))
    return best or reason


def _tried(kernel: Kernel, plan: Plan) -> Plan | Refusal:
    """The plan with its sums decided; loops that turn out to take no blocks are left as they are."""
    while True:
        try:
            blocking, _ = _blocked(kernel, plan)
        except RefusedError as refused:
            known = (r for r in plan.left if _holds(refused.span, r.span))
            refusal = next(known, refused.refusal)
            loop = next((each for each in plan.loops if _holds(each.axis.span, refused.span)), None)
            if loop is None:
                return refusal
            plan = choose.without(kernel, plan, loop, replace(refusal, subject=loop.axis.name))
        else:
            if not plan.axes:
                return next(iter(plan.left), choose.no_gain(kernel))
            plan = decided(plan, blocking)
            return replace(plan, configurations=configurations(kernel, plan))


def decided(plan: Plan, blocking: Blocking) -> Plan:
    """A plan with what was decided on the way."""
    return replace(
        plan,
        contractions=tuple(blocking.contractions),
        staged=tuple(blocking.staged),
        guards=tuple(blocking.guarded),
        left=(*plan.left, *(r for r in blocking.left if all((r, r.span) != (o, o.span) for o in plan.left))),
    )


def lowered(kernel: Kernel, plan: Plan) -> Kernel:
    """The blocked kernel that a plan of the kernel describes."""
    blocking, programs = _blocked(normal(kernel), plan)
    assert decided(plan, blocking) == plan, "what is written is what was decided"
    blocks = tuple(dict.fromkeys(axis.block for axis in plan.axes))
    constants = tuple(ConstantParameter(name=b, type=scalar(I32), span=kernel.span) for b in blocks)
    blocked = replace(
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
            configurations=plan.configurations,
        ),
    )
    return with_minima(blocked)


def form(kernel: Kernel, plan: Plan) -> Kernel:
    """The kernel as a plan of it speaks of it, and as it is blocked: branches that differ within a block selections."""
    return straightened(normal(kernel), plan.axes).kernel


def _blocked(kernel: Kernel, plan: Plan) -> tuple[Blocking, tuple[Value, ...]]:
    """The rewriting of a kernel, carried out, and the parameters that count the programs of the source."""
    straight = straightened(kernel, plan.axes)
    kernel = straight.kernel
    lets = _lets(kernel)
    ids = count(max((v.id for v in values_of(kernel)), default=0) + 1)
    counts = (choose.free_name(kernel, f"num_{axis.name}s") for axis in plan.programs)
    programs = tuple(Value(next(ids), scalar(I32), name) for name in counts)
    blocking = Blocking(
        rows=[Rows(axis, p) for axis, p in zip(plan.programs, programs, strict=True)],
        loops={each.axis.id: each for each in plan.loops},
        infos=axes(kernel),
        lets=lets,
        ids=ids,
        define=operations.make,
        names=_loaded_names(lets),
        tiles={p.value.id: Tile(p.value) for p in kernel.parameters},
        guards=straight.guards,
        bounds=straight.bounds,
        dot_operands=kernel.attributes.dot_operands,
        dot_precision=kernel.attributes.dot_precision or "ieee",
    )
    lower.block(blocking, kernel.body.statements)
    return blocking, programs


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _lets(kernel: Kernel) -> dict[int, Let]:
    """The definition of each value, by id."""
    return {v.id: s for _, s in statements_of(kernel.body) if isinstance(s, Let) for v in s.results}


def _loaded_names(lets: Mapping[int, Let]) -> dict[int, str]:
    """The author's names of loaded values, which stand on the conversions."""
    names: dict[int, str] = {}
    for let in lets.values():
        if isinstance(let.operation, Cast) and isinstance(let.operation.operand, Value) and let.results[0].name:
            names.setdefault(let.operation.operand.id, let.results[0].name)
    return names
