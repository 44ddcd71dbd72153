"""Padded lanes: a kernel goes in; the numbers in the lanes that masks left out of its loads come out.

A load with `other` holds that number where its mask is false. Work lane by lane makes other numbers of it, which are
followed as far as they are known; what is not known, but is made of them, is `SOME` number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, assert_never

from teenyc.ir.fills import SOME, Number, folded
from teenyc.ir.lanes import Lanes, lanes_of
from teenyc.ir.masks import Condition, Conditions, Masks, moved, shape_of
from teenyc.ir.nodes import (
    Apply,
    Binary,
    Block,
    Call,
    Cast,
    Compare,
    Copy,
    ExpandDims,
    For,
    If,
    Kernel,
    Let,
    Literal,
    Offset,
    Operand,
    Operation,
    Return,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.ir.walk import operands_of
from teenyc.record import record
from teenyc.types import BOOL, TensorType


@record
class Padding:
    """The number in lanes where the conditions of a mask do not all hold, and the load that put its like there.

    Flags that became numbers come from no load: they are 0 where they do not hold.
    """

    number: Number
    load: Let | None


Paddings: TypeAlias = "Mapping[Conditions, Padding]"
NO_PADDING: Paddings = {}

MOST = 4
"""Of more masks than this in one value, the rest is left out."""


def paddings(kernel: Kernel, masks: Masks) -> Filled:
    """What is in the padded lanes of each value; what a branch gives has none."""
    filled = Filled(masks)
    filled.block(kernel.body)
    return filled


class Filled:
    """The paddings of values by id, and the numbers of those that hold one number in every lane."""

    def __init__(self, masks: Masks) -> None:
        self.masks = masks
        self.known: dict[int, Paddings] = {}
        self.numbers: dict[int, Number] = {}
        self.sums: dict[int, Binary] = {}

    def block(self, block: Block) -> None:
        for statement in block.statements:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Let():
                self.let(statement)
            case For():
                self.block(statement.body)
                self.carry(statement)
            case While():
                self.block(statement.condition)
                self.block(statement.body)
                self.carry(statement)
            case If():
                self.block(statement.then)
                self.block(statement.otherwise)
            case Return():
                pass
            case _:
                assert_never(statement)

    def carry(self, loop: For | While) -> None:
        """A value that each iteration adds padded lanes to, of which 0 was not made, holds `SOME` number there."""
        for carried, following in zip(loop.carried, loop.body.yields, strict=True):
            total = self.sums.get(following.id) if isinstance(following, Value) else None
            sides = (total.left, total.right) if total is not None else ()
            if not any(isinstance(side, Value) and side.id == carried.inside.id for side in sides):
                continue
            paddings = [p for side in sides for p in self.of(side).values() if p.load is not None]
            counted = next((p for p in paddings if p.number is SOME or p.number != 0), None)
            if counted is not None:
                earlier = frozenset({self.masks.stale(id(loop))})
                self.known[carried.result.id] = {earlier: Padding(SOME, counted.load)}

    def let(self, let: Let) -> None:
        operation = let.operation
        if len(let.results) != 1 or not isinstance(let.results[0].type, TensorType):
            return
        (value,) = let.results
        if isinstance(operation, Binary) and operation.operator == "add":
            self.sums[value.id] = operation
        if isinstance(operation, Call) and operation.intrinsic == "load":
            self.load(let, operation)
        elif is_lanewise(operation):
            self.number(value, operation)
            found = self.lanewise(value, operation)
            if found:
                self.known[value.id] = found

    def load(self, let: Let, call: Call) -> None:
        mask, other = call.operand("mask"), call.operand("other")
        if mask is None or other is None:
            return
        number = self.everywhere(other)
        conditions = self.masks.conditions(mask)
        if number is not None and conditions:
            self.known[let.results[0].id] = {conditions: Padding(number, let)}

    # ---- numbers that fill a value ----------------------------------------------------------------------------------

    def everywhere(self, operand: Operand) -> Number | None:
        """The number that a value holds in every lane, where it is known."""
        if isinstance(operand, Literal):
            return float(operand.value)
        return self.numbers.get(operand.id) if isinstance(operand, Value) else None

    def number(self, value: Value, operation: Operation) -> None:
        numbers = [self.everywhere(o) for o in operands_of(operation)]
        known = [n for n in numbers if n is not None]
        assert isinstance(value.type, TensorType), "numbers fill tensors"
        if len(known) == len(numbers):
            found = folded(operation, known, value.type.element)
            if found is not SOME:
                self.numbers[value.id] = found

    # ---- lane by lane -----------------------------------------------------------------------------------------------

    def lanewise(self, value: Value, operation: Operation) -> Paddings:
        assert isinstance(value.type, TensorType), "only tensors have lanes"
        operands = operands_of(operation)
        loads: dict[Conditions, Let | None] = {}
        for operand in operands:
            for conditions, padding in self.of(operand).items():
                if conditions in loads or len(loads) < MOST:
                    loads[conditions] = loads.get(conditions) or padding.load
        if isinstance(operation, Cast) and isinstance(operation.operand, Value) and _is_flag(operation.operand):
            loads.setdefault(self.masks.conditions(operation.operand), None)
        found: dict[Conditions, Padding] = {}
        for conditions, load in loads.items():
            numbers = [self.within(o, conditions) for o in operands]
            found[conditions] = Padding(folded(operation, numbers, value.type.element), load)
        return self.placed(found, value, operation)

    def of(self, operand: Operand) -> Paddings:
        """The paddings of an operand."""
        return self.known.get(operand.id, NO_PADDING) if isinstance(operand, Value) else NO_PADDING

    def within(self, operand: Operand, conditions: Conditions) -> Number:
        """The number of an operand in the lanes where not all conditions hold."""
        everywhere = self.everywhere(operand)
        if everywhere is not None:
            return everywhere
        for wider, padding in self.of(operand).items():
            if wider >= conditions:
                return padding.number
        if isinstance(operand, Value) and _is_flag(operand):
            if self.masks.conditions(operand) >= conditions:
                return 0.0
            if self.masks.conditions(operand, holds=False) >= conditions:
                return 1.0
        return SOME

    def placed(self, found: Mapping[Conditions, Padding], value: Value, operation: Operation) -> Paddings:
        """Conditions at the positions where the lanes of the result are."""
        rank = len(shape_of(value))
        if isinstance(operation, ExpandDims):
            return {
                frozenset((h, n, moved(at, operation.axes, rank)) for h, n, at in conditions): padding
                for conditions, padding in found.items()
            }
        if isinstance(operation, Call) and lanes_of(operation.intrinsic) is Lanes.PERMUTED:
            from teenyc.ir.lanes import order_of

            order = order_of(operation, rank)

            def permuted(condition: Condition) -> Condition:
                holds, number, positions = condition
                return (holds, number, tuple(order.index(p + rank) - rank for p in positions))

            return {frozenset(map(permuted, conditions)): padding for conditions, padding in found.items()}
        if isinstance(operation, Call) and lanes_of(operation.intrinsic) is Lanes.MOVED:
            return {self.masks.shuffle(c, operation, value, 0): padding for c, padding in found.items()}
        return found


def is_lanewise(operation: Operation) -> bool:
    """Whether an operation makes each lane of one lane of each operand, perhaps in another place."""
    match operation:
        case Copy() | Unary() | Binary() | Compare() | Cast() | ExpandDims():
            return True
        case Call():
            kind = lanes_of(operation.intrinsic)
            return kind in (Lanes.SAME, Lanes.STRETCHED, Lanes.PERMUTED) or (
                kind is Lanes.MOVED and len(operation.operands) == 1
            )
        case Offset() | Apply():
            return False
        case _:
            assert_never(operation)


def _is_flag(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.element == BOOL
