"""Addresses as digits: an offset goes in, and parts of it that are equal wherever the whole is come out.

`q * s + r` with `0 <= r < s` is known by `q` and `r`, if the stride `s` is the same in all programs. Both may have
parts of their own again. Which strides there are is read off one access; another of the same tensor is taken apart
alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from teenyc.ir.masks import View
from teenyc.ir.polynomials import Polynomial
from teenyc.record import record
from teenyc.safety.prover import Guards, Prover
from teenyc.safety.terms import ONE, Terms, atoms_of, coefficient, minus, split


@record
class Digit:
    """A part that is not taken apart further."""

    polynomial: Polynomial


@record
class Split:
    """`upper * stride + lower` with `0 <= lower < stride`."""

    stride: Polynomial
    upper: Parts
    lower: Parts


Parts: TypeAlias = "Digit | Split"


@record
class Found:
    """The parts of an offset, and what arguments must satisfy for them to be its parts."""

    parts: Parts
    guards: Guards


def parts_of(offset: Polynomial, terms: Terms, prover: Prover, programs: frozenset[View]) -> Found:
    """An offset in parts, as far as that sets the atoms `programs` apart."""
    own = atoms_of(offset)
    if not own & programs or _is_single(offset, terms):
        return Found(Digit(offset), {})
    for is_open in (False, True):
        for stride in _strides(offset, terms):
            found = _split(offset, stride, terms, prover, is_open)
            if found is None:
                continue
            upper, lower, guards = found
            above, below = (parts_of(p, terms, prover, programs) for p in (upper, lower))
            return Found(Split(stride, above.parts, below.parts), {**guards, **above.guards, **below.guards})
    return Found(Digit(offset), {})


def parts_like(offset: Polynomial, like: Parts, terms: Terms, prover: Prover) -> Found | None:
    """An offset in the same parts as another one."""
    if isinstance(like, Digit):
        return Found(Digit(offset), {})
    for is_open in (False, True):
        found = _split(offset, like.stride, terms, prover, is_open)
        if found is None:
            continue
        upper, lower, guards = found
        above, below = parts_like(upper, like.upper, terms, prover), parts_like(lower, like.lower, terms, prover)
        if above is not None and below is not None:
            return Found(Split(like.stride, above.parts, below.parts), {**guards, **above.guards, **below.guards})
    return None


def told(one: Parts, two: Parts, terms: Terms) -> frozenset[View]:
    """The atoms that are equal in two programs where two offsets in like parts are."""
    if isinstance(one, Split) and isinstance(two, Split):
        return told(one.upper, two.upper, terms) | told(one.lower, two.lower, terms)
    if isinstance(one, Digit) and isinstance(two, Digit) and one.polynomial == two.polynomial:
        single = _single(one.polynomial, terms)
        return frozenset() if single is None else frozenset({single})
    return frozenset()


def _split(
    offset: Polynomial, stride: Polynomial, terms: Terms, prover: Prover, is_open: bool
) -> tuple[Polynomial, Polynomial, Guards] | None:
    ((factors, number),) = stride.items()
    upper, lower = split(offset, factors, number)
    guards: Guards = {}
    for goal in (lower, minus(minus(stride, ONE), lower)):
        found = prover.needs(goal, is_open=is_open)
        if found is None:
            return None
        guards = {**guards, **found}
    return upper, lower, guards


def _strides(offset: Polynomial, terms: Terms) -> Iterator[Polynomial]:
    """The factors of atoms that launches know and that are one term, those of most factors first."""
    found: dict[frozenset[tuple[object, int]], Polynomial] = {}
    for each in sorted(atoms_of(offset)):
        factor, _ = coefficient(offset, each)
        if len(factor) == 1 and factor != ONE and terms.is_argument(factor) and each[0] not in terms.symbols:
            ((factors, number),) = factor.items()
            positive: Polynomial = {factors: abs(number)}
            if positive != ONE:
                found.setdefault(frozenset(positive.items()), positive)
    yield from sorted(found.values(), key=_size, reverse=True)


def _size(stride: Polynomial) -> tuple[int, int, object]:
    ((factors, number),) = stride.items()
    return len(factors), number, factors


def _is_single(offset: Polynomial, terms: Terms) -> bool:
    return _single(offset, terms) is not None


def _single(offset: Polynomial, terms: Terms) -> View | None:
    """The one atom of a digit that is it and what launches know."""
    own = [(f, c) for f, c in offset.items() if any(n not in terms.symbols for n, _ in f)]
    if len(own) != 1 or len(own[0][0]) != 1:
        return None
    return own[0][0][0]
