"""Parts: a kernel and its plan go in; out comes the loop whose iterations several programs may share, and their kernel.

Each of these programs makes a part of the iterations, from values that change nothing, and stores what it carries.
Since the laws of what is carried hold for any order, a kernel that runs behind (`tiling.joined`) joins the parts by
them: what is known as split-K of a product of matrices, and of attention as flash-decoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.ir.nodes import (
    Attributes,
    Binary,
    Block,
    Call,
    Carried,
    Cast,
    Constant,
    ConstantParameter,
    Copy,
    ExpandDims,
    For,
    Kernel,
    Let,
    Literal,
    Offset,
    Operand,
    Parameter,
    Statement,
    Value,
    While,
)
from teenyc.ir.walk import statements_of, uses, values_of
from teenyc.record import replace
from teenyc.tiling.choose import free_name
from teenyc.tiling.identities import has_worst, identity_of, worst_of
from teenyc.tiling.normal import normal
from teenyc.tiling.plan import AXES, Extremum, Fold, Law, LoopPlan, Parts, Plan, Refusal, Sum, Unchanged
from teenyc.tiling.room import is_of_row
from teenyc.tiling.scratch import Writer, element_of, fresh_ids, trimmed
from teenyc.tiling.slices import is_repeatable
from teenyc.tiling.state import shape_of
from teenyc.types import F32, F64, I32, I64, Compute, Element, Extent, Pointer, Shape, is_float, scalar

ELEMENTS = (F32, F64, I32, I64)
"""What memory between two kernels may hold, beside what `D` is computed in: types that every tensor can be made of."""

INDICES = ("program_id", "num_programs")

FEWEST = 512
"""A loop that is known to run fewer times than this is not shared: a launch of two kernels takes longer."""

ALIGNED = 16
"""A part begins at a multiple of so many iterations, as far as loads go that look at how addresses are aligned."""


# ---- which loop -----------------------------------------------------------------------------------------------------


def parts_of(kernel: Kernel, plan: Plan) -> Parts | Refusal | None:
    """The loop that several programs may share, or why they may not; nothing where no loop hands on values."""
    carrying = [each for each in plan.loops if any(not isinstance(law, Unchanged) for law in each.laws)]
    if not carrying:
        return None
    loop_plan = carrying[0]
    loop = next((s for s in kernel.body.statements if _is_loop(s, loop_plan)), None)
    if not isinstance(loop, For):
        return _refused(loop_plan, "it stands in a branch or in another loop")
    others = [s for _, s in statements_of(kernel.body) if isinstance(s, For | While) and s is not loop]
    reason = "the kernel has another loop" if others else _reason(kernel, loop, loop_plan)
    if reason:
        return _refused(loop_plan, reason)
    axis = next((a for a in reversed(range(AXES)) if a not in _axes(kernel)), None)
    if axis is None:
        return _refused(loop_plan, "the kernel uses all axes of the grid")
    values = tuple(n for n, law in enumerate(loop_plan.laws) if not isinstance(law, Unchanged))
    count = free_name(kernel, "SPLIT")
    names: list[str] = []
    for n in values:
        taken = {*names, count, *(v.name for v in values_of(kernel))}
        names.append(free_name(kernel, f"{loop.carried[n].result.name or 'value'}_parts", taken))
    return Parts(
        loop=loop.counter.id,
        axis=axis,
        axes=tuple(sorted(_axes(kernel))),
        count=count,
        values=values,
        names=tuple(names),
        lanes=tuple(shape_of(loop.carried[n].result) for n in values),
    )


def _is_loop(statement: Statement, plan: LoopPlan) -> bool:
    return isinstance(statement, For) and statement.counter.id == plan.axis.id


def _refused(plan: LoopPlan, reason: str) -> Refusal:
    return Refusal(reason, plan.axis.span, subject=plan.axis.name)


def _axes(kernel: Kernel) -> frozenset[int]:
    """The axes of the grid that a kernel asks for."""
    calls = (s.operation for _, s in statements_of(kernel.body) if isinstance(s, Let) and isinstance(s.operation, Call))
    asked = (c.attribute("axis", 0) for c in calls if c.intrinsic in INDICES)
    return frozenset(axis for axis in asked if isinstance(axis, int))


def _reason(kernel: Kernel, loop: For, plan: LoopPlan) -> str:
    """Why programs may not share a loop that stands alone in its kernel; nothing where they may."""
    if plan.stores:
        return "it stores in every iteration"
    if element_of(loop.counter.type) not in (I32, I64) or loop.inclusive:
        return f"it counts in `{element_of(loop.counter.type)}`"
    if _trips(loop) < FEWEST:
        return "it is short"
    for statement in kernel.body.statements:
        if statement is loop:
            break
        operation = statement.operation if isinstance(statement, Let) else None
        is_index = isinstance(operation, Call) and operation.intrinsic in ("program_id", "num_programs")
        if not isinstance(statement, Let) or (
            isinstance(operation, Call) and not (is_index or is_repeatable(operation))
        ):
            return "what stands before it is not computed twice"
    for carried, law in zip(loop.carried, plan.laws, strict=True):
        element, shape = element_of(carried.result.type), shape_of(carried.result)
        if not isinstance(law, Unchanged) and element not in ELEMENTS and not isinstance(element, Compute):
            return f"`{carried.inside.name}` is of type `{element}`"
        if len(shape) > 1:
            return f"`{carried.inside.name}` has two axes of its own"
        if isinstance(law, Extremum) and law.propagates_nan:
            return f"`{carried.inside.name}` passes NaN on"
        if isinstance(law, Extremum) and not has_worst(element):
            return f"`{carried.inside.name}` is of type `{element}`"
    return ""


def _is_twice(statement: Statement) -> bool:
    """Whether a statement does in two kernels what it does in one."""
    match statement:
        case Let(operation=Call(intrinsic=name) as call):
            return name in INDICES or is_repeatable(call)
    return isinstance(statement, Let)


def _trips(loop: For) -> int:
    """How often a loop runs, where that is known; elsewhere often enough."""
    bounds = [int(b.value) for b in (loop.start, loop.stop, loop.step) if isinstance(b, Literal)]
    return len(range(*bounds)) if len(bounds) == 3 and bounds[2] else FEWEST


# ---- the kernel of the parts ----------------------------------------------------------------------------------------


def parts(kernel: Kernel, plan: Parts, laws: tuple[Law, ...]) -> Kernel:
    """The kernel whose programs each make a part of the iterations, still as if for one row."""
    loop = loop_of(kernel, plan)
    ids = fresh_ids(kernel)
    memory = memory_for(plan, loop, ids)
    statements: list[Statement] = list(kernel.body.statements[: kernel.body.statements.index(loop)])
    writer = PartWriter(with_count(kernel, plan), statements, statements, ids, loop.span)
    index = Call(intrinsic="program_id", attributes=(("axis", plan.axis),))
    part = writer.let(index, I32, name="part")
    start, stop = _bounds(writer, plan, loop, part)
    carried = tuple(
        each if isinstance(law, Unchanged) else _from_neutral(writer, each, law)
        for each, law in zip(loop.carried, laws, strict=True)
    )
    statements.append(replace(loop, start=start, stop=stop, carried=carried))
    place = writer.place(plan, part)
    for n, parameter in zip(plan.values, memory, strict=True):
        result = loop.carried[n].result
        pointer = writer.address(parameter.value, place, shape_of(result))
        call = Call(intrinsic="store", operands=(("pointer", pointer), ("value", result)))
        statements.append(Let(results=(), operation=call, span=loop.span))
    made = replace(
        with_count(kernel, plan),
        name=f"{kernel.name}_parts",
        doc=_doc(kernel, loop, plan),
        parameters=(*kernel.parameters, *memory),
        body=Block(statements=_needed(tuple(statements))),
        attributes=Attributes(
            tile=kernel.attributes.tile,
            dot_operands=kernel.attributes.dot_operands,
            dot_precision=kernel.attributes.dot_precision,
        ),
    )
    made = trimmed(made, memory)
    lets = {v.id: s for s in kernel.body.statements if isinstance(s, Let) for v in s.results}
    return normal(made) if any(is_of_row(bound, lets) for bound in (loop.start, loop.stop)) else made


def _doc(kernel: Kernel, loop: For, plan: Parts) -> str:
    """What the kernel is, by names of the source."""
    of = f"over `{loop.counter.name}`" if loop.counter.name else "of its loop"
    return f"What `{kernel.name}` sums up in one of `{plan.count}` parts of its iterations {of}."


def _needed(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """The statements that stores and the loop need."""
    while True:
        read = uses(Block(statements=statements))
        kept = tuple(
            s for s in statements if not (isinstance(s, Let) and s.results) or any(read[v.id] for v in s.results)
        )
        if len(kept) == len(statements):
            return kept
        statements = kept


def _bounds(writer: PartWriter, plan: Parts, loop: For, part: Value) -> tuple[Operand, Operand]:
    """Where a part of the iterations starts and stops."""
    element = element_of(loop.counter.type)
    is_one = isinstance(loop.step, Literal) and loop.step.value == 1
    starts_at_0 = isinstance(loop.start, Literal) and loop.start.value == 0
    count: Operand = writer.let(Cast(operand=loop.stop), I64, name="iterations" if starts_at_0 and is_one else "")
    if not starts_at_0:
        how = Binary(operator="sub", left=count, right=writer.wide(loop.start))
        count = writer.let(how, I64, name="iterations" if is_one else "")
    step = writer.wide(loop.step)
    if not is_one:
        count = writer.let(_call("cdiv", "x", count, "div", step), I64, name="iterations")
    aligned = Literal(ALIGNED, scalar(I64))
    split = writer.wide(Constant(plan.count, scalar(I32)))
    each = writer.let(_call("cdiv", "x", count, "div", split), I64)
    each = writer.let(_call("cdiv", "x", each, "div", aligned), I64)
    each = writer.let(Binary(operator="mul", left=each, right=aligned), I64, name="part_length")
    first = writer.let(Binary(operator="mul", left=writer.wide(part), right=each), I64)
    first = writer.let(_call("minimum", "x", first, "y", count), I64, name="part_start")
    last = writer.let(Binary(operator="add", left=first, right=each), I64)
    last = writer.let(_call("minimum", "x", last, "y", count), I64, name="part_stop")
    name = loop.counter.name or "iteration"
    bounds: list[Operand] = []
    for bound, label in ((first, f"first_{name}"), (last, f"{name}_stop")):
        if not is_one:
            bound = writer.let(Binary(operator="mul", left=bound, right=step), I64)
        if not starts_at_0:
            bound = writer.let(Binary(operator="add", left=writer.wide(loop.start), right=bound), I64)
        if not is_one:  # a step may pass the stop
            bound = writer.let(_call("minimum", "x", bound, "y", writer.wide(loop.stop)), I64)
        bounds.append(bound if element == I64 else writer.let(Cast(operand=bound), element, name=label))
    return bounds[0], bounds[1]


def _from_neutral(writer: PartWriter, carried: Carried, law: Law) -> Carried:
    """What is carried, from a value that changes nothing."""
    element, shape = element_of(carried.inside.type), shape_of(carried.inside)
    number = Literal(neutral_of(element, law), scalar(element))
    if not shape:
        return replace(carried, initial=number)
    given = () if number.value == 0 else (("value", number),)
    call = Call(
        intrinsic="full" if given else "zeros", operands=given, attributes=(("shape", shape), ("dtype", element))
    )
    return replace(carried, initial=writer.let(call, element, shape))


def neutral_of(element: Element, law: Law) -> int | float | bool:
    """The number that a law leaves others unchanged with."""
    match law:
        case Extremum():
            return worst_of(element, law.intrinsic)
        case Fold():
            return identity_of(element, law.operator)
        case Sum() | Unchanged():
            return 0.0 if is_float(element) else 0


def _call(intrinsic: str, one: str, left: Operand, other: str, right: Operand) -> Call:
    return Call(intrinsic=intrinsic, operands=((one, left), (other, right)))


# ---- memory between the kernels -------------------------------------------------------------------------------------


class PartWriter(Writer):
    """Writes where in memory the values of parts are: `((z * num_programs(y) + y) * SPLIT + part) * lanes + lane`."""

    def place(self, plan: Parts, part: Operand) -> Value:
        """The place of a part, or of several, among all."""
        shape = shape_of(part)
        wide = self.let(Cast(operand=part), I64, shape, "" if plan.axes else "place")
        if not plan.axes:
            return wide
        split = self.wide(Constant(plan.count, scalar(I32)))
        first = self.let(Binary(operator="mul", left=self.program(plan.axes), right=split), I64)
        return self.let(Binary(operator="add", left=first, right=wide), I64, shape, "place")

    def address(self, pointer: Value, place: Value, lanes: Shape) -> Value:
        """The address of a value of parts, with an axis for its lanes."""
        shape = shape_of(place)
        if lanes:
            (extent,) = lanes
            place = self.let(Binary(operator="mul", left=place, right=self.number(extent, I64)), I64, shape)
            if shape:
                place = self.let(ExpandDims(operand=place, axes=(1,)), I64, (*shape, Extent.of(1)))
            lane = self.let(Cast(operand=self.lanes(extent)), I64, lanes)
            shape = (*shape, *lanes)
            place = self.let(Binary(operator="add", left=place, right=lane), I64, shape)
        return self.let(Offset(pointer=pointer, offset=place), element_of(pointer.type), shape)

    def lanes(self, extent: Extent) -> Value:
        """The lanes of an extent, the author's where there are some."""
        ranges = (("start", Extent.of(0)), ("end", extent))
        for let in (*self.before, *self.statements):
            call = let.operation if isinstance(let, Let) else None
            if isinstance(call, Call) and (call.intrinsic, call.attributes) == ("arange", ranges):
                assert isinstance(let, Let), "it defines lanes"
                return let.results[0]
        return self.let(Call(intrinsic="arange", attributes=ranges), I32, (extent,))


