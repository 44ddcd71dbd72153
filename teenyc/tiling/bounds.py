"""Bounds of loops: what is one number for the whole block, and the widest of what differs from row to row."""

from __future__ import annotations

from teenyc.ir.nodes import For, Operand
from teenyc.source import Span
from teenyc.tiling.state import Blocking, RefusedError, Tile, element_of, shape_of


def widest(b: Blocking, loop: For) -> tuple[Operand, Operand]:
    """The bounds of a loop, which are those of all rows where rows have their own."""
    own = b.bounds.get(loop.counter.id)
    if own is None:
        return uniform(b, loop.start, loop.span), uniform(b, loop.stop, loop.span)
    return least(b, own.start, loop.span), greatest(b, own.stop, loop.span)


def uniform(b: Blocking, operand: Operand, span: Span) -> Operand:
    """An operand that is one number for the whole block."""
    tile = b.tile(operand, span)
    if tile.lead or tile.rank:
        raise RefusedError("a loop whose bounds differ within a block", span)
    return tile.operand


def least(b: Blocking, operand: Operand, span: Span) -> Operand:
    return _over_rows(b, b.tile(operand, span), "min", span)


def greatest(b: Blocking, operand: Operand, span: Span) -> Operand:
    return _over_rows(b, b.tile(operand, span), "max", span)


def _over_rows(b: Blocking, tile: Tile, name: str, span: Span) -> Operand:
    operand = tile.operand
    while shape := shape_of(operand):
        operand = b.call(name, (("input", operand),), (("axis", 0),), element_of(operand), shape[1:], span)
    return operand
