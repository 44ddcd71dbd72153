"""Lint for sums that count the lanes which a mask left out."""

from __future__ import annotations

import math

from teenyc.check.facts import Facts
from teenyc.diagnostics.model import Reporter
from teenyc.ir import nodes as ir
from teenyc.ir.fills import SOME
from teenyc.ir.masks import Conditions, shape_of
from teenyc.ir.padding import Padding
from teenyc.ir.walk import statements_of

_SUMS = frozenset({"sum"})


def lint_padding(facts: Facts, reporter: Reporter) -> None:
    """Reports sums over lanes in which a load put a number of which work lane by lane made one that counts."""
    filled = facts.filled
    for _, statement in statements_of(facts.kernel.body) if filled.known else ():
        call = statement.operation if isinstance(statement, ir.Let) else None
        if not isinstance(call, ir.Call) or call.intrinsic not in _SUMS:
            continue
        summed = call.operand("input")
        for conditions, padding in filled.of(summed).items() if isinstance(summed, ir.Value) else ():
            counts = padding.number is SOME or padding.number != 0
            if padding.load is not None and counts and _is_summed(call, conditions):
                _report(statement, padding, padding.load, reporter)
                break


def _is_summed(call: ir.Call, conditions: Conditions) -> bool:
    """Whether lanes where the conditions fail are added to others: not if they fail for all lanes along the axis."""
    summed, axis = call.operand("input"), call.attribute("axis")
    assert summed is not None, "a sum has an input"
    rank = len(shape_of(summed))
    if not isinstance(axis, int) or rank < 2:
        return True
    return any(axis % rank - rank in positions or not positions for _, _, positions in conditions)


def _report(statement: ir.Statement, padding: Padding, load: ir.Let, reporter: Reporter) -> None:
    from teenyc.diagnostics.catalog.lints import PaddedLanes

    number = padding.number
    text = None if number is SOME else f"{number:g}" if math.isfinite(number) else str(number)
    reporter.report(PaddedLanes(span=statement.span, load=load.span, number=text))
