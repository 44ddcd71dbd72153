"""Arithmetic that polynomials lack: quotients, remainders, extrema and selects of integers, as new atoms with facts.

`Numbers` makes each atom once: equal operands give the same atom. A quotient of what is made of digits is found
exactly, `(q * n + r) / n = q` for `0 <= r < n`; an index that is taken apart is from then on the sum of its digits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

from teenyc.ir.intervals import FULL, Interval, hull
from teenyc.ir.polynomials import Factors, Polynomial
from teenyc.record import field, state
from teenyc.safety.formulas import All, AtLeast, Formula, Some, at_most, equal, moved_formula, negated, polynomials_of
from teenyc.safety.prover import Known, Prover
from teenyc.safety.terms import (
    ONE,
    ZERO,
    Key,
    Terms,
    atom,
    atoms_of,
    common,
    key_of,
    minus,
    plus,
    split,
    times,
    unplaced,
    used_positions,
)
from teenyc.types import Quotient

Ordered: TypeAlias = "Callable[[Polynomial, Polynomial], tuple[Polynomial, Polynomial]]"


@state
class Numbers:
    """Makes atoms in `terms`; each operation is told what is known where it stands."""

    terms: Terms
    base: Known = Known()
    """what holds in every program of a launch"""
    presumed: dict[Key, Polynomial] = field(default_factory=dict)
    """polynomials over arguments that are taken not to be below 0: with them divisors are positive"""

    def made(
        self, key: Hashable, name: str, known: Interval, parts: Sequence[Polynomial], facts: Sequence[Formula] = ()
    ) -> Polynomial:
        """The atom of a key, which varies where its parts do. In `facts` it is the polynomial `ITSELF`."""
        positions = used_positions((*parts, *(p for f in facts for p in polynomials_of(f))))
        full_key = (key, tuple(key_of(unplaced(p, positions)) for p in parts))
        number = self.terms.keys.get(full_key)
        if number is None:
            depends = self.terms.depends_on(*parts)
            number = self.terms.keys[full_key] = self.terms.fresh(name, known, depends)
            own = tuple(range(len(positions)))
            self.terms.facts[number] = tuple(
                moved_formula(f, lambda p: _named(unplaced(p, positions), number, own)) for f in facts
            )
        return atom(number, positions)

    def lane(self, name: str, start: Polynomial, end: Polynomial) -> Polynomial:
        """The lane of the last axis, from `start` to below `end`."""
        key = ("lane", key_of(start), key_of(end))
        number = self.terms.keys.get(key)
        if number is None:
            known = self.terms.range_of(start)[0], self.terms.range_of(end)[1] - 1
            number = self.terms.keys[key] = self.terms.fresh(name, known)
            own = atom(number, (0,))
            self.terms.facts[number] = (at_most(start, own), AtLeast(minus(minus(end, ONE), own)))
        return atom(number, (-1,))

    # ---- quotients --------------------------------------------------------------------------------------------------

    def quotient(self, over: Polynomial, under: Polynomial, known: Known) -> Polynomial | None:
        """`over / under` where the one is not negative and the other positive; None elsewhere.

        What arguments must satisfy for that is *presumed* from then on, in all of the kernel.
        """
        over, under = self.terms.rewritten(over), self.terms.rewritten(under)
        if under == ONE:
            return over
        if len(under) != 1:
            return None
        known = known.with_formula(*map(AtLeast, self.presumed.values()))
        signs = Prover(self.terms, known).all_need((minus(under, ONE), over))
        if signs is None:
            return None
        self.presumed.update(signs)
        self.base = self.base.with_formula(*map(AtLeast, signs.values()))
        return self.positive_quotient(
            over, under, Prover(self.terms, known.with_formula(*map(AtLeast, signs.values())))
        )

    def positive_quotient(self, over: Polynomial, under: Polynomial, prover: Prover) -> Polynomial:
        """The same of numbers with these signs, and a divisor of one term."""
        ((factors, number),) = under.items()
        whole, rest = split(over, factors, number)
        if rest and self.terms.is_argument(over) and self.terms.is_argument(under):
            return self.floor(over, under)  # as the grid and shapes have it
        if whole and prover.proves(rest):
            return plus(whole, self.positive_quotient(rest, under, prover))
        if prover.proves(minus(minus(under, ONE), over)):
            return ZERO
        found = self.nested(over, factors, number, prover)
        return found if found is not None else self.floor(over, under)

    def nested(self, over: Polynomial, factors: Factors, number: int, prover: Prover) -> Polynomial | None:
        """`(f * u + r) / (f * v) = u / v` for `0 <= r < f`."""
        for term, c in sorted(over.items(), key=lambda t: (-len(t[0]), t[0])):
            shared, by = common([(term, c), (factors, number)])
            if not shared and by == 1:
                continue
            upper, rest = split(over, shared, by)
            lower, _ = split({factors: number}, shared, by)
            factor: Polynomial = {shared: by}
            if lower == ONE or not prover.proves(rest) or not prover.proves(minus(minus(factor, ONE), rest)):
                continue
            if prover.proves(upper) and prover.proves(minus(lower, ONE)):
                return self.positive_quotient(upper, lower, prover)
        return None

    def floor(self, over: Polynomial, under: Polynomial) -> Polynomial:
        """The atom of a quotient. An atom that is divided is taken apart into the quotient and the remainder."""
        name = f"({self.terms.text(over)}) / {self.terms.text(under)}"
        product = times(under, ITSELF)
        assert product is not None, "a divisor is one term"
        rest = minus(over, product)
        facts = (AtLeast(ITSELF), AtLeast(rest), AtLeast(minus(minus(under, ONE), rest)))
        _, high = self.terms.range_of(over)
        upper, lower = self.terms.extent(over), self.terms.extent(under)
        if upper is not None and lower is not None:  # a launch can divide too
            return self.terms.quotient(Quotient(upper, lower), over, under)
        quotient = self.made("quotient", name, (0, max(high, 0)), (over, under), facts)
        self.take_apart(over, under, quotient)
        return quotient

    def take_apart(self, over: Polynomial, under: Polynomial, quotient: Polynomial) -> None:
        """Replaces `x`, of which `x / n` is an atom, by `x / n * n + x % n` with an atom for the remainder.

        That is for the whole kernel, so the signs must be right in all of it.
        """
        positions = used_positions((over, under))
        if len(over) != 1 or next(iter(over.values())) != 1 or len(next(iter(over))) != 1:
            return
        ((number, own),) = next(iter(over))
        if own != positions or number in self.terms.symbols or number in self.terms.definitions:
            return
        everywhere = Prover(self.terms, self.base)
        if not everywhere.proves(over) or not everywhere.proves(minus(under, ONE)):
            return
        name = f"{self.terms.names[number]} % {self.terms.text(under)}"
        _, high = self.terms.range_of(minus(under, ONE))
        facts = (AtLeast(ITSELF), AtLeast(minus(minus(under, ONE), ITSELF)))
        rest = self.made("remainder", name, (0, max(high, 0)), (over, under), facts)
        product = times(quotient, under)
        assert product is not None, "a divisor is one term"
        self.terms.definitions[number] = unplaced(plus(product, rest), positions)
        for part, places in atoms_of(plus(quotient, rest)):
            if places == positions:
                self.terms.wholes[part] = (*self.terms.wholes.get(part, ()), number)

    # ---- extrema and selects ----------------------------------------------------------------------------------------

    def least(self, a: Polynomial, b: Polynomial, known: Known) -> Polynomial:
        """The smaller one."""
        return self.outermost("minimum", a, b, known, lambda one, other: (one, other))

    def most(self, a: Polynomial, b: Polynomial, known: Known) -> Polynomial:
        """The larger one."""
        return self.outermost("maximum", a, b, known, lambda one, other: (other, one))

    def outermost(self, name: str, a: Polynomial, b: Polynomial, known: Known, ordered: Ordered) -> Polynomial:
        """One of two; `ordered` gives these as they are in size where the first of its own two is that one."""
        prover = Prover(self.terms, known, splits=0)
        for one, other in ((a, b), (b, a)):
            low, high = ordered(one, other)
            if prover.proves(minus(high, low)):
                return one
        first, second = sorted((a, b), key=lambda p: sorted(p.items()))
        bounds = (at_most(*ordered(ITSELF, first)), at_most(*ordered(ITSELF, second)))
        cases = (
            All((equal(ITSELF, first), at_most(*ordered(first, second)))),
            All((equal(ITSELF, second), at_most(*ordered(second, first)))),
        )
        return self.extremum(name, first, second, (*bounds, Some(cases)))

    def extremum(self, name: str, a: Polynomial, b: Polynomial, facts: tuple[Formula, ...]) -> Polynomial:
        one, two = self.terms.range_of(a), self.terms.range_of(b)
        choose = min if name == "minimum" else max
        known = (choose(one[0], two[0]), choose(one[1], two[1]))
        text = f"{name}({self.terms.text(a)}, {self.terms.text(b)})"
        return self.made(name, text, known, (a, b), facts)

    def chosen(self, condition: Formula, a: Polynomial, b: Polynomial, key: Hashable, name: str) -> Polynomial:
        """`a` where the condition holds, `b` elsewhere."""
        if a == b:
            return a
        cases = Some((All((equal(ITSELF, a), condition)), All((equal(ITSELF, b), negated(condition)))))
        known = hull(self.terms.range_of(a), self.terms.range_of(b))
        return self.made(key, name, known, (a, b, *polynomials_of(condition)), (cases,))

    def unknown(
        self, id: int, what: str, name: str, known: Interval = FULL, positions: tuple[int, ...] = ()
    ) -> Polynomial:
        """An atom of which nothing but its range is known: what a value of that id is in some way."""
        key = (what, id)
        number = self.terms.keys.get(key)
        if number is None:
            number = self.terms.keys[key] = self.terms.fresh(name, known, frozenset({id}))
        return atom(number, positions)

    def flag(self, condition: Formula, key: Hashable) -> Polynomial:
        """1 where a condition holds, 0 elsewhere."""
        return self.chosen(condition, ONE, ZERO, key, "flag")


_SELF = -1
ITSELF: Polynomial = {((_SELF, ()),): 1}
"""The atom that is being made, in its own facts."""


def _named(polynomial: Polynomial, number: int, own: tuple[int, ...]) -> Polynomial:
    """Facts about `ITSELF` as facts about the atom of a number."""
    found: dict[Factors, int] = {}
    for factors, c in polynomial.items():
        new = tuple(sorted((number, own) if n == _SELF else (n, positions) for n, positions in factors))
        found[new] = found.get(new, 0) + c
    return {factors: c for factors, c in found.items() if c}
