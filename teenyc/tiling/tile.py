"""Tiling of one kernel: which axes to block is chosen, the laws are proven, and the blocked kernel is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from teenyc.ir import nodes
from teenyc.ir.expand import expanded
from teenyc.ir.nodes import (
    Block,
    Cast,
    ConstantParameter,
    For,
    Kernel,
    Let,
    Parameter,
    Program,
    Split,
    Statement,
    Tiling,
    Value,
)
from teenyc.ir.walk import statements_of
from teenyc.record import record, replace
from teenyc.tiling import choose, gain, lower, operations, refusals
from teenyc.tiling.analyses import Analyses
from teenyc.tiling.choose import Candidate
from teenyc.tiling.configurations import configurations
from teenyc.tiling.edges import open_axes
from teenyc.tiling.joined import joined
from teenyc.tiling.minima import with_minima
from teenyc.tiling.nests import Order, orders
from teenyc.tiling.normal import normal
from teenyc.tiling.parts import parts, parts_of
from teenyc.tiling.plan import Grouped, LoopPlan, Parts, Plan, Prologue, Refusal, inner_of
from teenyc.tiling.prologue import prologue_of
from teenyc.tiling.rows import rows, with_loads
from teenyc.tiling.scratch import memory_of
from teenyc.tiling.splits import splits
from teenyc.tiling.state import Blocking, RefusedError, Rows, Tile
from teenyc.tiling.straight import Straight
from teenyc.tiling.turns import GROUP, in_order, order_of
from teenyc.types import I32, Extent, scalar


@record
class Tiled:
    """A kernel in blocks: its plan, the kernel of whose values the plan speaks, and what its programs do.

    `form` is the kernel with branches that differ within a block made selections; `counts` are the parameters that
    hold how many programs the source has along the blocked axes of the grid. `rows` is the kernel that runs before,
    `parts` and `joined` are the two that take the place of this one where programs are few.
    """

    plan: Plan
    form: Analyses
    counts: tuple[Value, ...]
    statements: tuple[Statement, ...]
    rows: Tiled | None = None
    parts: Tiled | None = None
    joined: Kernel | None = None


def planned(kernel: Kernel, program: Program) -> tuple[Kernel, Tiled | Refusal]:
    """A kernel of a program with what it calls written out, and that in blocks or why it stays as it is."""
    whole = _whole(kernel, program)
    return whole, tiled(whole)


def _whole(kernel: Kernel, program: Program) -> Kernel:
    return expanded(kernel, {f.name: f for f in program.functions}).kernel


def tiled(kernel: Kernel) -> Tiled | Refusal:
    """The kernel in blocks, or why it stays as it is. Functions are expanded, floats widened before."""
    order, found = _chosen(kernel)
    if isinstance(found, Refusal) or order.is_split:
        return found
    return _with_parts(order.kernel, found, _with_rows(order.kernel, found))


def first_tiled(kernel: Kernel, program: Program) -> Tiled | Refusal:
    """A kernel of a program in blocks, without what may run before: that blocks the same axes."""
    return _chosen(_whole(kernel, program))[1]


def _chosen(kernel: Kernel) -> tuple[Order, Tiled | Refusal]:
    """Of several candidates the one that gains most, the first of equals. One that cannot be it is not tried."""
    best: tuple[Order, Tiled | Refusal] | None = None
    most = (0, 0)
    for order in _forms(normal(kernel)):
        found, won = _in_order(order)
        if best is None or won > most or (isinstance(best[1], Refusal) and order.is_source):
            best, most = (order, found), won
        if won[1] > 1 + gain.REUSE:  # others multiply matrices too, if any
            break
    assert best is not None, "there is an order"
    return best


def _forms(kernel: Kernel) -> Iterator[Order]:
    """The kernel with its loops in some order, and the same over the parts of an index that it takes apart."""
    yield from orders(kernel)
    for taken in splits(kernel):
        yield from (replace(order, is_split=True, turned=taken.turned) for order in orders(taken.kernel))


def _in_order(order: Order) -> tuple[Tiled | Refusal, tuple[int, int]]:
    """The kernel in blocks with its loops in an order, and how much that is worth: axes that are named, and gain."""
    candidates = choose.candidates(order.kernel)
    if isinstance(candidates, Refusal):
        return candidates, (0, 0)
    source, is_named = Analyses.of(order.kernel), bool(order.kernel.attributes.tile)
    if order.is_split:
        candidates = tuple(c for c in candidates if _is_by_rows(c))
        if not candidates:
            return Refusal("no part of an index that is taken apart takes blocks", order.kernel.span), (0, 0)
    found = _tried(source, candidates[0]) if is_named else _best(source, candidates)
    if isinstance(found, Refusal):
        return found, (0, 0)
    if order.moved is not None and all(loop.axis.id != order.moved for loop in found.plan.loops):
        return Refusal("the order of loops stays, as none takes blocks in another", order.kernel.span), (0, 0)
    if order.turned is not None and not gain.products(found.plan):
        return Refusal("quotients take blocks for products of matrices alone", order.kernel.span), (0, 0)
    found = replace(found, plan=replace(found.plan, turned=order.turned))
    if order.moved is not None:
        found = replace(found, plan=replace(found.plan, loops=tuple(_within(order, loop) for loop in found.plan.loops)))
    return found, (len(found.plan.axes) if is_named else 0, 1 + gain.gain(source, found.plan))


def _is_by_rows(candidate: Candidate) -> bool:
    """Whether blocks are taken along the inner part of an index, and not along the outer."""
    parts = [axis for axis in candidate.programs if axis.is_part]
    return bool(parts) and all(axis.id == inner_of(axis.grid_axis) for axis in parts)


def _within(order: Order, loop: LoopPlan) -> LoopPlan:
    return replace(loop, within=order.around) if loop.axis.id == order.moved else loop


def plan_of(kernel: Kernel) -> Plan | Refusal:
    """All that is decided of a kernel, or why it stays as it is."""
    found = tiled(kernel)
    return found if isinstance(found, Refusal) else found.plan


def _best(source: Analyses, candidates: Sequence[Candidate]) -> Tiled | Refusal:
    if not candidates:
        return refusals.nothing_to_block(source.kernel.name, source.kernel.span)
    limits = [gain.most(source, candidate.programs, candidate.axes) for candidate in candidates]
    tried: dict[int, Tiled | Refusal] = {}
    best: Tiled | None = None
    place, most = -1, 0  # what gains nothing is not taken
    for n in sorted(range(len(candidates)), key=lambda n: -limits[n]):
        if (limits[n], -n) <= (most, -place):
            continue
        found = tried[n] = _tried(source, candidates[n])
        won = 0 if isinstance(found, Refusal) else gain.gain(source, found.plan)
        if not isinstance(found, Refusal) and (won, -n) > (most, -place):
            best, place, most = found, n, won
    return best or _reason(source, candidates, tried)


def _reason(source: Analyses, candidates: Sequence[Candidate], tried: Mapping[int, Tiled | Refusal]) -> Refusal:
    """Why none of the candidates is taken: what is said of the first with rows behind that of loops alone."""
    n = 1 if len(candidates) > 1 else 0
    found = tried.get(n) or _tried(source, candidates[n])
    return found if isinstance(found, Refusal) else next(iter(found.plan.left), refusals.no_gain(source.kernel.span))


def _tried(source: Analyses, candidate: Candidate) -> Tiled | Refusal:
    """The candidate with its sums decided; loops that turn out to take no blocks are left as they are."""
    found = choose.proven(source, candidate)
    while not isinstance(found, Refusal):
        plan = found.plan
        try:
            blocking, counts = _blocked(plan, found.straight)
        except RefusedError as refused:
            refusal = choose.known(plan.left, refused)
            loop = next((each for each in plan.loops if choose.holds(each.axis.span, refused.span)), None)
            if loop is None:
                return refusal
            found = choose.without(source, plan, loop, replace(refusal, subject=loop.axis.name))
        else:
            if not plan.axes:
                return next(iter(plan.left), refusals.no_gain(source.kernel.span))
            plan = _decided(plan, blocking)
            plan = replace(plan, order=order_of(blocking, plan, found.straight.analyses.kernel))
            plan = replace(plan, configurations=configurations(source.kernel, plan))
            return Tiled(plan, found.straight.analyses, counts, in_order(blocking, plan.order))
    return found


def _with_rows(kernel: Kernel, found: Tiled) -> Tiled:
    """The kernel in blocks, where that pays behind one that computes once what all programs along an axis need."""
    prologue = prologue_of(kernel, found.plan)
    if not isinstance(prologue, Prologue):
        return replace(found, plan=replace(found.plan, repeated=prologue))
    before = _before(rows(kernel, prologue), prologue)
    behind = _alike(with_loads(kernel, prologue), found.plan)
    if isinstance(before, Refusal) or isinstance(behind, Refusal):
        return found
    places = zip(behind.plan.loops, found.plan.loops, strict=True)
    loops = tuple(replace(loop, within=old.within) for loop, old in places)
    return replace(behind, plan=replace(behind.plan, loops=loops, prologue=prologue), rows=before)


def _before(kernel: Kernel, prologue: Prologue) -> Tiled | Refusal:
    """The kernel that runs before, in blocks of iterations; it is not tuned."""
    axis = next(axis for axis in choose.programs(kernel) if axis.id == prologue.axis)
    found = _tried(Analyses.of(kernel), Candidate((axis,), ()))
    if isinstance(found, Refusal):
        return found
    return replace(found, plan=replace(found.plan, configurations=found.plan.configurations[:1]))


def _with_parts(kernel: Kernel, found: Tiled, whole: Tiled) -> Tiled:
    """The kernel `whole`, with those in which several programs share its loop; `found` computes nothing before."""
    shared = parts_of(kernel, found.plan)
    if not isinstance(shared, Parts):
        return replace(whole, plan=replace(whole.plan, parts=shared))
    laws = next(each.laws for each in found.plan.loops if each.axis.id == shared.loop)
    loops = (s for _, s in statements_of(found.form.kernel.body) if isinstance(s, For))
    join = joined(kernel, shared, laws, next(loop for loop in loops if loop.counter.id == shared.loop))
    made = _alike(parts(kernel, shared, laws), found.plan)
    if isinstance(join, Refusal) or isinstance(made, Refusal):
        refusal = join if isinstance(join, Refusal) else made
        return replace(whole, plan=replace(whole.plan, parts=refusal))
    return replace(whole, plan=replace(whole.plan, parts=shared), parts=made, joined=_in_rows(join, shared, found.plan))


JOINED = 64
"""So many neighbouring programs of the source a program of the join does, where each has few numbers."""


def _in_rows(join: Kernel, shared: Parts, plan: Plan) -> Kernel:
    """The kernel that joins parts, in blocks of the last axis where the source has a program for each element."""
    if len(plan.programs) > 1 and not any(shared.lanes):
        axis = next(axis for axis in choose.programs(join) if axis.id == plan.programs[-1].id)
        found = _tried(Analyses.of(join), Candidate((axis,), ()))
        if isinstance(found, Tiled):
            config = (*((axis.block, JOINED) for axis in found.plan.axes), ("num_warps", 4))
            return _lowered(replace(found, plan=replace(found.plan, configurations=(config,))))
    return replace(join, tiling=Tiling(of=join.name, blocks=(), counts=(), constants=()))


def _alike(kernel: Kernel, plan: Plan) -> Tiled | Refusal:
    """Another kernel in blocks along the axes of a plan."""
    candidates = choose.candidates(kernel)
    assert not isinstance(candidates, Refusal), "its loops and programs are the same"
    programs = {axis.id for axis in plan.programs}
    candidate = next(each for each in candidates if {axis.id for axis in each.programs} == programs)
    found = _tried(Analyses.of(kernel), candidate)
    is_alike = not isinstance(found, Refusal) and found.plan.axes == plan.axes
    return found if is_alike else Refusal("without what is computed before, it takes other blocks", kernel.span)


def _decided(plan: Plan, blocking: Blocking) -> Plan:
    """A plan with what was decided on the way."""
    return replace(
        plan,
        contractions=tuple(blocking.contractions),
        staged=tuple(blocking.staged),
        guards=tuple(blocking.guarded),
        left=(*plan.left, *(r for r in blocking.left if all((r, r.span) != (o, o.span) for o in plan.left))),
    )


def lowered(tiled: Tiled) -> tuple[Kernel, ...]:
    """The kernel whose programs take blocks, and in front of it the one that runs before."""
    kernels = (_lowered(tiled), *_shared(tiled))
    if tiled.rows is None or tiled.plan.prologue is None:
        return kernels
    prologue, before = tiled.plan.prologue, _lowered(tiled.rows)
    assert before.tiling is not None, "it takes blocks"
    facts = nodes.Prologue(
        axis=prologue.axis,
        axes=prologue.axes,
        extent=prologue.extent,
        scratch=tuple(memory_of(before, prologue.names)),
    )
    return (replace(before, tiling=replace(before.tiling, of=tiled.plan.kernel, prologue=facts)), *kernels)


def _shared(tiled: Tiled) -> Iterator[Kernel]:
    """The two kernels in which several programs share a loop."""
    shared, of = tiled.plan.parts, tiled.plan.kernel
    if tiled.parts is None or tiled.joined is None or not isinstance(shared, Parts):
        return
    made = _lowered(tiled.parts)
    kinds = dict(memory_of(made, shared.names))
    facts = Split(
        axis=shared.axis,
        axes=shared.axes,
        count=shared.count,
        scratch=tuple((name, kinds[name], lanes) for name, lanes in zip(shared.names, shared.lanes, strict=True)),
    )
    assert made.tiling is not None, "it takes blocks"
    yield replace(made, tiling=replace(made.tiling, of=of, configurations=(), split=facts))
    facts, minima = replace(facts, is_joined=True), {p.name: p for p in made.padded}
    padded = tuple(minima.get(p.name, p) for p in tiled.joined.padded)  # lanes in memory are as many for both
    assert tiled.joined.tiling is not None, "it takes the place of a kernel"
    yield replace(tiled.joined, padded=padded, tiling=replace(tiled.joined.tiling, of=of, split=facts))


def _lowered(tiled: Tiled) -> Kernel:
    plan, kernel = tiled.plan, tiled.form.kernel
    blocks = tuple(dict.fromkeys(axis.block for axis in plan.axes))
    groups = ((plan.order.size, GROUP),) if isinstance(plan.order, Grouped) else ()
    names = (*blocks, *(name for name, _ in groups))
    constants = tuple(ConstantParameter(name=n, type=scalar(I32), span=kernel.span) for n in names)
    blocked = replace(
        kernel,
        parameters=(*kernel.parameters, *(Parameter(value=p, span=kernel.span) for p in tiled.counts)),
        constants=(*kernel.constants, *constants),
        body=Block(statements=tiled.statements),
        tiling=Tiling(
            of=kernel.name,
            blocks=tuple((axis.grid_axis, axis.block) for axis in plan.programs),
            counts=tuple((axis.grid_axis, p.name) for axis, p in zip(plan.programs, tiled.counts, strict=True)),
            constants=blocks,
            defaults=groups,
            configurations=plan.configurations,
            whole=tuple(_whole_counts(tiled)),
            apart=tuple(dict.fromkeys(s.apart for loop in plan.loops for s in loop.stores if s.apart)),
        ),
    )
    return with_minima(blocked, plan, tiled.form.kernel)


def _whole_counts(tiled: Tiled) -> Iterator[tuple[str, Extent]]:
    """The counts that must be multiples, and of what."""
    for axis, parameter in zip(tiled.plan.programs, tiled.counts, strict=True):
        if axis.is_part and tiled.plan.turned is not None:
            yield parameter.name, tiled.plan.turned


def _blocked(plan: Plan, straight: Straight) -> tuple[Blocking, tuple[Value, ...]]:
    """The rewriting of a kernel, carried out, and the parameters that count the programs of the source."""
    analyses = straight.analyses
    kernel, ids = analyses.kernel, count(analyses.last + 1)
    names = (choose.free_name(kernel, "num_pids" if a.is_part else f"num_{a.name}s") for a in plan.programs)
    counts = tuple(Value(next(ids), scalar(I32), name) for name in names)
    blocking = Blocking(
        order=plan.axes,
        rows=[Rows(axis, p) for axis, p in zip(plan.programs, counts, strict=True)],
        loops={each.axis.id: each for each in plan.loops},
        infos=analyses.axes,
        lets=analyses.lets,
        ids=ids,
        define=operations.make,
        names={**_loaded_names(analyses.lets), **_bound_names(straight)},
        tiles={p.value.id: Tile(p.value) for p in kernel.parameters},
        edges=frozenset() if straight.bounds else open_axes(analyses, plan.programs),
        guards=straight.guards,
        bounds=straight.bounds,
        dot_operands=kernel.attributes.dot_operands,
        dot_precision=kernel.attributes.dot_precision or "ieee",
    )
    lower.block(blocking, kernel.body.statements)
    return blocking, counts


def _loaded_names(lets: Mapping[int, Let]) -> dict[int, str]:
    """The author's names of loaded values, which stand on the conversions."""
    names: dict[int, str] = {}
    for let in lets.values():
        if isinstance(let.operation, Cast) and isinstance(let.operation.operand, Value) and let.results[0].name:
            names.setdefault(let.operation.operand.id, let.results[0].name)
    return names


def _bound_names(straight: Straight) -> dict[int, str]:
    """Names for bounds of loops that differ from row to row, and for what says which iterations count."""
    names: dict[int, str] = {}
    for own in straight.bounds.values():
        counter = own.counter.name or "iteration"
        if isinstance(own.start, Value) and straight.analyses.axes[own.start.id].outer:
            names[own.start.id] = f"first_{counter}"
        if isinstance(own.stop, Value) and straight.analyses.axes[own.stop.id].outer:
            names[own.stop.id] = f"{counter}_stop"
        elif own.before is not None:
            names[own.before.id] = f"is_{counter}"
        names[own.valid.id] = "counts"
    return names
