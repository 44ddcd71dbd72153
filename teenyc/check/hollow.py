"""Lint for rows that a mask may leave out as a whole, where `-inf - -inf` gives NaN."""

from __future__ import annotations

import math

from teenyc.check.facts import Facts
from teenyc.diagnostics.model import Reporter
from teenyc.ir import nodes as ir
from teenyc.ir.digits import LOADED, Digits
from teenyc.ir.fills import SOME, Number, folded
from teenyc.ir.padding import Filled, is_lanewise
from teenyc.ir.walk import operands_of, statements_of
from teenyc.types import TensorType

_TOPS = frozenset({"max", "max_with_indices"})


def lint_hollow_rows(facts: Facts, reporter: Reporter) -> None:
    """Reports where a row may have lost all its lanes to a mask that depends on memory, such as flags or a length.

    Masks that compare indices with parameters and constants are taken to leave a lane in each row.
    """
    walk = _Hollow(facts.filled, facts.digits, reporter)
    for _, statement in statements_of(facts.kernel.body):
        if isinstance(statement, ir.Let):
            walk.let(statement)
        elif isinstance(statement, ir.For | ir.While):
            walk.loop(statement)


class _Hollow:
    """`lanes` have -inf where a mask of loaded values is false, `tops` are -inf where no lane of a row is left."""

    def __init__(self, filled: Filled, digits: Digits, reporter: Reporter) -> None:
        self.filled = filled
        self.digits = digits
        self.reporter = reporter
        self.lanes: dict[int, ir.Let] = {}
        self.tops: dict[int, ir.Let] = {}
        self.empty: set[int] = set()

    def loop(self, loop: ir.For | ir.While) -> None:
        """In the first iteration, what a loop carries is what it began with: a maximum of nothing yet is -inf."""
        self.empty.update(c.inside.id for c in loop.carried if self.number(c.initial) == -math.inf)

    def let(self, let: ir.Let) -> None:
        operation = let.operation
        if isinstance(operation, ir.Call):
            if self.is_origin(operation):
                self.lanes[let.results[0].id] = let
                return
            if operation.intrinsic in _TOPS or operation.intrinsic == "softmax":
                self.reduced(let, operation)
                return
        if isinstance(operation, ir.Binary) and operation.operator == "sub":
            origin, top = self.lanes.get(_id(operation.left)), self.tops.get(_id(operation.right))
            if origin is not None and origin is top:
                self.report(let, origin)
                return
        if len(let.results) == 1 and is_lanewise(operation):
            for state in (self.lanes, self.tops):
                self.hand_on(let, state)

    def is_origin(self, call: ir.Call) -> bool:
        """Whether a call puts -inf into the lanes where a mask that depends on memory is false."""
        if call.intrinsic == "where":
            flag, inside, outside = (call.operand(name) for name in ("condition", "x", "y"))
            return LOADED in self.digits.of(flag) and -math.inf in (self.number(inside), self.number(outside))
        if call.intrinsic == "load":
            return LOADED in self.digits.of(call.operand("mask")) and self.number(call.operand("other")) == -math.inf
        return False

    def number(self, operand: ir.Operand | None) -> Number | None:
        return None if operand is None else self.filled.everywhere(operand)

    def reduced(self, let: ir.Let, call: ir.Call) -> None:
        origin = next((self.lanes[_id(o)] for _, o in call.operands if _id(o) in self.lanes), None)
        if origin is None:
            return
        if call.intrinsic == "softmax":
            self.report(let, origin)
        else:
            self.tops[let.results[0].id] = origin

    def hand_on(self, let: ir.Let, state: dict[int, ir.Let]) -> None:
        """What keeps -inf where an operand has it, whatever the others hold, is in the same state."""
        (value,) = let.results
        origin = next((state[_id(o)] for o in operands_of(let) if _id(o) in state), None)
        if origin is None or not isinstance(value.type, TensorType):
            return
        numbers = [self.held(operand, state) for operand in operands_of(let)]
        if folded(let.operation, numbers, value.type.element) == -math.inf:
            state[value.id] = origin

    def held(self, operand: ir.Operand, state: dict[int, ir.Let]) -> Number:
        if _id(operand) in state or _id(operand) in self.empty:
            return -math.inf
        known = self.filled.everywhere(operand)
        return SOME if known is None else known

    def report(self, let: ir.Let, origin: ir.Let) -> None:
        from teenyc.diagnostics.catalog.lints import HollowRow

        self.reporter.report(HollowRow(span=let.span, mask=origin.span))


def _id(operand: ir.Operand) -> int:
    return operand.id if isinstance(operand, ir.Value) else 0
