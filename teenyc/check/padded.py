"""Lint for reductions that count the lanes which a mask left out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

from teenyc.check.facts import Facts
from teenyc.check.hazards import REDUCTIONS
from teenyc.check.undefined import NEUTRAL, number_text
from teenyc.diagnostics.model import Fix, Reporter
from teenyc.intrinsics import TABLE
from teenyc.ir import nodes as ir
from teenyc.ir.fills import SOME, Number
from teenyc.ir.masks import Conditions, shape_of
from teenyc.ir.padding import Padding
from teenyc.ir.walk import operands_of, statements_of
from teenyc.source import Span
from teenyc.types import DType, Kind, TensorType

_KINDS: Mapping[str, str] = {
    "sum": "sum",
    "prod": "product",
    "softmax": "softmax",
    "min": "minimum",
    "min_with_indices": "minimum",
    "argmin": "minimum",
}
"""What reductions are called; the others look for a maximum."""

_FAR = 1e4
"""Numbers from here on stand for infinity, as authors write it who do not want NaN."""

_POSITIVE = frozenset({"abs", "exp", "exp2", "sigmoid", "sqrt", "rsqrt"})
_SELECTING = frozenset(
    {"where", "maximum", "minimum", "clamp", "broadcast", "broadcast_to", "reshape", "trans", "permute"}
)


def lint_padding(facts: Facts, reporter: Reporter) -> None:
    """Reports reductions of lanes in which a load put a number that counts, or of which work made one."""
    padded = _Padded(facts, reporter)
    for _, statement in statements_of(facts.kernel.body) if facts.filled.known else ():
        if isinstance(statement, ir.Let) and isinstance(statement.operation, ir.Call):
            padded.call(statement, statement.operation)


class _Padded:
    def __init__(self, facts: Facts, reporter: Reporter) -> None:
        self.facts = facts
        self.reporter = reporter

    def call(self, let: ir.Let, call: ir.Call) -> None:
        operand = call.operand(_input(call.intrinsic))
        if call.intrinsic not in REDUCTIONS or not isinstance(operand, ir.Value):
            return
        for conditions, padding in self.facts.filled.of(operand).items():
            if padding.load is None or not _is_reduced(call, conditions):
                continue
            if self.counts(let, call.intrinsic, padding.number, operand):
                self.report(let, call, operand, (conditions, padding))
                return

    def counts(self, let: ir.Let, intrinsic: str, number: Number, operand: ir.Value) -> bool:
        """Whether a number in lanes that are none changes what comes out."""
        neutral = NEUTRAL.get(intrinsic, 0.0)
        if not math.isinf(neutral):
            return (number is SOME and intrinsic == "sum") or (number is not SOME and number != neutral)
        if number is SOME or (number <= -_FAR if neutral < 0 else number >= _FAR):
            return False
        is_beside = neutral < 0 and number <= 0 and self.is_positive(operand, 16)
        return not is_beside and not (intrinsic in ("max", "max_with_indices") and let.results[0].id in self.shifts)

    def is_positive(self, operand: ir.Operand, depth: int) -> bool:
        """Whether all numbers of an operand are at least 0."""
        if isinstance(operand, ir.Literal):
            return operand.value >= 0
        let = self.made.get(operand.id) if isinstance(operand, ir.Value) else None
        element = operand.type.element if isinstance(operand.type, TensorType) else None
        if isinstance(element, DType) and element.kind in (Kind.UNSIGNED, Kind.BOOL):
            return True
        if let is None or depth == 0:
            return False
        inner = [self.is_positive(o, depth - 1) for o in operands_of(let)]
        match let.operation:
            case ir.Copy() | ir.Cast() | ir.ExpandDims():
                return all(inner)
            case ir.Binary(operator="mul", left=left, right=right) if left == right:
                return True
            case ir.Binary(operator="add" | "mul" | "div"):
                return all(inner)
            case ir.Call(intrinsic="maximum"):
                return any(inner)
            case ir.Call(intrinsic="where"):
                return all(inner[1:])
            case ir.Call():
                return let.operation.intrinsic in _POSITIVE or (let.operation.intrinsic in _SELECTING and all(inner))
            case _:
                return False

    @cached_property
    def made(self) -> Mapping[int, ir.Let]:
        lets = (s for _, s in statements_of(self.facts.kernel.body) if isinstance(s, ir.Let))
        return {value.id: let for let in lets for value in let.results}

    @cached_property
    def shifts(self) -> set[int]:
        """What is subtracted somewhere, perhaps with maxima of other blocks: a maximum that is may be any number."""
        found: set[int] = set()
        before = -1
        while before != (before := len(found)):
            for _, statement in statements_of(self.facts.kernel.body):
                match statement:
                    case ir.Let(operation=ir.Binary(operator="sub", right=ir.Value() as right)):
                        found.add(right.id)
                    case ir.Let(
                        operation=ir.Copy() | ir.Cast() | ir.ExpandDims() | ir.Call(intrinsic="where" | "maximum")
                    ):
                        if any(value.id in found for value in statement.results):
                            found.update(o.id for o in operands_of(statement) if isinstance(o, ir.Value))
                    case ir.For() | ir.While():
                        for carried, following in zip(statement.carried, statement.body.yields, strict=True):
                            if not found.isdisjoint({carried.inside.id, carried.result.id}):
                                found.update(o.id for o in (carried.initial, following) if isinstance(o, ir.Value))
                    case _:
                        pass
        return found

    # ---- the report -------------------------------------------------------------------------------------------------

    def report(self, let: ir.Let, call: ir.Call, operand: ir.Value, found: tuple[Conditions, Padding]) -> None:
        from teenyc.diagnostics.catalog.lints import PaddedLanes

        conditions, padding = found
        assert padding.load is not None, "a load put the number there"
        assert isinstance(operand.type, TensorType), "numbers are reduced"
        number = padding.number
        text = None if number is SOME else f"{number:g}" if math.isfinite(number) else str(number)
        neutral = number_text(NEUTRAL.get(call.intrinsic, 0.0), operand.type.element)
        lint = PaddedLanes(
            span=let.span,
            load=padding.load.span,
            number=text,
            kind=_KINDS.get(call.intrinsic, "maximum"),
            neutral=neutral or "0.0",
            edit=self.selected(let.span, padding.load, operand, conditions, neutral),
        )
        self.reporter.report(lint)

    def selected(
        self, place: Span, load: ir.Let, operand: ir.Value, conditions: Conditions, neutral: str | None
    ) -> Fix | None:
        """Puts `where_` with the mask of the load around what is reduced, where the mask means the same there."""
        mask = load.operation.operand("mask") if isinstance(load.operation, ir.Call) else None
        if mask is None or neutral is None or len(shape_of(mask)) != len(shape_of(operand)):
            return None
        places = self.facts.places
        loaded, reduced = places.call(load.span), places.call(place)
        given = loaded.value("mask") if loaded is not None else None
        value = reduced.value(_input(reduced.record.name)) if reduced is not None else None
        if reduced is None or given is None or value is None or self.facts.masks.conditions(mask) != conditions:
            return None
        text = places.repeated(given, value.span)
        behind = Fix(Span(value.span.end, value.span.end), f", {neutral})")
        return (
            Fix(Span(value.span.start, value.span.start), f"{reduced.prefix}where_({text}, ", (behind,))
            if text is not None
            else None
        )


def _input(intrinsic: str) -> str:
    """The name of what is reduced."""
    return TABLE[intrinsic].params[0].name


def _is_reduced(call: ir.Call, conditions: Conditions) -> bool:
    """Whether lanes where the conditions fail meet others: not if they fail for all lanes along the axis."""
    operand, axis = call.operand(_input(call.intrinsic)), call.attribute("axis", call.attribute("dim"))
    assert operand is not None, "a reduction has an input"
    rank = len(shape_of(operand))
    if not isinstance(axis, int) or rank < 2:
        return True
    return any(axis % rank - rank in positions or not positions for _, _, positions in conditions)