def with_count(kernel: Kernel, plan: Parts) -> Kernel:
    """The kernel with a constant for how many parts there are."""
    count = ConstantParameter(name=plan.count, type=scalar(I32), span=kernel.span)
    return replace(kernel, constants=(*kernel.constants, count))


def loop_of(kernel: Kernel, plan: Parts) -> For:
    return next(s for s in kernel.body.statements if isinstance(s, For) and s.counter.id == plan.loop)


def memory_for(plan: Parts, loop: For, ids: Iterator[int]) -> tuple[Parameter, ...]:
    """The parameters that are pointers to what the parts carry."""
    elements = (element_of(loop.carried[n].result.type) for n in plan.values)
    return tuple(
        Parameter(value=Value(next(ids), scalar(Pointer(element)), name), span=loop.span)
        for name, element in zip(plan.names, elements, strict=True)
    )


def known_number(operand: Operand, lets: Mapping[int, Let]) -> int | float | bool | None:
    """The number that all elements of an operand are, where that is known."""
    if isinstance(operand, Literal):
        return operand.value
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    operation = let.operation if let is not None else None
    if isinstance(operation, Call) and operation.intrinsic == "zeros":
        return 0
    if isinstance(operation, Call) and operation.intrinsic == "full":
        return known_number(operation.operands[0][1], lets)
    return known_number(operation.operand, lets) if isinstance(operation, Copy | Cast) else None
