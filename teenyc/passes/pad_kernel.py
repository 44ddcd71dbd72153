"""Pads one kernel: it and names of its constants go in, the kernel with larger axes and masks comes out.

What must be masked or filled is planned by `ir.pad`; here the plans are carried out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Attribute,
    Binary,
    Block,
    Call,
    Compare,
    Constant,
    ExpandDims,
    Kernel,
    Let,
    Literal,
    Operand,
    Operation,
    Statement,
    Value,
)
from teenyc.ir.pad.analysis import Padding, padding
from teenyc.ir.pad.plan import Neutral, Plan, Repair, element_of, number_of, shape_of
from teenyc.record import replace
from teenyc.source import Comments, Span
from teenyc.types import BOOL, I32, ONE, Extent, Quotient, Shape, TensorType, Type, broadcast, scalar


def padded(kernel: Kernel, names: Collection[str], ids: Iterator[int]) -> Kernel:
    """The kernel with the constants `names` padded wherever they are extents; `ids` gives the ids of new values."""
    found = padding(kernel, names)
    used = {n for value in walk.values_of(kernel) for extent in shape_of(value) for n in extent.names}
    padder = _Padder(found, ids, kernel.span)
    body = padder.block(kernel.body)
    return replace(
        kernel,
        body=replace(body, statements=(*padder.prelude, *body.statements)),
        requirements=found.pads.requirements(kernel.requirements),
        padded=tuple(p for name, p in found.pads.constants.items() if name in used),
    )


class _Padder:
    """One kernel; `lanes` holds the mask of each extent, which the prelude computes."""

    def __init__(self, padding: Padding, ids: Iterator[int], span: Span) -> None:
        self.pads, self.plans, self.ids, self.span = padding.pads, iter(padding.plans), ids, span
        self.lanes: dict[Extent, Value] = {}
        self.prelude: list[Let] = []
        self.values: dict[int, Value] = {}

    # ---- statements -------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            if isinstance(statement, Let):
                statements.extend(self.let(statement))
                continue
            new = walk.map_definitions(walk.map_operands(statement, self.operand), self.value)
            statements.append(walk.map_blocks(new, self.block))
        return Block(statements=tuple(statements), yields=tuple(map(self.operand, block.yields)))

    def let(self, let: Let) -> Iterator[Let]:
        plan = next(self.plans)
        assert plan.refusal is None, f"the checker refuses what cannot be padded: {plan.refusal}"
        made: list[Let] = []
        operation = walk.map_operation(let.operation, self.operand)
        for repair in plan.repairs:
            operation = self.repaired(let, operation, repair, made)
        if isinstance(operation, Call):
            operation = self.call(let, operation, plan, made)
        new = replace(let, results=tuple(map(self.value, let.results)), operation=operation)
        yield from made
        yield from (new,) if plan.limited is None else self.limited(new, *plan.limited)

    def operand(self, operand: Operand) -> Operand:
        return self.value(operand) if isinstance(operand, Value) else operand

    def value(self, value: Value) -> Value:
        """The value with padded axes."""
        if not self.pads.axes(shape_of(value)):
            return value
        if value.id not in self.values:
            assert isinstance(value.type, TensorType), "descriptors are lowered before"
            type = replace(value.type, shape=self.pads.shape(value.type.shape))
            self.values[value.id] = replace(value, type=type)
        return self.values[value.id]

    # ---- repairs ----------------------------------------------------------------------------------------------------

    def repaired(self, let: Let, operation: Operation, repair: Repair, made: list[Let]) -> Operation:
        """The operation with an operand whose padding lanes are filled."""
        source = _slot(let.operation, repair.operand)
        number = Literal(repair.number, scalar(element_of(source)))
        lanes = self.mask(shape_of(source), repair.axes, let.span, made)
        operands = (("condition", lanes), ("x", self.operand(source)), ("y", number))
        filled = self.define(Call(intrinsic="where", operands=operands), self.operand(source).type, let.span, made)
        if isinstance(operation, Call):
            pairs = ((n, filled if n == repair.operand else o) for n, o in operation.operands)
            return replace(operation, operands=tuple(pairs))
        assert isinstance(operation, Binary), "only divisors are repaired elsewhere"
        return replace(operation, right=filled)

    def limited(self, let: Let, index: int, extent: Extent) -> Iterator[Let]:
        """The statement with one result kept below an extent."""
        result = let.results[index]
        raw = Value(next(self.ids), result.type)
        yield replace(let, results=(*let.results[:index], raw, *let.results[index + 1 :]))
        made: list[Let] = []
        last = self.computed("sub", self.number(extent, made), Literal(1, scalar(I32)), made)
        yield from made
        least = Call(intrinsic="minimum", operands=(("x", raw), ("y", last)))
        yield Let(results=(result,), operation=least, span=let.span)

    # ---- calls ------------------------------------------------------------------------------------------------------

    def call(self, let: Let, call: Call, plan: Plan, made: list[Let]) -> Call:
        """The call with padded extents, its access masked, and what is dropped left out."""
        attributes = tuple((n, self.attribute(call, n, a)) for n, a in call.attributes if n not in plan.dropped)
        operands = {n: o for n, o in call.operands if n not in plan.dropped}
        if plan.guarded:
            lanes = self.mask(_accessed(let, call), plan.guarded, let.span, made)
            mask = operands.get("mask")
            operands["mask"] = lanes if mask is None else self.both(lanes, mask, let.span, made)
        if call.intrinsic == "load" and self.pads.axes(shape_of(let.results[0])):
            zero = number_of(Neutral.ZERO, element_of(let.results[0]))
            if zero is not None:  # there is no pointer to stand for one that is not loaded
                operands.setdefault("other", Literal(zero, scalar(element_of(let.results[0]))))
        return Call(intrinsic=call.intrinsic, operands=_in_order(call, operands), attributes=attributes)

    def attribute(self, call: Call, name: str, attribute: Attribute) -> Attribute:
        """An attribute with padded extents: shapes, the number of bins, and the end of a range."""
        match call.intrinsic, name, attribute:
            case (_, "shape", tuple()):
                return tuple(self.pads.extent(e) if isinstance(e, Extent) else e for e in attribute)  # type: ignore[return-value]
            case ("histogram", "num_bins", Extent()):
                return self.pads.extent(attribute)
            case ("arange" | "arange_f32", "end", Extent()):
                start = call.attribute("start", 0)
                first = start if isinstance(start, Extent) else Extent.of(start if isinstance(start, int) else 0)
                return first + self.pads.extent(attribute - first)
            case _:
                return attribute

    # ---- masks ------------------------------------------------------------------------------------------------------

    def mask(self, shape: Shape, axes: tuple[int, ...], span: Span, made: list[Let]) -> Operand:
        """Where a shape has true lanes along some axes; the extents of the others are 1."""
        first, *others = (self.expanded(shape[axis], axis, len(shape), span, made) for axis in axes)
        total: Operand = first
        for lanes in others:
            total = self.both(total, lanes, span, made)
        return total

    def expanded(self, extent: Extent, axis: int, rank: int, span: Span, made: list[Let]) -> Operand:
        """The true lanes of an extent as one axis of several."""
        lanes = self.true_lanes(extent)
        if rank == 1:
            return lanes
        others = tuple(n for n in range(rank) if n != axis)
        shape = tuple(self.pads.extent(extent) if n == axis else ONE for n in range(rank))
        return self.define(ExpandDims(operand=lanes, axes=others), TensorType(BOOL, shape), span, made)

    def both(self, one: Operand, other: Operand, span: Span, made: list[Let]) -> Operand:
        shape = broadcast(shape_of(one), shape_of(other))
        assert shape is not None, "masks of one access meet"
        return self.define(Binary(operator="and", left=one, right=other), TensorType(BOOL, shape), span, made)

    def true_lanes(self, extent: Extent) -> Value:
        """`lane < extent`, computed once: true everywhere if padding added nothing, which Triton sees."""
        if extent in self.lanes:
            return self.lanes[extent]
        padded, made, span = self.pads.extent(extent), self.prelude, self.span
        ends: tuple[tuple[str, Attribute], ...] = (("start", 0), ("end", padded))
        lane = self.define(Call(intrinsic="arange", attributes=ends), TensorType(I32, (padded,)), span, made)
        mask = TensorType(BOOL, (padded,))
        number = self.number(extent, made)
        inside = self.define(Compare(operator="lt", left=lane, right=number), mask, span, made)
        whole = self.whole(extent)
        lanes = Value(next(self.ids), mask, _lanes_name(extent))
        comments = Comments((f"Lanes from `{extent}` on are padding.",))
        operation = Binary(operator="or", left=inside, right=whole)
        made.append(Let(results=(lanes,), operation=operation, span=span, comments=comments))
        self.lanes[extent] = lanes
        return lanes

    def whole(self, extent: Extent) -> Operand:
        """Whether no axis of that extent has padding."""
        made = self.prelude
        total: Operand | None = None
        for name in sorted(extent.names & self.pads.constants.keys()):
            names = (self.pads.constants[name].name, name)
            left, right = (Constant(n, scalar(I32)) for n in names)
            equal = self.define(Compare(operator="eq", left=left, right=right), scalar(BOOL), self.span, made)
            total = equal if total is None else self.both(total, equal, self.span, made)
        assert total is not None, "the extent is padded"
        return total

    def number(self, extent: Extent, made: list[Let]) -> Operand:
        """The true extent as a number of the kernel."""
        ((monomial, coefficient),) = extent.terms
        total: Operand = Literal(coefficient, scalar(I32))
        for atom in monomial:
            factor = self.quotient(atom, made) if isinstance(atom, Quotient) else Constant(atom, scalar(I32))
            total = factor if total == Literal(1, scalar(I32)) else self.computed("mul", total, factor, made)
        return total

    def quotient(self, atom: Quotient, made: list[Let]) -> Operand:
        return self.computed("div", self.number(atom.numerator, made), self.number(atom.denominator, made), made)

    def computed(self, operator: str, left: Operand, right: Operand, made: list[Let]) -> Operand:
        return self.define(Binary(operator=operator, left=left, right=right), scalar(I32), self.span, made)

    def define(self, operation: Operation, type: Type, span: Span, made: list[Let]) -> Value:
        """A new value by an operation at the end of `made`."""
        value = Value(next(self.ids), type)
        made.append(Let(results=(value,), operation=operation, span=span))
        return value


def _lanes_name(extent: Extent) -> str:
    """`head_dim_lanes`, and `lanes_head_dim_by_2` for half of it."""
    text = str(extent)
    if text.isidentifier():
        return f"{text.lower()}_lanes"
    words = text.replace("*", "times").replace("/", "by").lower()
    return "_".join(("lanes", *re.findall(r"\w+", words)))


def _slot(operation: Operation, name: str) -> Operand:
    """The operand that a repair names."""
    if isinstance(operation, Call):
        return dict(operation.operands)[name]
    assert isinstance(operation, Binary), "only divisors are repaired elsewhere"
    return operation.right


def _accessed(let: Let, call: Call) -> Shape:
    """The shape of an access as the source has it."""
    if call.intrinsic == "load":
        return shape_of(let.results[0])
    assert isinstance(let.operation, Call), "only calls access memory"
    return shape_of(let.operation.operand("pointer") or let.operation.operand("input"))


def _in_order(call: Call, operands: Mapping[str, Operand]) -> tuple[tuple[str, Operand], ...]:
    """Operands in the order of the record; those of a variadic parameter keep theirs."""
    from teenyc.intrinsics import TABLE

    order = {param.name: index for index, param in enumerate(TABLE[call.intrinsic].params)}
    return tuple(
        sorted(operands.items(), key=lambda pair: order.get(pair[0], order.get(pair[0].rstrip("0123456789"), 0)))
    )
