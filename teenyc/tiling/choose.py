"""Which axes may be blocked: a kernel goes in; the sets of axes that are worth a trial come out, the laws proven."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import combinations

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.axes import Axes, Axis
from teenyc.ir.counters import counter_name
from teenyc.ir.nodes import (
    Call,
    Cast,
    Copy,
    For,
    Kernel,
    Let,
    Literal,
    Value,
)
from teenyc.ir.walk import statements_of
from teenyc.record import record, replace
from teenyc.source import Span
from teenyc.tiling import refusals
from teenyc.tiling.analyses import Analyses
from teenyc.tiling.edges import steps_by_one
from teenyc.tiling.maps import Stores
from teenyc.tiling.plan import BlockedAxis, LoopPlan, Plan, Refusal
from teenyc.tiling.recurrences import laws_of
from teenyc.tiling.state import RefusedError
from teenyc.tiling.straight import Straight, straightened

FEWEST = 16
"""A loop that is known to run fewer times than this is not worth blocks."""


@record
class Candidate:
    """Axes of the grid and loops of which blocks may be taken."""

    programs: tuple[BlockedAxis, ...]
    loops: tuple[For, ...]
    is_named: bool = False

    @property
    def axes(self) -> Axes:
        """What is blocked, if all can be."""
        programs = (Axis(axis.kind, axis.id) for axis in self.programs)
        return frozenset([*programs, *(Axis("loop", loop.counter.id) for loop in self.loops)])


@record
class Proven:
    """A plan whose loops obey laws, and the kernel that it speaks of, in straight form."""

    plan: Plan
    straight: Straight


def candidates(kernel: Kernel) -> tuple[Candidate, ...] | Refusal:
    """What may be tried, that of fewer axes first. An author who names axes has chosen."""
    axes, loops = programs(kernel), tuple(_loops(kernel))
    names = kernel.attributes.tile
    if names:
        return _named(kernel, names, axes, loops)
    return tuple(
        Candidate(chosen, tuple(loop for loop, _ in loops))
        for count in range(3)
        for chosen in combinations(axes, count)
        if chosen or loops
    )


def _named(
    kernel: Kernel, names: tuple[str, ...], programs: tuple[BlockedAxis, ...], loops: tuple[tuple[For, str], ...]
) -> tuple[Candidate, ...] | Refusal:
    known = {axis.name for axis in programs} | {name for _, name in loops}
    unknown = [name for name in names if name not in known]
    if unknown:
        return refusals.no_axis(unknown[0], kernel.span)
    chosen = tuple(axis for axis in programs if axis.name in names)
    if len(chosen) > 2:
        return refusals.too_many_axes([axis.name for axis in chosen], kernel.span)
    return (Candidate(chosen, tuple(loop for loop, name in loops if name in names), is_named=True),)


def proven(source: Analyses, candidate: Candidate) -> Proven | Refusal:
    """A plan whose loops are those that obey laws; the others are left, with the reason."""
    kernel, programs, loops = source.kernel, candidate.programs, candidate.loops
    short = {loop.counter.id: None if candidate.is_named else _short(loop) for loop in loops}
    block = free_name(kernel, "BLOCK_K" if len(programs) > 1 else "BLOCK_N")
    tried = tuple(
        BlockedAxis("loop", loop.counter.id, block, counter_name(loop) or "iteration", loop.span)
        for loop in loops
        if short[loop.counter.id] is None
    )
    ordered = _by_stride(source, programs)
    blocks = (free_name(kernel, name) for name in ("BLOCK_M", "BLOCK_N"))
    named = tuple(replace(axis, block=b) for axis, b in zip(ordered, blocks, strict=False))
    return _proven(source, named, tried, tuple(refusal for refusal in short.values() if refusal is not None))


def free_name(kernel: Kernel, name: str, others: Collection[str] = ()) -> str:
    """A name that no constant and no parameter of the kernel has, and nothing of some others."""
    taken = {p.name for p in kernel.parameters} | {c.name for c in kernel.constants} | {*others}
    taken |= {p.name for p in kernel.padded} | {v.name for v in kernel.type_variables}
    return next(n for n in (name, *(f"{name}_{k}" for k in range(2, len(taken) + 3))) if n not in taken)


def without(source: Analyses, plan: Plan, loop: LoopPlan, refusal: Refusal) -> Proven | Refusal:
    """A plan without one of its loops, which is left."""
    rest = tuple(each.axis for each in plan.loops if each is not loop)
    return _proven(source, plan.programs, rest, (*plan.left, refusal))


def _proven(
    source: Analyses, programs: tuple[BlockedAxis, ...], loops: tuple[BlockedAxis, ...], left: tuple[Refusal, ...]
) -> Proven | Refusal:
    """The plan with those loops whose laws are proven.

    Which branches become selections depends on which loops take blocks, and laws on the selections. So a loop without
    a law is left, and the others are looked at anew.
    """
    while True:
        try:
            straight = straightened(source, (*programs, *loops))
        except RefusedError as error:
            left = (*left, error.refusal)
            if not loops:
                return known(left, error)
            loops = ()
            continue
        statements = {s.counter.id: s for _, s in statements_of(straight.analyses.kernel.body) if isinstance(s, For)}
        stores = Stores(straight.analyses)
        plans = [_loop_plan(axis, statements[axis.id], stores) for axis in loops]
        legal = tuple(plan for plan in plans if not isinstance(plan, Refusal))
        if len(legal) == len(loops):
            return Proven(Plan(kernel=source.kernel.name, programs=programs, loops=legal, left=left), straight)
        left += tuple(plan for plan in plans if isinstance(plan, Refusal))
        loops = tuple(plan.axis for plan in legal)


def _loop_plan(axis: BlockedAxis, loop: For, stores: Stores) -> LoopPlan | Refusal:
    """How a loop is blocked: by a law for each carried value, with addresses of its own for each iteration's stores."""
    laws = laws_of(loop)
    stored = laws if isinstance(laws, Refusal) else stores.of(loop)
    if isinstance(laws, Refusal) or isinstance(stored, Refusal):
        assert isinstance(stored, Refusal), "laws that are refused are no laws"
        return replace(stored, subject=axis.name)
    return LoopPlan(axis, laws, stored)


