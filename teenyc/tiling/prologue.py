"""Prologues: a kernel and its plan go in; out comes what all programs along a blocked axis compute alike in a loop.

Such a number is made of the loop's counter, of indices of programs along other axes, and of memory that the kernel does
not write. Where a tensor is loaded for nothing else, a kernel that runs before computes it once for each iteration:
then the loop loads one number in the place of the tensor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from teenyc.ir.nodes import Call, For, Kernel, Let, Operand, Return, Statement, Value
from teenyc.ir.walk import all_operands, blocks_of, operands_of, statements_of, values_of
from teenyc.tiling.choose import free_name
from teenyc.tiling.plan import LoopPlan, Plan, Prologue, Refusal
from teenyc.tiling.slices import Slices, written
from teenyc.tiling.trips import Range, range_of
from teenyc.types import F32, F64, I32, I64, Compute, TensorType

ELEMENTS = (F32, F64, I32, I64)
"""What memory between two kernels may hold, beside what `D` is computed in: types that every tensor can be made of."""


def prologue_of(kernel: Kernel, plan: Plan) -> Prologue | tuple[Refusal, ...]:
    """What a kernel before the blocked one is to compute; or what it might, and why it does not."""
    refusals: list[Refusal] = []
    for loop_plan in plan.loops if plan.programs else ():
        loop = next((s for s in kernel.body.statements if _is_loop(s, loop_plan)), None)
        if isinstance(loop, For):
            found = _Search(kernel, plan, loop).found()
            if isinstance(found, Prologue):
                return found
            refusals += found
    return tuple(refusals)


def _is_loop(statement: Statement, plan: LoopPlan) -> bool:
    return isinstance(statement, For) and statement.counter.id == plan.axis.id


class _Search:
    """The search in one loop, which no branch and no other loop is around."""

    def __init__(self, kernel: Kernel, plan: Plan, loop: For) -> None:
        self.kernel, self.plan, self.loop = kernel, plan, loop
        self.slices = Slices.of(kernel, loop)
        self.inside = tuple(v for s in loop.body.statements if isinstance(s, Let) for v in s.results)
        self.blocked = frozenset(axis.id for axis in plan.programs)
        self.met = tuple(v for v in self.used() if self.is_common(v))
        self.range = range_of(kernel, loop, self.slices, self.blocked)

    def found(self) -> Prologue | tuple[Refusal, ...]:
        numbers = tuple(v for v in self.inside if self.is_reduced(v))
        if not numbers:
            return ()
        whole, changed = self.reason(), written(self.kernel, self.slices)
        reasons = {v: whole or self.reason_of(v, changed) for v in numbers}
        values, kept = self.leaving(tuple(v for v in numbers if not reasons[v]))
        if values:
            return self.prologue(values, kept)
        refused = [v for v in self.leaving(numbers)[0] if reasons[v]]
        return tuple(Refusal(reasons[v], self.slices.lets[v.id].span, subject=v.name) for v in refused)

    def prologue(self, values: tuple[Value, ...], kept: Collection[int]) -> Prologue:
        assert isinstance(self.range, Range), "which iterations there are is known"
        axes = frozenset[int]().union(*(made.axes for v in values if (made := self.slices.made(v))))
        names: list[str] = []
        for value in values:
            taken = {*names, *(v.name for v in values_of(self.kernel))}
            names.append(free_name(self.kernel, f"{value.name or 'value'}_rows", taken))
        return Prologue(
            loop=self.loop.counter.id,
            values=tuple(v.id for v in values),
            names=tuple(names),
            loads=tuple(sorted(self.gone(values, kept).values())),
            axis=self.plan.programs[0].id,
            axes=tuple(sorted(axes)),
            start=self.range.start,
            extent=self.range.extent,
        )

    # ---- what is common to all programs -----------------------------------------------------------------------------

    def used(self) -> Iterator[Value]:
        """What meets in an iteration what is not the same for all programs along the blocked axes."""
        yield from (o for o in self.loop.body.yields if isinstance(o, Value))
        for statement in self.loop.body.statements:
            if not (isinstance(statement, Let) and all(self.is_common(v) for v in statement.results)):
                yield from (o for o in _operands(statement) if isinstance(o, Value))

    def is_common(self, operand: Operand) -> bool:
        made = self.slices.made(operand)
        return made is not None and made.axes.isdisjoint(self.blocked)

    def is_reduced(self, value: Value) -> bool:
        """Whether an iteration makes one number, the same for all programs, of tensors that it loads."""
        made = self.slices.made(value) if _is_number(value) and self.is_common(value) else None
        is_made = made is not None and made.counts and made.loads
        return is_made and bool(self.tensors(self.slices.slice([value])))

    def tensors(self, lets: Mapping[int, Let]) -> dict[int, int]:
        """The tensors that an iteration loads in some definitions, by the first that is loaded alike."""
        inside = (v.id for v in reversed(self.inside) if v.id in lets and not _is_number(v))
        return {self.slices.twins[id]: id for id in inside if _is_load(lets[id])}

    def leaving(self, numbers: tuple[Value, ...]) -> tuple[tuple[Value, ...], dict[int, int]]:
        """Those of some numbers without which the loop loads fewer tensors, and what it still loads.

        Of numbers that are made of one another the last leave: what the loop makes of them it makes of what it loads.
        """
        while True:
            kept = self.slices.slice(self.met, until={v.id for v in numbers})
            read = {
                o.id
                for o in (*self.met, *(o for let in kept.values() for o in operands_of(let)))
                if isinstance(o, Value)
            }
            tensors = self.tensors(kept)
            idle = [v for v in numbers if v.id in read and not self.gone([v], tensors)]
            if not idle:
                return tuple(v for v in numbers if v.id in read), tensors
            numbers = tuple(v for v in numbers if v not in idle)

    def gone(self, values: Collection[Value], kept: Collection[int]) -> dict[int, int]:
        """The tensors of some values that a loop does not load any more, but for those that it keeps."""
        return {first: id for first, id in self.tensors(self.slices.slice(values)).items() if first not in kept}

    # ---- what keeps them in the loop --------------------------------------------------------------------------------

    def reason(self) -> str:
        """Why no number may be computed before; nothing where all may."""
        if isinstance(self.range, str):
            return self.range
        if not self.range.extent.names | self.range.start.names <= self.known():
            return "which iterations there are depends on what a caller does not know"
        if any(isinstance(statement, Return) for statement in self.before()):
            return "some programs return before the loop"
        return ""

    def reason_of(self, value: Value, changed: frozenset[str]) -> str:
        """Why a number may not; `changed` are the parameters to whose memory the kernel writes."""
        element = value.type.element if isinstance(value.type, TensorType) else None
        if element not in ELEMENTS and not isinstance(element, Compute):
            return f"it is of type `{element}`"
        loads = (let.operation for let in self.slices.slice([value]).values() if _is_load(let))
        roots = {self.slices.root(operands_of(load)[0]) for load in loads}
        if "" in changed or "" in roots:
            return "what it is made of may be written in this kernel"
        return next(
            (f"`{name}`, which it is made of, is written in this kernel" for name in sorted(changed & roots)), ""
        )

    def known(self) -> frozenset[str]:
        """What a launch knows: padded constants are made in the kernel."""
        return frozenset([*(p.name for p in self.kernel.parameters), *(c.name for c in self.kernel.constants)])

    def before(self) -> Iterator[Statement]:
        """The statements in front of the loop, and what is inside them."""
        for depth, statement in statements_of(self.kernel.body):
            if not depth and statement is self.loop:
                return
            yield statement


def _operands(statement: Statement) -> Iterator[Operand]:
    """All that a statement and what is inside it reads."""
    yield from operands_of(statement)
    for block in blocks_of(statement):
        yield from all_operands(block)


def _is_load(let: Let) -> bool:
    return isinstance(let.operation, Call) and let.operation.intrinsic == "load"


def _is_number(value: Value) -> bool:
    return isinstance(value.type, TensorType) and not value.type.shape
