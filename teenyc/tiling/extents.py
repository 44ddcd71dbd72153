"""Extents as numbers: how many elements there are along an axis, as an operand of the type asked for."""

from __future__ import annotations

from teenyc.ir.nodes import Binary, Call, Cast, Constant, Copy, ExpandDims, Literal, Operand, Value
from teenyc.source import Span
from teenyc.tiling.state import Blocking, element_of
from teenyc.types import I32, Compute, DType, Element, Extent, Quotient, is_float, scalar

ROOM = 24
"""Casts to types that hold integers of fewer bits than this may round or wrap an extent."""


def number(b: Blocking, extent: Extent, element: Element, span: Span) -> Operand:
    """An extent as a number of a type."""
    if extent.known is not None:
        return Literal(float(extent.known) if is_float(element) else extent.known, scalar(element))
    total: Operand | None = None
    for monomial, coefficient in extent.terms:
        factors = [_atom(b, atom, span) for atom in monomial]
        if coefficient != 1 or not factors:
            factors.append(Literal(coefficient, scalar(I32)))
        term = factors[0]
        for factor in factors[1:]:
            term = b.let(Binary(operator="mul", left=term, right=factor), I32, (), span)
        total = term if total is None else b.let(Binary(operator="add", left=total, right=term), I32, (), span)
    assert total is not None, "only a number has no terms"
    return total if element == I32 else b.let(Cast(operand=total), element, (), span)


def _atom(b: Blocking, atom: str | Quotient, span: Span) -> Operand:
    if isinstance(atom, str):
        return Constant(atom, scalar(I32))
    numerator, denominator = (number(b, e, I32, span) for e in (atom.numerator, atom.denominator))
    return b.let(Binary(operator="div", left=numerator, right=denominator), I32, (), span)


def known(b: Blocking, operand: Operand) -> Extent | None:
    """The extent that a number of the source is, whatever its type and shape."""
    if isinstance(operand, Constant):
        return Extent.of(operand.name)
    if isinstance(operand, Literal):
        return Extent.of(int(operand.value)) if operand.value == operand.value // 1 else None
    let = b.lets.get(operand.id)
    match let.operation if let is not None else None:
        case Copy(operand=inner) | ExpandDims(operand=inner):
            return known(b, inner)
        case Cast(operand=inner) if _has_room(element_of(operand)):
            return known(b, inner)
        case Call(intrinsic="full" | "broadcast_to" as name, operands=((_, inner), *_)) if isinstance(operand, Value):
            return known(b, inner) if name == "broadcast_to" or _has_room(element_of(operand)) else None
    return None


def _has_room(element: Element) -> bool:
    """Whether a type holds all extents of use as they are."""
    return isinstance(element, Compute) or (isinstance(element, DType) and element.bits >= ROOM)
