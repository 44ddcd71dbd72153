"""Loads and stores of tiles: masks of the source, of rows beyond the grid, and of iterations beyond the bound."""

from __future__ import annotations

from teenyc.ir.nodes import Call, Let, Literal
from teenyc.record import replace
from teenyc.source import Span
from teenyc.tiling.state import Blocking, RefusedError, Tile, element_of, shape_of, zero_of
from teenyc.types import BOOL, scalar


def load(b: Blocking, let: Let, call: Call) -> None:
    (result,) = let.results
    given = {n: b.tile(o, let.span) for n, o in call.operands}
    valid = counting(b, given["pointer"])
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


def counting(b: Blocking, pointer: Tile) -> Tile | None:
    """Which lanes of the blocked iterations count, where an address varies along them."""
    valid = b.iterations
    return valid if valid is not None and set(valid.lead) & set(pointer.lead) else None


def both(b: Blocking, mask: Tile | None, other: Tile, span: Span) -> Tile:
    return other if mask is None else b.binary("and", mask, other, BOOL, span)


def store(b: Blocking, let: Let, call: Call) -> None:
    given = {n: b.tile(o, let.span) for n, o in call.operands}
    lacking = [r.axis for r in b.rows if r.axis not in given["pointer"].lead]
    if lacking or b.iterations is not None:
        raise RefusedError("a store that several rows make", let.span)
    for valid in b.valid:
        given["mask"] = both(b, given.get("mask"), valid, let.span)
    names = [n for n in ("pointer", "value", "mask") if n in given]
    operands, lead, rank, shape = b.met([given[n] for n in names], let.span)
    for n, name in enumerate(names):
        if name == "value" and shape_of(operands[n]) and shape_of(operands[n]) != shape:
            element = element_of(operands[n])
            operands[n] = b.filled(given["value"], lead, rank, shape, element, let.span).operand
    operation = replace(call, operands=tuple(zip(names, operands, strict=True)))
    b.statements.append(replace(let, operation=operation))
