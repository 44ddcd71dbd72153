"""What follows from inequalities: facts go in, and with them come those about older atoms alone that they imply.

The youngest atom of two facts is eliminated where they bound it from both sides (Fourier and Motzkin), with factors
that are known not to be negative. All numbers are integers, so that `n * x >= 1` gives `x >= 1`.
"""

from __future__ import annotations

from collections.abc import Iterable

from teenyc.ir.intervals import UNBOUNDED
from teenyc.ir.masks import View
from teenyc.ir.polynomials import Factors, Polynomial
from teenyc.safety.terms import (
    ONE,
    Key,
    Terms,
    coefficient,
    common,
    divided,
    key_of,
    known_number,
    minus,
    negative,
    plus,
    split,
    times,
    top_of,
)

MOST = 160
"""More facts than this are not looked at."""

LONGEST = 10
"""A fact of more terms is not combined with others."""

ROUNDS = 3
"""How often the facts are gone through: what is learned of an old atom tells signs that are needed for young ones."""


class Hypotheses:
    """Facts `p >= 0` by their youngest atom, closed under elimination; `lows` are numbers that atoms are not below."""

    def __init__(self, terms: Terms, facts: Iterable[Polynomial]) -> None:
        self.terms = terms
        self.lows: dict[View, int] = {}
        self.facts: dict[Key, Polynomial] = {}
        self.by_top: dict[View, list[Polynomial]] = {}
        self.met: dict[View, int] = {}
        self.is_absurd = False
        for fact in facts:
            self.note(fact)
        self.close()

    def note(self, fact: Polynomial) -> None:
        """Takes a fact over, with what it says of integers."""
        pending = [fact]
        while pending:
            each = _tight(pending.pop())
            number = known_number(each)
            if number is not None:
                self.is_absurd = self.is_absurd or number < 0
                continue
            key = key_of(each)
            if key in self.facts or len(self.facts) >= MOST:
                continue
            self.facts[key] = each
            top = top_of(each)
            assert top is not None, "a number has no atoms"
            self.by_top.setdefault(top, []).append(each)
            self.note_low(each)
            pending.extend(self.reduced(each))
            pending.extend(self.peeled(each))

    def note_low(self, fact: Polynomial) -> None:
        """`x - c >= 0`."""
        names = [factors for factors in fact if factors]
        if len(names) == 1 and len(names[0]) == 1 and fact[names[0]] == 1:
            (only,) = names[0]
            self.lows[only] = max(self.low(only), -fact.get((), 0))

    def low(self, atom: View) -> int:
        """A number that an atom is not below."""
        return max(self.terms.ranges[atom[0]][0], self.lows.get(atom, -UNBOUNDED))

    def least(self, polynomial: Polynomial) -> int:
        """A number that a polynomial is not below, by the ranges of its atoms."""
        whole = 0
        for factors, c in polynomial.items():
            low = high = c
            for atom in factors:
                ends = [x * y for x in (low, high) for y in (self.low(atom), self.terms.ranges[atom[0]][1])]
                low, high = max(min(ends), -UNBOUNDED), min(max(ends), UNBOUNDED)
            if low <= -UNBOUNDED:
                return -UNBOUNDED
            whole += low
        return whole

    def is_not_negative(self, polynomial: Polynomial) -> bool:
        """Whether a polynomial is known not to be below zero from its signs, or numbers, alone."""
        return self.least(polynomial) >= 0

    def reduced(self, fact: Polynomial) -> Iterable[Polynomial]:
        """`f * g + k >= 0` with a factor `f` of all terms but the number: what that says of `g`."""
        number = fact.get((), 0)
        factor, _ = common((factors, c) for factors, c in fact.items() if factors)
        if not factor:
            return
        inner, _ = split({f: c for f, c in fact.items() if f}, factor)
        least = self.least({factor: 1})
        if 0 <= number < least:
            yield inner  # f * g > -f
        elif number < 0:
            if least >= 0:
                yield minus(inner, ONE)  # f * g >= 1
            yield from self.positive(factor, inner)

    def peeled(self, fact: Polynomial) -> Iterable[Polynomial]:
        """`f * g - r >= 0` with a factor `f` of the youngest atom: of a positive `r`, `g` is positive too."""
        top = top_of(fact)
        if top is None:
            return
        factor, _ = common((factors, c) for factors, c in fact.items() if top in factors)
        left = list(factor)
        left.remove(top)
        inner, rest = split(fact, tuple(left))
        if not left or not any(rest) or self.least({tuple(left): 1}) < 0:
            return
        if self.is_not_negative(minus(negative(rest), ONE)):
            yield minus(inner, ONE)
        elif self.is_not_negative(minus(minus({tuple(left): 1}, ONE), rest)):
            yield inner

    def positive(self, factor: Factors, inner: Polynomial) -> Iterable[Polynomial]:
        """The atoms of a product that is at least 1, where what they are multiplied with is not negative."""
        for index, atom in enumerate(factor):
            rest = times(inner, {factor[:index] + factor[index + 1 :]: 1})
            if rest is not None and self.low(atom) < 1 and self.is_not_negative(rest):
                yield {(atom,): 1, (): -1}

    # ---- elimination ------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Eliminates the youngest atoms first, until nothing new is learned."""
        for _ in range(ROUNDS):
            before = len(self.facts), dict(self.lows)
            self.met.clear()
            while (top := self.next_top()) is not None:
                self.eliminate(top)
            if before == (len(self.facts), self.lows) or self.is_full:
                return
            for fact in list(self.facts.values()):
                for each in (*self.reduced(fact), *self.peeled(fact)):
                    self.note(each)

    @property
    def is_full(self) -> bool:
        """Whether no more facts are looked for."""
        return len(self.facts) >= MOST or self.terms.effort <= 0

    def next_top(self) -> View | None:
        """The youngest atom of which facts have not met all others."""
        waiting = (top for top, facts in self.by_top.items() if self.met.get(top, 0) < len(facts))
        return None if self.is_full else max(waiting, default=None)

    def eliminate(self, top: View) -> None:
        """Combines each fact with those before it."""
        facts = self.by_top[top]
        index = self.met.get(top, 0)
        self.met[top] = index + 1
        if len(facts[index]) > LONGEST:
            return
        (factor, _) = coefficient(facts[index], top)
        for other in facts[:index]:
            if len(other) > LONGEST or self.is_full:
                continue
            self.terms.effort -= 1
            found = self.combined(facts[index], factor, other, coefficient(other, top)[0], top)
            if found is not None:
                self.note(found)

    def combined(self, one: Polynomial, a: Polynomial, two: Polynomial, b: Polynomial, atom: View) -> Polynomial | None:
        """What two facts with the factors `a` and `b` of an atom give without it; None if they bound it on one side."""
        if any(atom in factors for each in (a, b) for factors in each):
            return None
        for first, second, c, d in ((one, two, a, b), (two, one, b, a)):
            factor = divided(negative(c), d)
            if factor is not None and self.is_not_negative(factor):
                more = times(second, factor)
                return None if more is None else plus(first, more)
        for first, second, c, d in ((one, two, a, b), (two, one, b, a)):
            if self.is_not_negative(c) and self.is_not_negative(negative(d)):
                left, right = times(first, negative(d)), times(second, c)
                return None if left is None or right is None else plus(left, right)
        return None


def _tight(fact: Polynomial) -> Polynomial:
    """A fact about integers divided by what divides all its terms but the number, which is rounded down."""
    _, number = common((factors, c) for factors, c in fact.items() if factors)
    if number <= 1:
        return fact
    found = {factors: c // number for factors, c in fact.items()}
    return {factors: c for factors, c in found.items() if c}
