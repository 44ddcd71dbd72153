"""What goes wrong in a run, as reports: facts of the runner go in, diagnostics with their words come out."""

from __future__ import annotations

from typing import Any, TypeAlias, assert_never

from teenyc.diagnostics.catalog import lints, running
from teenyc.diagnostics.model import Diagnostic
from teenyc.evaluate.watch import (
    Broken,
    DividedByZero,
    Endless,
    Impossible,
    Lanes,
    MadeNan,
    Missed,
    Outside,
    Race,
    Undefined,
    Unwritten,
    Wrapped,
)
from teenyc.ir.nodes import Kernel
from teenyc.record import replace
from teenyc.source import Span

_OfLanes: TypeAlias = "Outside | Unwritten | Broken | Race | Undefined | Wrapped | DividedByZero | MadeNan"
Fact: TypeAlias = "_OfLanes | Missed | Impossible | Endless"


def diagnostic_of(fact: Fact, kernel: Kernel) -> Diagnostic:
    """The report of a fact."""
    match fact:
        case Impossible():
            return running.NotOnCpu(span=fact.span, function=fact.function, why=fact.why)
        case Endless():
            return running.NeverEnds(span=fact.place.span, program=fact.program)
        case Missed():
            span = next((p.span for p in kernel.parameters if p.name == fact.name), None)
            count, size, place = fact.count, fact.size, fact.place
            return lints.NotWritten(span=span, tensor=fact.name, index=fact.index, count=count, size=size, place=place)
        case _:
            return replace(_of_lanes(fact), **_place(fact.lanes))


def _place(lanes: Lanes) -> dict[str, object]:
    program, lane = lanes.first
    return {"span": lanes.place.span, "program": program, "lane": lane, "count": len(lanes.flat)}


_NOWHERE = Span(0, 0)


def _of_lanes(fact: _OfLanes) -> Diagnostic:
    """The report of a fact, without its place."""
    at: dict[str, Any] = {"span": _NOWHERE, "program": (), "lane": (), "count": 0}
    match fact:
        case Outside(name=name, index=index, size=size, is_write=is_write, place=place):
            return running.OutOfRange(**at, name=name, index=index, size=size, is_write=is_write, place=place)
        case Unwritten(name=name, index=index, place=place):
            return running.NeverWritten(**at, name=name, index=index, place=place)
        case Broken(function=function, text=text):
            return running.DoesNotHold(**at, function=function, text=text)
        case Race(name=name, index=index, other=other, place=place):
            how, who, span = other.how, other.program, other.span
            return running.RaceBetweenPrograms(
                **at, name=name, index=index, place=place, how=how, other=who, other_lane=other.lane, other_span=span
            )
        case Undefined(function=function):
            return running.LeftOutLane(**at, function=function)
        case Wrapped(operator=operator, operands=operands, type=type):
            return lints.IntegerWrapped(**at, operator=operator, operands=operands, type=type)
        case DividedByZero(left=left):
            return lints.IntegerDividedByZero(**at, left=left)
        case MadeNan(what=what, given=given):
            return lints.FirstNan(**at, what=what, given=given)
        case _:
            assert_never(fact)
