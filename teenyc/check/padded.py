"""Lint for sums that count the lanes which a mask left out."""

from __future__ import annotations

import math

from teenyc.check.facts import Facts
from teenyc.diagnostics.model import Reporter
from teenyc.ir import nodes as ir
from teenyc.ir.fills import SOME
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
        for padding in filled.of(summed).values() if isinstance(summed, ir.Value) else ():
            if padding.load is not None and (padding.number is SOME or padding.number != 0):
                _report(statement, padding, padding.load, reporter)
                break


def _report(statement: ir.Statement, padding: Padding, load: ir.Let, reporter: Reporter) -> None:
    from teenyc.diagnostics.catalog.lints import PaddedLanes

    number = padding.number
    text = None if number is SOME else f"{number:g}" if math.isfinite(number) else str(number)
    reporter.report(PaddedLanes(span=statement.span, load=load.span, number=text))