def known(left: tuple[Refusal, ...], refused: RefusedError) -> Refusal:
    """Why a plan cannot be: what was left for a reason within the place says more."""
    return next((refusal for refusal in left if holds(refused.span, refusal.span)), refused.refusal)


def holds(outer: Span, inner: Span) -> bool:
    """Whether one place is within another."""
    return outer.start <= inner.start and inner.end <= outer.end


def _short(loop: For) -> Refusal | None:
    """Whether a loop is known to be short."""
    bounds = (loop.start, loop.stop, loop.step)
    if not all(isinstance(bound, Literal) for bound in bounds):
        return None
    start, stop, step = (int(bound.value) for bound in bounds if isinstance(bound, Literal))
    trips = len(range(start, stop, step)) if step else 0
    return refusals.short_loop(counter_name(loop), trips, loop.span) if trips < FEWEST else None


def _loops(kernel: Kernel) -> Iterator[tuple[For, str]]:
    for _, statement in statements_of(kernel.body):
        if isinstance(statement, For):
            yield statement, counter_name(statement)


def programs(kernel: Kernel) -> tuple[BlockedAxis, ...]:
    """The axes of the grid of which the kernel asks its index, under the author's names."""
    lets = [s for _, s in statements_of(kernel.body) if isinstance(s, Let)]
    found: dict[int, BlockedAxis] = {}
    for let in lets:
        if isinstance(let.operation, Call) and let.operation.intrinsic == "program_id":
            number = let.operation.attribute("axis", 0)
            assert isinstance(number, int), "axes of the grid have numbers"
            name = _name(let.results[0], lets)
            if number not in found or (name and found[number].name == "row"):
                found[number] = BlockedAxis("program", number, "", name or "row", let.span)
    return tuple(found[n] for n in sorted(found))


def _name(value: Value, lets: list[Let]) -> str:
    """The author's name of a value, which may stand on a conversion of it."""
    converted = (
        let.results[0].name
        for let in lets
        if isinstance(let.operation, Cast | Copy) and let.operation.operand == value and let.results[0].name
    )
    return value.name or next(converted, "")


def _by_stride(source: Analyses, programs: tuple[BlockedAxis, ...]) -> tuple[BlockedAxis, ...]:
    """The axes, and last the one along which stores go from element to element: tiles lie in memory as rows."""
    calls = [
        s.operation
        for _, s in statements_of(source.kernel.body)
        if isinstance(s, Let) and isinstance(s.operation, Call)
    ]
    pointers = [p for c in calls if Effect.WRITES in TABLE[c.intrinsic].effects and (p := c.operand("pointer"))]
    return tuple(sorted(programs, key=lambda axis: any(steps_by_one(source, p, axis.id) for p in pointers)))
