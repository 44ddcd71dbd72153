"""Sums of products: an expression of the IR goes in, the terms and factors that it is made of come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from teenyc.ir.nodes import Binary, Call, Cast, Copy, ExpandDims, Let, Literal, Operand, Unary, Value
from teenyc.record import replace
from teenyc.tiling.plan import Condition, Term
from teenyc.types import BOOL, TensorType, is_float


def terms_of(operand: Operand, lets: Mapping[int, Let], opens: Callable[[Value], bool]) -> tuple[Term, ...]:
    """The terms whose sum an operand is; what `opens` does not accept is taken as it is, as one factor."""
    return _terms(operand, lets, opens) or (Term((operand,)),)


def _terms(operand: Operand, lets: Mapping[int, Let], opens: Callable[[Value], bool]) -> tuple[Term, ...] | None:
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    if let is None or not isinstance(operand, Value) or not opens(operand) or not isinstance(operand.type, TensorType):
        return None
    if operand.type.element == BOOL:
        return None
    match let.operation:
        case Copy(operand=inner) | ExpandDims(operand=inner):
            return terms_of(inner, lets, opens)
        case Cast(operand=inner) if _element(inner) == _element(operand):
            return terms_of(inner, lets, opens)
        case Call(intrinsic="broadcast_to"):
            return terms_of(let.operation.operands[0][1], lets, opens)
        case Call(intrinsic="where", operands=((_, condition), (_, one), (_, other))):
            return _chosen(condition, *(() if is_zero(o, lets) else terms_of(o, lets, opens) for o in (one, other)))
        case Unary(operator="neg", operand=inner):
            return tuple(map(_negative, terms_of(inner, lets, opens)))
        case Binary(operator="add" | "sub" as operator, left=left, right=right):
            rest = terms_of(right, lets, opens)
            return terms_of(left, lets, opens) + (tuple(map(_negative, rest)) if operator == "sub" else rest)
        case Binary(operator="mul", left=left, right=right):
            return _product(terms_of(left, lets, opens), terms_of(right, lets, opens))
        case Binary(operator="div", left=left, right=right) if is_float(operand.type.element):
            return tuple(replace(t, divisors=(*t.divisors, right)) for t in terms_of(left, lets, opens))
    return None


def _product(left: tuple[Term, ...], right: tuple[Term, ...]) -> tuple[Term, ...] | None:
    """A product of two sums, such as a square of a difference, is left whole: its terms may cancel."""
    if len(left) > 1 and len(right) > 1:
        return None
    return tuple(_multiplied(a, b) for a in left for b in right)


def multiplied(term: Term, parts: Sequence[tuple[Term, ...]]) -> tuple[Term, ...]:
    """The terms of a term whose factors are these sums, of which one at most is taken apart."""
    if sum(len(part) > 1 for part in parts) > 1:
        parts = [p if len(p) == 1 else (Term((f,)),) for p, f in zip(parts, term.factors, strict=True)]
    product: tuple[Term, ...] = (replace(term, factors=()),)
    for part in parts:
        product = tuple(_multiplied(a, b) for a in product for b in part)
    return product


def _multiplied(a: Term, b: Term) -> Term:
    conditions = tuple(dict.fromkeys(a.conditions + b.conditions))
    return Term(a.factors + b.factors, a.is_negative != b.is_negative, a.divisors + b.divisors, conditions)


def _chosen(condition: Operand, one: tuple[Term, ...], other: tuple[Term, ...]) -> tuple[Term, ...] | None:
    """The terms of a choice: those of each side count where it is chosen, those of both always."""
    both = tuple(t for t in one if t in other)
    sides = ((one, Condition(condition)), (other, Condition(condition, holds=False)))
    terms = [replace(t, conditions=(*t.conditions, c)) for side, c in sides for t in side if t not in both]
    return (*both, *terms) or None


def _negative(term: Term) -> Term:
    return replace(term, is_negative=not term.is_negative)


def is_zero(operand: Operand, lets: Mapping[int, Let]) -> bool:
    """Whether an operand is 0 in all its lanes, by its definition."""
    if isinstance(operand, Literal):
        return operand.value == 0
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    match let.operation if let is not None else None:
        case Copy(operand=inner) | ExpandDims(operand=inner) | Cast(operand=inner):
            return is_zero(inner, lets)
        case Call(intrinsic="zeros"):
            return True
        case Call(intrinsic="full" | "broadcast_to", operands=((_, inner), *_)):
            return is_zero(inner, lets)
    return False


def _element(operand: Operand) -> object:
    return operand.type.element if isinstance(operand.type, TensorType) else None
