"""What a value of a kernel is, symbolically: a number, a flag, or an address in a tensor; and the accesses found."""

from __future__ import annotations

from typing import TypeAlias

from teenyc.ir.intervals import Interval
from teenyc.ir.nodes import Operand, Value
from teenyc.ir.polynomials import Polynomial
from teenyc.record import record
from teenyc.safety.formulas import Formula, moved_formula
from teenyc.safety.prover import Known
from teenyc.safety.terms import mapped
from teenyc.source import Span
from teenyc.types import ONE, TensorType

WIDE: Interval = (-(1 << 63), (1 << 63) - 1)
"""The integers of 64 bits."""


@record
class Number:
    """An integer, in each lane."""

    polynomial: Polynomial


@record
class Flag:
    """A bool: whether a condition holds, in each lane."""

    formula: Formula


@record
class Address:
    """A place so many elements behind the first one of a parameter; `steps` are the integers that were added, by id."""

    root: Value
    offset: Polynomial
    steps: frozenset[int] = frozenset()


Symbol: TypeAlias = "Number | Flag | Address | None"
"""What is known of a value; None of what is no integer, no flag, and no address in one tensor."""


@record(kw_only=True)
class Access:
    """One load, store or atomic: where it goes, in which lanes, and what holds there."""

    kind: str
    span: Span
    address: Address | None
    known: Known
    assumed: tuple[tuple[Formula, Span], ...]
    is_read: bool
    is_write: bool
    is_atomic: bool


def moved(symbol: Symbol, positions: dict[int, int]) -> Symbol:
    """A symbol whose axes lie elsewhere: each position is a key."""

    def move(polynomial: Polynomial) -> Polynomial:
        return mapped(polynomial, lambda own: tuple(positions[p] for p in own))

    match symbol:
        case Number(polynomial=p):
            return Number(move(p))
        case Flag(formula=f):
            return Flag(moved_formula(f, move))
        case Address(root=root, offset=offset, steps=steps):
            return Address(root, move(offset), steps)
        case None:
            return None


def positions_of(operand: Operand) -> tuple[int, ...]:
    """The positions along which a value varies, counted from the last axis."""
    shape = operand.type.shape if isinstance(operand.type, TensorType) else ()
    return tuple(n - len(shape) for n, extent in enumerate(shape) if extent != ONE)
