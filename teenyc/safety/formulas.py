"""Conditions of a kernel: inequalities between integers, and what is made of them by and, or and not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

from teenyc.ir.polynomials import Polynomial, difference
from teenyc.record import record


@record
class AtLeast:
    """`polynomial >= 0`."""

    polynomial: Polynomial


@record
class All:
    """Every part holds; without parts it always does."""

    parts: tuple[Formula, ...]


@record
class Some:
    """One part holds; without parts none does."""

    parts: tuple[Formula, ...]


Formula: TypeAlias = "AtLeast | All | Some"

TRUE, FALSE = All(()), Some(())


def below(a: Polynomial, b: Polynomial) -> Formula:
    """`a < b`."""
    return AtLeast(difference(difference(b, a), {(): 1}))


def at_most(a: Polynomial, b: Polynomial) -> Formula:
    """`a <= b`."""
    return AtLeast(difference(b, a))


def equal(a: Polynomial, b: Polynomial) -> Formula:
    """`a == b`."""
    return All((at_most(a, b), at_most(b, a)))


def negated(formula: Formula) -> Formula:
    """What holds where the formula does not."""
    match formula:
        case AtLeast(polynomial=p):
            return AtLeast(difference({(): -1}, p))
        case All(parts=parts):
            return Some(tuple(map(negated, parts)))
        case Some(parts=parts):
            return All(tuple(map(negated, parts)))
        case _:
            assert_never(formula)


def moved_formula(formula: Formula, move: Callable[[Polynomial], Polynomial]) -> Formula:
    """The formula with each of its polynomials replaced."""
    match formula:
        case AtLeast(polynomial=p):
            return AtLeast(move(p))
        case All(parts=parts):
            return All(tuple(moved_formula(part, move) for part in parts))
        case Some(parts=parts):
            return Some(tuple(moved_formula(part, move) for part in parts))
        case _:
            assert_never(formula)


def polynomials_of(formula: Formula) -> tuple[Polynomial, ...]:
    """All polynomials of a formula."""
    match formula:
        case AtLeast(polynomial=p):
            return (p,)
        case All(parts=parts) | Some(parts=parts):
            return tuple(p for part in parts for p in polynomials_of(part))
        case _:
            assert_never(formula)
