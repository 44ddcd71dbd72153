"""Sums of products: an expression of the IR goes in, the terms and factors that it is made of come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from teenyc.ir.nodes import Binary, Call, Cast, Copy, ExpandDims, Let, Literal, Operand, Unary, Value
from teenyc.tiling.plan import Term
from teenyc.types import TensorType, is_float

MOST_TERMS = 64
"""Products of sums that make more terms than this are left whole."""


def terms_of(operand: Operand, lets: Mapping[int, Let], opens: Callable[[Value], bool]) -> tuple[Term, ...]:
    """The terms whose sum an operand is; what `opens` does not accept is taken as it is, as one factor."""
    return _terms(operand, lets, opens) or (Term((operand,)),)


def _terms(operand: Operand, lets: Mapping[int, Let], opens: Callable[[Value], bool]) -> tuple[Term, ...] | None:
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    if let is None or not isinstance(operand, Value) or not opens(operand) or not _is_arithmetic(operand):
        return None
    match let.operation:
        case Copy(operand=inner) | ExpandDims(operand=inner):
            return terms_of(inner, lets, opens)
        case Cast(operand=inner) if _element(inner) == _element(operand):
            return terms_of(inner, lets, opens)
        case Call(intrinsic="broadcast_to"):
            return terms_of(let.operation.operands[0][1], lets, opens)
        case Unary(operator="neg", operand=inner):
            return tuple(map(_negative, terms_of(inner, lets, opens)))
        case Binary(operator="add" | "sub" as operator, left=left, right=right):
            rest = terms_of(right, lets, opens)
            return terms_of(left, lets, opens) + (tuple(map(_negative, rest)) if operator == "sub" else rest)
        case Binary(operator="mul", left=left, right=right):
            return _product(terms_of(left, lets, opens), terms_of(right, lets, opens))
        case Binary(operator="div", left=left, right=right) if isinstance(right, Literal):
            return None
    return None


def _product(left: tuple[Term, ...], right: tuple[Term, ...]) -> tuple[Term, ...] | None:
    if len(left) * len(right) > MOST_TERMS:
        return None
    return tuple(Term(a.factors + b.factors, a.is_negative != b.is_negative) for a in left for b in right)


def multiplied(parts: Sequence[tuple[Term, ...]], is_negative: bool) -> tuple[Term, ...]:
    """The terms of a product of sums."""
    product: tuple[Term, ...] = (Term((), is_negative),)
    for part in parts:
        product = tuple(Term(a.factors + b.factors, a.is_negative != b.is_negative) for a in product for b in part)
    return product


def _negative(term: Term) -> Term:
    return Term(term.factors, not term.is_negative)


def _element(operand: Operand) -> object:
    return operand.type.element if isinstance(operand.type, TensorType) else None


def _is_arithmetic(value: Value) -> bool:
    """Whether sums of the value may be taken apart: those of floats are, by leave of the source."""
    return isinstance(value.type, TensorType) and is_float(value.type.element)
