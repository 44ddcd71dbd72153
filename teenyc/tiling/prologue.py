"""Prologues: a kernel and its plan go in; out comes what all programs along a blocked axis compute alike in a loop.

Such a number is made of the loop's counter, of indices of programs along other axes, and of memory that the kernel does
not write. Where a tensor is loaded for nothing else, a kernel that runs before computes it once for each iteration:
then the loop loads one number in the place of the tensor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

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
        self.inside = {v.id for s in loop.body.statements if isinstance(s, Let) for v in s.results}
        self.blocked = frozenset(axis.id for axis in plan.programs)
        self.frontier = tuple(self.met())
        self.range = range_of(kernel, loop, self.slices, self.blocked)

    def found(self) -> Prologue | tuple[Refusal, ...]:
        candidates = self.worthwhile(tuple(v for v in self.frontier if self.is_reduced(v)))
        reasons = {v: self.reason(v) for v in candidates}
        values = self.worthwhile(tuple(v for v in candidates if not reasons[v]))
        if values:
            return self.prologue(values)
        refused = ((v, reason) for v, reason in reasons.items() if reason)
        return tuple(Refusal(reason, self.slices.lets[v.id].span, subject=v.name) for v, reason in refused)

    def prologue(self, values: tuple[Value, ...]) -> Prologue:
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
            loads=tuple(sorted(self.gone(values, values).values())),
            axis=self.plan.programs[0].id,
            axes=tuple(sorted(axes)),
            start=self.range.start,
            extent=self.range.extent,
        )

    # ---- what is common to all programs -----------------------------------------------------------------------------

    def met(self) -> Iterator[Value]:
        """What is the same for all programs along the blocked axes, and meets in an iteration what is not."""
        used = {o.id: o for o in self.loop.body.yields if isinstance(o, Value)}
        for statement in self.loop.body.statements:
            if not (isinstance(statement, Let) and all(self.is_common(v) for v in statement.results)):
                used |= {o.id: o for o in _operands(statement) if isinstance(o, Value)}
        inside = (v for s in self.loop.body.statements if isinstance(s, Let) for v in s.results)
        return (v for v in inside if v.id in used and self.is_common(v))

    def is_common(self, operand: Operand) -> bool:
        made = self.slices.made(operand)
        return made is not None and made.axes.isdisjoint(self.blocked)

    def is_reduced(self, value: Value) -> bool:
        """Whether an iteration makes one number of tensors that it loads."""
        made = self.slices.made(value)
        return _is_number(value) and made is not None and made.counts and bool(self.tensors([value]))

    def tensors(self, values: Collection[Operand]) -> dict[int, int]:
        """The tensors that an iteration loads for some values, by the first that is loaded alike."""
        return {
            self.slices.twins[id]: id
            for id, let in sorted(self.slices.slice(values).items(), reverse=True)
            if id in self.inside and _is_load(let) and not _is_number(let.results[0])
        }

    def worthwhile(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """Those of some values without which the loop loads fewer tensors, if others stay in it."""
        while True:
            kept = tuple(v for v in values if self.gone(values, [v]))
            if kept == values:
                return values
            values = kept

    def gone(self, values: tuple[Value, ...], of: Collection[Value]) -> dict[int, int]:
        """The tensors of some values that are loaded for nothing else than values that leave the loop."""
        kept = self.tensors([v for v in self.frontier if v not in values])
        return {first: id for first, id in self.tensors(of).items() if first not in kept}

    # ---- what keeps them in the loop --------------------------------------------------------------------------------

    def reason(self, value: Value) -> str:
        """Why all programs compute a number alike; nothing where none must."""
        if isinstance(self.range, str):
            return self.range
        if not self.range.extent.names | self.range.start.names <= self.known():
            return "which iterations there are depends on what a caller does not know"
        if any(isinstance(statement, Return) for statement in self.before()):
            return "some programs return before the loop"
        element = value.type.element if isinstance(value.type, TensorType) else None
        if element not in ELEMENTS and not isinstance(element, Compute):
            return f"it is of type `{element}`"
        loads = (let.operation for let in self.slices.slice([value]).values() if _is_load(let))
        roots = {self.slices.root(operands_of(load)[0]) for load in loads}
        changed = written(self.kernel, self.slices)
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
