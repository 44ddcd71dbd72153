"""Lint for masks that nothing reads: the accesses for which one is meant come with it, and the fix gives it to them."""

from __future__ import annotations

from teenyc.check.context import Context, Symbol
from teenyc.check.facts import Facts
from teenyc.check.guards import Guards, blocks_in
from teenyc.check.lints import report_unused
from teenyc.check.undefined import neutral_other, writes_lanes
from teenyc.diagnostics.model import Fix
from teenyc.intrinsics import TABLE
from teenyc.ir import nodes as ir
from teenyc.ir.masks import masks
from teenyc.ir.undefined import undefined_uses
from teenyc.ir.walk import definitions, map_statements, statements_of
from teenyc.record import replace
from teenyc.types import BOOL, TensorType

MOST = 8
"""So many masks of a kernel come with a fix at once, each of which looks at the whole kernel."""


def lint_idle_masks(context: Context, facts: Facts) -> None:
    """Reports each mask that nothing reads, with what stands behind it and goes by the index in it."""
    guards = Guards(facts, context.reporter)
    for number, symbol in enumerate(context.idle_masks):
        meant = _meant(symbol, guards)
        if not meant:
            report_unused(symbol, context.reporter)
            continue
        from teenyc.diagnostics.catalog.lints import UnusedMask

        spans = tuple(let.span for let in meant)
        edit = _edit(symbol, meant, facts) if number < MOST else None
        context.report(UnusedMask(span=symbol.span, name=symbol.name, accesses=spans, edit=edit))


def _meant(symbol: Symbol, guards: Guards) -> list[ir.Let]:
    """The loads and stores without a mask, behind that of a variable, whose address is made of the index in it."""
    mask = symbol.current
    assert isinstance(mask, ir.Value), "a mask is a value"
    indices = {guards.number(index) for index, _ in guards.upper_bounds(mask)}
    for block in blocks_in(guards.facts.kernel.body):
        places = [n for n, s in enumerate(block.statements) if isinstance(s, ir.Let) and mask.id in _ids(s)]
        if places:
            following = block.statements[places[0] + 1 :]
            return [s for s in following if isinstance(s, ir.Let) and _lacks(s, indices, guards)]
    return []


def _ids(let: ir.Let) -> set[int]:
    return {value.id for value in let.results}


def _lacks(let: ir.Let, indices: set[int], guards: Guards) -> bool:
    call = let.operation
    if not isinstance(call, ir.Call) or call.intrinsic not in ("load", "store") or call.operand("mask") is not None:
        return False
    return guards.is_own(let.span) and not indices.isdisjoint(guards.parts(call.operand("pointer")))


# ---- the fix --------------------------------------------------------------------------------------------------------


def _edit(symbol: Symbol, meant: list[ir.Let], facts: Facts) -> Fix | None:
    """Gives the mask to all accesses at once, and to loads what makes no difference where their lanes are seen."""
    mask = symbol.current
    assert isinstance(mask, ir.Value), "a mask is a value"
    if not facts.places.stays(symbol.name, symbol.span) or any(_shape(let) != mask.type for let in meant):
        return None
    others = _others(mask, meant, facts)
    edits: list[Fix | None] = []
    for let in meant:
        call = facts.places.call(let.span)
        edits.append(call.adding("mask", symbol.name) if call is not None else None)
        other = others.get(let.results[0].id, "") if let.results else ""
        if other != "":
            edits.append(call.adding("other", other) if call is not None and other is not None else None)
    found = [edit for edit in edits if edit is not None]
    return replace(found[0], others=tuple(found[1:])) if len(found) == len(edits) else None


def _shape(let: ir.Let) -> TensorType | None:
    """The type of a mask with as many lanes as an access."""
    pointer = let.operation.operand("pointer") if isinstance(let.operation, ir.Call) else None
    return replace(pointer.type, element=BOOL) if pointer is not None and isinstance(pointer.type, TensorType) else None


def _others(mask: ir.Value, meant: list[ir.Let], facts: Facts) -> dict[int, str | None]:
    """For each load that needs one the text of `other`, where the accesses have the mask; None where none fits."""
    ids = {id(let) for let in meant}
    body = map_statements(facts.kernel.body, lambda s: (_masked(s, mask) if id(s) in ids else s,))
    kernel = replace(facts.kernel, body=body)
    made = {value.id: s for _, s in statements_of(body) for value in definitions(s)}
    found: dict[int, str | None] = {}
    for use in undefined_uses(kernel, masks(kernel)):
        id_ = use.load.results[0].id
        other = None if writes_lanes(use) else neutral_other(use, made)
        found[id_] = other if found.get(id_, other) == other else None
    return found


def _masked(statement: ir.Statement, mask: ir.Value) -> ir.Statement:
    assert isinstance(statement, ir.Let) and isinstance(statement.operation, ir.Call), "an access is a call"  # noqa: PT018
    given = dict(statement.operation.operands) | {"mask": mask}
    order = [param.name for param in TABLE[statement.operation.intrinsic].params]
    operands = tuple((name, given[name]) for name in order if name in given)
    return replace(statement, operation=replace(statement.operation, operands=operands))
