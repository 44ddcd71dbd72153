"""Meetings in memory: what was found of a kernel goes in; where programs or lanes may meet in memory comes out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from teenyc.check.facts import Facts
from teenyc.diagnostics.model import Diagnostic
from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir import nodes as ir
from teenyc.ir.walk import statements_of
from teenyc.source import Span


def races_of(facts: Facts, reports: Iterable[Diagnostic]) -> tuple[ir.Remark, ...]:
    """What reports say of races, whether the source allows them or not, and what nobody proves to be none."""
    told = [(report.race(), report.span) for report in reports]
    races = [ir.Remark("race", text, span) for text, span in told if text and span is not None]
    doubts = [
        ir.Remark("apart", "no two of the places that are loaded for it are the same", s) for s in _scatters(facts)
    ]
    doubts += [ir.Remark("apart", "no other program stores to what this loads", s) for s in _foreign(facts)]
    certain = {race.span for race in races}
    return (*races, *(doubt for doubt in doubts if doubt.span not in certain))


def _scatters(facts: Facts) -> Iterator[Span]:
    """The stores whose addresses depend on memory."""
    for _, statement in statements_of(facts.kernel.body):
        call = statement.operation if isinstance(statement, ir.Let) else None
        if not isinstance(call, ir.Call):
            continue
        effects = TABLE[call.intrinsic].effects
        if Effect.WRITES in effects and Effect.ATOMIC not in effects and _is_loaded(facts, call):
            yield statement.span


def _is_loaded(facts: Facts, call: ir.Call) -> bool:
    from teenyc.ir.digits import LOADED

    return any(LOADED in facts.digits.of(o) for name, o in call.operands if name not in ("value", "mask"))


def _foreign(facts: Facts) -> Iterator[Span]:
    """The loads of a tensor that is stored to as well, and not at the same addresses."""
    if facts.kernel.attributes.grid == () or not _stores(facts.kernel):
        return
    written: dict[int, set[Hashable]] = {}
    for access in facts.accesses:
        if access.is_write:
            written.setdefault(access.root.id, set()).add(access.key)
    for access in facts.accesses:
        if not access.is_write and access.key not in written.get(access.root.id, {access.key}):
            yield access.let.span


def _stores(kernel: ir.Kernel) -> bool:
    calls = (s.operation for _, s in statements_of(kernel.body) if isinstance(s, ir.Let))
    return any(isinstance(call, ir.Call) and Effect.WRITES in TABLE[call.intrinsic].effects for call in calls)
