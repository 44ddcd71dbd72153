"""Strides as digits: how far indices go and how often goes in; whether no two of their sums are equal comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from teenyc.ir.masks import Masks
from teenyc.ir.nodes import Apart, AtLeast, Call, Kernel, Let
from teenyc.ir.polynomials import Factors, Polynomial, difference, product
from teenyc.ir.walk import statements_of
from teenyc.record import record
from teenyc.types import Extent, Quotient

MOST = 4
"""So many orders of digits a launch is asked about."""


@record
class Digit:
    """An index in a sum: how far a step of it goes, and how many steps there are, where that is known."""

    stride: Polynomial
    extent: Polynomial | None


def are_digits(digits: Sequence[Digit], masks: Masks, reach: Polynomial | None = None) -> bool:
    """Whether no two choices of the indices give the same sum.

    So it is where in some order each stride is no less than the digits below it reach together.
    """
    reach = {(): 1} if reach is None else reach
    for n, digit in enumerate(digits):
        rest = (*digits[:n], *digits[n + 1 :])
        if not is_at_least(digit.stride, reach, masks):
            continue
        if not rest:
            return True
        further = product(_positive(digit.stride), digit.extent) if digit.extent is not None else None
        if further is not None and are_digits(rest, masks, further):
            return True
    return False


def apart(digits: Sequence[Digit], masks: Masks, known: Callable[[Polynomial], Extent | None]) -> Apart | None:
    """What must be true of numbers that a launch knows, so that the digits are digits; None where nothing is enough.

    Of orders that ask for all that another one does, that one is left.
    """
    found: dict[tuple[AtLeast, ...], None] = {}
    for order in _orders(digits, masks, known, {(): 1}):
        if not order:
            return ()
        found[order] = None
    kept = tuple(order for order in found if not any({*other} < {*order} for other in found))
    return kept[:MOST] or None


def _orders(
    digits: Sequence[Digit], masks: Masks, known: Callable[[Polynomial], Extent | None], reach: Polynomial
) -> Iterator[tuple[AtLeast, ...]]:
    """What each order of the digits asks for, from the least stride on; `reach` is that of digits below these."""
    for n, digit in enumerate(digits):
        rest, stride, asked = (*digits[:n], *digits[n + 1 :]), digit.stride, tuple[AtLeast, ...]()
        if is_at_least(stride, reach, masks):
            stride = _positive(stride)
        else:
            number, least = known(stride), known(reach)
            if number is None or least is None or number.known is not None:
                continue
            asked = (AtLeast(number, least),)
        if not rest:
            yield asked
            continue
        further = product(stride, digit.extent) if digit.extent is not None else None
        if further is not None:
            yield from ((*asked, *others) for others in _orders(rest, masks, known, further))


def is_at_least(stride: Polynomial, reach: Polynomial, masks: Masks) -> bool:
    """Whether a stride, in whatever direction, is no less than a positive number: by coefficients alone.

    Constants are numbers of at least 1: each term that is taken away must be part of one that is there.
    """
    rest = difference(_positive(stride), reach)
    there = {factors: c for factors, c in rest.items() if c > 0}
    for factors, c in rest.items():
        if c > 0:
            continue
        whole = next((f for f in there if there[f] >= -c and _is_part(factors, f, masks)), None)
        if whole is None:
            return False
        there[whole] += c
    return all(_is_constant(f, masks) for factors in there for f in factors if there[factors]) or rest == {}


def _positive(stride: Polynomial) -> Polynomial:
    """A stride without its sign, where all its terms have one."""
    return {f: -c for f, c in stride.items()} if all(c < 0 for c in stride.values()) else stride


def _is_part(factors: Factors, whole: Factors, masks: Masks) -> bool:
    """Whether a product is another times constants."""
    rest = list(whole)
    for factor in factors:
        if factor not in rest:
            return False
        rest.remove(factor)
    return all(_is_constant(f, masks) for f in rest)


def _is_constant(factor: tuple[int, tuple[int, ...]], masks: Masks) -> bool:
    return factor[0] in masks.constants


def extents_of(kernel: Kernel, masks: Masks) -> Mapping[int, Polynomial]:
    """How many lanes each `arange` has at most, by its number in `masks`."""
    found: dict[int, Polynomial] = {}
    for _, statement in statements_of(kernel.body):
        operation = statement.operation if isinstance(statement, Let) else None
        if isinstance(statement, Let) and isinstance(operation, Call) and operation.intrinsic == "arange":
            first, last = (_polynomial(operation.attribute(name), masks) for name in ("start", "end"))
            if first is not None and last is not None:
                found[masks.view(statement.results[0])[0]] = difference(last, first)
    return found


def _polynomial(extent: object, masks: Masks) -> Polynomial | None:
    """An extent as a sum of products of constants; of a quotient what is divided, which is no less."""
    if not isinstance(extent, Extent):
        return None
    total: Polynomial = {}
    for monomial, c in extent.terms:
        term: Polynomial | None = {(): c}
        for atom in monomial:
            factor = _atom(atom, masks)
            term = product(term, factor) if term is not None and factor is not None else None
        if term is None:
            return None
        total = difference(total, {f: -n for f, n in term.items()})
    return total


def _atom(atom: str | Quotient, masks: Masks) -> Polynomial | None:
    if isinstance(atom, Quotient):
        return _polynomial(atom.numerator, masks)
    return {((masks.constant(atom), ()),): 1}
