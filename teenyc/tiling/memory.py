"""Loads and stores of tiles: masks of the source, of rows beyond the grid, and of iterations beyond the bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teenyc.ir.nodes import Binary, Call, Cast, Compare, Copy, ExpandDims, Let, Literal, Offset, Operand, Value
from teenyc.record import replace
from teenyc.source import Span
from teenyc.tiling import bounds, refusals
from teenyc.tiling.bounds import is_true
from teenyc.tiling.plan import BlockedAxis, Staged
from teenyc.tiling.state import Blocking, RefusedError, Tile, element_of, shape_of, zero_of
from teenyc.types import BOOL, I32, scalar


def load(b: Blocking, let: Let, call: Call) -> None:
    (result,) = let.results
    given = {n: b.tile(o, let.span) for n, o in call.operands}
    is_counting = counting(b, given["pointer"]) is not None
    edges = (t for t in b.valid if t.lead[0] in given["pointer"].lead and t.lead[0].id in b.edges)
    guarded = guard(b, let, given["pointer"])
    for valid in (counting(b, given["pointer"]), guarded, *edges):
        if valid is not None:
            given["mask"] = both(b, given.get("mask"), valid, let.span)
            given.setdefault("other", Tile(Literal(zero_of(element_of(result)), scalar(element_of(result)))))
    names = [n for n in ("pointer", "mask", "other") if n in given]
    operands, lead, rank, shape = b.met([given[n] for n in names], let.span)
    if shape_of(operands[0]) != shape:
        operands[0] = b.filled(given["pointer"], lead, rank, shape, element_of(operands[0]), let.span).operand
    value = b.fresh(element_of(result), shape, result.name or b.names.get(result.id, ""))
    operation = replace(call, operands=tuple(zip(names, operands, strict=True)))
    b.statements.append(replace(let, results=(value,), operation=operation))
    b.tiles[result.id] = Tile(value, lead, rank)
    b.raw.add(result.id)
    loop = next((axis.id for axis in lead if axis.kind == "loop"), None)
    b.stage(Staged(result.id, root_of(b, call.operands[0][1]), lead, rank, loop))
    other = given.get("other")
    if other is not None and isinstance(other.operand, Literal) and other.operand.value == 0:
        if is_counting:
            b.zeros.add(value.id)
        if guarded is not None:
            b.only_where[value.id] = frozenset(conjuncts(b, let, guarded))


def root_of(b: Blocking, pointer: Operand) -> str:
    """The parameter that an address begins with; nothing where several may."""
    let = b.lets.get(pointer.id) if isinstance(pointer, Value) else None
    match let.operation if let is not None else None:
        case Offset(pointer=inner) | Copy(operand=inner) | ExpandDims(operand=inner) | Cast(operand=inner):
            return root_of(b, inner)
        case Call(intrinsic="broadcast_to" | "full") as call:
            return root_of(b, call.operands[0][1])
        case None if isinstance(pointer, Value):
            return pointer.name
    return ""


def counting(b: Blocking, pointer: Tile) -> Tile | None:
    """Which lanes of the blocked iterations count, where an address varies along them."""
    valid = b.iterations
    return valid if valid is not None and set(valid.lead) & set(pointer.lead) else None


def guard(b: Blocking, let: Let, pointer: Tile) -> Tile | None:
    """The condition under which a load is made: that of any of the rows or iterations that load from one address."""
    condition = b.guards.get(let.results[0].id)
    return None if condition is None else any_of(b, condition, pointer.lead, let.span)


def conjuncts(b: Blocking, let: Let, guarded: Tile) -> Iterator[Operand]:
    """The flags outside of which a load under some flags gives 0: they, and what they are the conjunction of."""
    yield guarded.operand
    condition = b.guards[let.results[0].id]
    pending = [condition] if b.tile(condition, let.span) == guarded else []
    while pending:
        flags = pending.pop()
        yield b.tile(flags, let.span).operand
        made = b.lets.get(flags.id) if isinstance(flags, Value) else None
        if made is not None and isinstance(made.operation, Binary) and made.operation.operator == "and":
            pending += [made.operation.left, made.operation.right]


def any_of(b: Blocking, condition: Operand, lead: Sequence[BlockedAxis], span: Span) -> Tile | None:
    """Whether a condition holds anywhere along the axes that are not among some; None where it does everywhere.

    It is said once, where the condition is made.
    """
    flags = b.tile(condition, span)
    kept = tuple(axis for axis in flags.lead if axis in lead)
    if is_true(flags.operand):
        return None
    if kept != flags.lead and isinstance(flags.operand, Value) and (flags.operand.id, kept) not in b.anywhere:
        with b.beside(flags.operand):
            within = _within(b, condition, kept, span)
        if within is not None:
            b.anywhere[flags.operand.id, kept] = within
    return anywhere(b, flags, lead, span)


def anywhere(b: Blocking, flags: Tile, lead: Sequence[BlockedAxis], span: Span) -> Tile:
    """Whether flags hold anywhere along the axes that are not among some."""
    kept = tuple(axis for axis in flags.lead if axis in lead)
    if kept == flags.lead or not isinstance(flags.operand, Value):
        return flags
    key = (flags.operand.id, kept)
    if key not in b.anywhere:
        with b.beside(flags.operand):
            b.anywhere[key] = _any_of(b, flags, kept, span)
    return b.anywhere[key]


def _within(b: Blocking, condition: Operand, kept: tuple[BlockedAxis, ...], span: Span) -> Tile | None:
    """Which iterations any row has, if the condition is that of a loop's bounds."""
    counter = next((id for id, own in b.bounds.items() if own.valid == condition), None)
    is_own = counter in b.reaches and counter in {axis.id for axis in kept if axis.kind == "loop"}
    return bounds.reached(b, counter, span) if counter is not None and is_own else None


def _any_of(b: Blocking, flags: Tile, kept: tuple[BlockedAxis, ...], span: Span) -> Tile:
    operand: Operand = b.let(Cast(operand=flags.operand), I32, shape_of(flags.operand), span)
    for n in reversed(range(len(flags.lead))):
        if flags.lead[n] not in kept:
            shape = shape_of(operand)
            operand = b.call("max", (("input", operand),), (("axis", n),), I32, (*shape[:n], *shape[n + 1 :]), span)
    found = Compare(operator="ne", left=operand, right=Literal(0, scalar(I32)))
    return Tile(b.let(found, BOOL, shape_of(operand), span), kept, flags.rank)


def both(b: Blocking, mask: Tile | None, other: Tile, span: Span) -> Tile:
    return other if mask is None else mask if other is mask else b.binary("and", mask, other, BOOL, span)


def store(b: Blocking, let: Let, call: Call) -> None:
    given = {n: b.tile(o, let.span) for n, o in call.operands}
    lacking = [r.axis for r in b.rows if r.axis not in given["pointer"].lead]
    if lacking:
        raise RefusedError(refusals.one_address(lacking, let.span))
    for valid in (*b.valid, *((b.iterations,) if b.iterations is not None else ())):
        given["mask"] = both(b, given.get("mask"), valid, let.span)
    names = [n for n in ("pointer", "value", "mask") if n in given]
    operands, lead, rank, shape = b.met([given[n] for n in names], let.span)
    for n, name in enumerate(names):
        if name == "value" and shape_of(operands[n]) and shape_of(operands[n]) != shape:
            element = element_of(operands[n])
            operands[n] = b.filled(given["value"], lead, rank, shape, element, let.span).operand
    operation = replace(call, operands=tuple(zip(names, operands, strict=True)))
    b.statements.append(replace(let, operation=operation))
