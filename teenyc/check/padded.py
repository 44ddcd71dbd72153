"""Lint for sums that count the lanes which a mask left out."""

from __future__ import annotations

import math

from teenyc.diagnostics.model import Reporter
from teenyc.ir import nodes as ir
from teenyc.ir.fills import SOME
from teenyc.ir.masks import masks
from teenyc.ir.padding import Padding, paddings
from teenyc.ir.walk import statements_of

_SUMS = frozenset({"sum"})


def lint_padding(kernel: ir.Kernel, reporter: Reporter) -> None:
    """Reports sums over lanes in which a load put a number of which work lane by lane made one that counts."""
    filled = paddings(kernel, masks(kernel))
    if not filled.known:
        return
    for _, statement in statements_of(kernel.body):
        if isinstance(statement, ir.Let) and isinstance(statement.operation, ir.Call):
            call = statement.operation
            summed = call.operand("input") if call.intrinsic in _SUMS else None
            if isinstance(summed, ir.Value):
                for padding in filled.of(summed).values():
                    if padding.number is SOME or padding.number != 0:
                        _report(statement, summed, padding, reporter)
                        break


def _report(statement: ir.Let, summed: ir.Value, padding: Padding, reporter: Reporter) -> None:
    from teenyc.diagnostics.catalog.lints import PaddedLanes

    number = padding.number
    text = None if number is SOME else f"{number:g}" if math.isfinite(number) else str(number)
    load = padding.load
    reporter.report(PaddedLanes(span=statement.span, name=summed.name, load=load.span, number=text))
