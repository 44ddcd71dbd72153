"""Integers of a kernel as polynomials: what arithmetic cannot take apart is an atom; a table says what is known of it.

An atom is a view: a number, and for each of its own axes the position, counted from the last axis of a tensor, where
that lies. What is known of a number is written over its own axes, 0, 1, …, and is moved to where an atom lies.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from math import gcd
from typing import TypeAlias

from teenyc.ir.intervals import FULL, Interval, bounded
from teenyc.ir.masks import View
from teenyc.ir.polynomials import Factors, Polynomial, difference, product, total
from teenyc.record import field, record, state
from teenyc.safety.formulas import AtLeast, Formula, moved_formula
from teenyc.source import Span
from teenyc.types import Atom as Symbol
from teenyc.types import Extent, Quotient

ZERO: Polynomial = {}
ONE: Polynomial = {(): 1}
DEGREE = 8
"""A product of more atoms is not taken apart."""

NONE: frozenset[int] = frozenset()

Key: TypeAlias = "frozenset[tuple[Factors, int]]"


@record
class Source:
    """Why an atom is no more than its range: in words, with the place; `wraps` where arithmetic may have wrapped."""

    text: str
    span: Span
    wraps: bool = False


@state
class Terms:
    """What is known of atoms, by number. Younger atoms are made of older ones; arguments of a launch are the oldest."""

    names: list[str] = field(default_factory=list)
    ranges: list[Interval] = field(default_factory=list)
    facts: list[tuple[Formula, ...]] = field(default_factory=list)
    depends: list[frozenset[int]] = field(default_factory=list)
    symbols: dict[int, Symbol] = field(default_factory=dict)
    limited: set[int] = field(default_factory=set)
    """arguments that others limit, and of which guards do not speak"""
    sources: dict[int, Source] = field(default_factory=dict)
    definitions: dict[int, Polynomial] = field(default_factory=dict)
    wholes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """the atoms that were taken apart into others, by the latter; they vary along the same axes"""
    keys: dict[Hashable, int] = field(default_factory=dict)
    effort: int = 40_000
    """steps that proofs about the kernel may still take; without any they fail"""

    def fresh(self, name: str, known: Interval = FULL, depends: frozenset[int] = NONE) -> int:
        """The number of a new atom, of which facts may be stated while nothing has asked for them."""
        self.names.append(name)
        self.ranges.append(known)
        self.facts.append(())
        self.depends.append(depends)
        return len(self.names) - 1

    def depends_on(self, *polynomials: Polynomial) -> frozenset[int]:
        """The values of the kernel, by id, that polynomials are made of; arguments are none."""
        return NONE.union(*(self.depends[number] for p in polynomials for number, _ in atoms_of(p)))

    def argument(self, symbol: Symbol, known: Interval) -> Polynomial:
        """What a launch knows under a name."""
        key = ("argument", symbol)
        if key not in self.keys:
            self.keys[key] = self.fresh(str(symbol), known)
            self.symbols[self.keys[key]] = symbol
        return {((self.keys[key], ()),): 1}

    def quotient(
        self, symbol: Quotient, over: Polynomial, under: Polynomial, *, is_positive: bool = True
    ) -> Polynomial:
        """A quotient of arguments, of which the divisor is positive: `q * n <= x < q * n + n`, as it is rounded down.

        If what is divided is not below 0, neither is the quotient.
        """
        low, high = self.range_of(over)
        found = self.argument(symbol, (min(low, 0), max(high, 0)))
        ((own, _),) = next(iter(found))
        whole = product(found, under)
        if whole is not None and not self.facts[own]:
            rest = difference(over, whole)
            sign = (AtLeast(found),) if is_positive else ()
            self.facts[own] = (AtLeast(rest), AtLeast(difference(difference(under, ONE), rest)), *sign)
        return found

    def is_argument(self, polynomial: Polynomial) -> bool:
        """Whether a launch knows the number before a program runs."""
        return all(number in self.symbols for factors in polynomial for number, _ in factors)

    def rewritten(self, polynomial: Polynomial) -> Polynomial:
        """The polynomial with each atom that was taken apart replaced by its parts."""
        while found := next((a for factors in polynomial for a in factors if a[0] in self.definitions), None):
            inner = placed(self.definitions[found[0]], found[1])
            replaced = substituted(polynomial, found, inner)
            if replaced is None:
                return polynomial
            polynomial = replaced
        return polynomial

    def facts_of(self, atom: View) -> Iterable[Formula]:
        """What is known of an atom where it lies."""
        number, positions = atom
        for fact in self.facts[number]:
            yield moved_formula(fact, lambda p: placed(p, positions))

    def range_of(self, polynomial: Polynomial) -> Interval:
        """An interval that holds every number of the polynomial."""
        low = high = 0
        for factors, coefficient in polynomial.items():
            a, b = coefficient, coefficient
            for number, _ in factors:
                ends = [x * y for x in (a, b) for y in self.ranges[number]]
                a, b = bounded((min(ends), max(ends)))
            low, high = low + a, high + b
        return bounded((low, high))

    def extent(self, polynomial: Polynomial) -> Extent | None:
        """A polynomial over arguments as an extent."""
        if not self.is_argument(polynomial):
            return None
        whole = Extent.of(0)
        for factors, coefficient in polynomial.items():
            term = Extent.of(coefficient)
            for number, _ in factors:
                term = term * Extent.of(self.symbols[number])
            whole = whole + term
        return whole

    def text(self, polynomial: Polynomial) -> str:
        """A polynomial for people."""
        whole = Extent.of(0)
        for factors, coefficient in polynomial.items():
            term = Extent.of(coefficient)
            for number, _ in factors:
                term = term * Extent.of(self.symbols.get(number, self.names[number]))
            whole = whole + term
        return str(whole)


def atom(number: int, positions: tuple[int, ...] = ()) -> Polynomial:
    """An atom as a polynomial."""
    return {((number, positions),): 1}


def constant(value: int) -> Polynomial:
    """A number as a polynomial."""
    return {(): value} if value else {}


def known_number(polynomial: Polynomial) -> int | None:
    """The number that a polynomial is, where it has no atoms."""
    if not polynomial:
        return 0
    return polynomial.get(()) if len(polynomial) == 1 else None


def key_of(polynomial: Polynomial) -> Key:
    """Equal for equal polynomials."""
    return frozenset(polynomial.items())


def negative(polynomial: Polynomial) -> Polynomial:
    """`-p`."""
    return {factors: -c for factors, c in polynomial.items()}


def times(a: Polynomial, b: Polynomial) -> Polynomial | None:
    """The product; None where it is too large."""
    found = product(a, b)
    return None if found is None or any(len(factors) > DEGREE for factors in found) else found


def scaled(polynomial: Polynomial, factor: int) -> Polynomial:
    """A multiple by a number."""
    return {factors: c * factor for factors, c in polynomial.items()} if factor else {}


def plus(*polynomials: Polynomial) -> Polynomial:
    """The sum of several."""
    whole: Polynomial = {}
    for each in polynomials:
        whole = total(whole, each)
    return whole


def minus(a: Polynomial, b: Polynomial) -> Polynomial:
    """The difference."""
    return difference(a, b)


def atoms_of(polynomial: Polynomial) -> set[View]:
    """The atoms that occur."""
    return {a for factors in polynomial for a in factors}


def top_of(polynomial: Polynomial) -> View | None:
    """The youngest atom; None of a number."""
    return max(atoms_of(polynomial), default=None)


def coefficient(polynomial: Polynomial, of: View) -> tuple[Polynomial, Polynomial]:
    """`c` and `r` of `p = c * x + r`; `c` holds `x` where that occurs in a power."""
    inside: dict[Factors, int] = {}
    rest: dict[Factors, int] = {}
    for factors, c in polynomial.items():
        if of in factors:
            inside[_without(factors, of)] = c
        else:
            rest[factors] = c
    return inside, rest


def _without(factors: Factors, one: View) -> Factors:
    at = factors.index(one)
    return factors[:at] + factors[at + 1 :]


def substituted(polynomial: Polynomial, one: View, by: Polynomial) -> Polynomial | None:
    """The polynomial with another in the place of an atom; None where it grows too large."""
    while any(one in factors for factors in polynomial):
        inside, rest = coefficient(polynomial, one)
        changed = times(inside, by)
        if changed is None:
            return None
        polynomial = total(rest, changed)
    return polynomial


def divided(polynomial: Polynomial, by: Polynomial) -> Polynomial | None:
    """The polynomial of which `by` times it is the given one; None where there is none."""
    rest, quotient = dict(polynomial), dict[Factors, int]()
    if not by:
        return None
    lead = max(by, key=_order)
    while rest:
        head = max(rest, key=_order)
        left = _taken(head, lead)
        if left is None or rest[head] % by[lead] or len(quotient) > 16:
            return None
        step: Polynomial = {left: rest[head] // by[lead]}
        quotient[left] = step[left]
        following = times(step, by)
        if following is None:
            return None
        rest = dict(difference(rest, following))
    return quotient


def _order(factors: Factors) -> tuple[int, Factors]:
    return len(factors), factors


def _taken(factors: Factors, some: Factors) -> Factors | None:
    """What is left of a product without some of its factors; None where it has them not."""
    for each in some:
        if each not in factors:
            return None
        factors = _without(factors, each)
    return factors


def split(polynomial: Polynomial, by: Factors, number: int = 1) -> tuple[Polynomial, Polynomial]:
    """`q` and `r` of `p = q * by * number + r`, with all terms in `q` that such a product divides."""
    quotient: dict[Factors, int] = {}
    rest: dict[Factors, int] = {}
    for factors, c in polynomial.items():
        left = _taken(factors, by)
        if left is None or c % number:
            rest[factors] = c
        else:
            quotient[left] = c // number
    return quotient, rest


def common(terms: Iterable[tuple[Factors, int]]) -> tuple[Factors, int]:
    """The greatest product and number that divide every term."""
    shared: list[View] | None = None
    number = 0
    for factors, c in terms:
        number = gcd(number, c)
        if shared is None:
            shared = list(factors)
            continue
        kept, left = [], list(factors)
        for each in shared:
            if each in left:
                left.remove(each)
                kept.append(each)
        shared = kept
    return tuple(shared or ()), number or 1


def mapped(polynomial: Polynomial, move: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Polynomial:
    """The polynomial with every atom moved to other positions."""
    found: dict[Factors, int] = {}
    for factors, c in polynomial.items():
        new = tuple(sorted((number, move(positions)) for number, positions in factors))
        found[new] = found.get(new, 0) + c
    return {factors: c for factors, c in found.items() if c}


def placed(template: Polynomial, positions: tuple[int, ...]) -> Polynomial:
    """What is written over own axes, moved to where they lie."""
    return mapped(template, lambda own: tuple(positions[axis] for axis in own)) if positions else template


def used_positions(polynomials: Iterable[Polynomial]) -> tuple[int, ...]:
    """The positions along which polynomials vary."""
    return tuple(sorted({p for each in polynomials for _, positions in atoms_of(each) for p in positions}))


def unplaced(polynomial: Polynomial, positions: tuple[int, ...]) -> Polynomial:
    """What lies at positions, written over own axes."""
    own: Mapping[int, int] = {position: axis for axis, position in enumerate(positions)}
    return mapped(polynomial, lambda places: tuple(own[p] for p in places)) if positions else polynomial
