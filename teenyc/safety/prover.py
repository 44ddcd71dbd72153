"""Proofs of `p >= 0`: a polynomial and what holds where it is asked go in; whether it follows, or what it still needs.

The youngest atom of the goal is replaced by a bound of it, until a number or the arguments of a launch are left: what
is left over arguments and is not proven is a *guard*, which a launch can check. Where that does not succeed, the values
that a choice may have (a minimum, a branch) are gone through one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from teenyc.ir.masks import View
from teenyc.ir.polynomials import Polynomial
from teenyc.record import record
from teenyc.safety.formulas import All, AtLeast, Formula, Some, polynomials_of
from teenyc.safety.hypotheses import Hypotheses
from teenyc.safety.terms import (
    ONE,
    Key,
    Terms,
    atoms_of,
    coefficient,
    common,
    divided,
    key_of,
    known_number,
    minus,
    scaled,
    split,
    times,
    top_of,
)

BUDGET = 400
"""Steps of one proof."""

GUARDS = 2
"""What needs more conditions than this where it is proven by cases is not proven: hardly a launch satisfies them."""

WAYS = 5
"""So many ways to go on are tried at each step."""

SPLITS = 3
"""So many choices are gone through in one another."""

Parts: TypeAlias = "tuple[tuple[Polynomial, int], ...]"
"""Goals in the place of one, and by how much the depth of the proof grows with each."""

Guards: TypeAlias = "Mapping[Key, Polynomial]"
"""Polynomials over arguments that must not be negative."""


@record
class Known:
    """What holds at a place: formulas, and atoms that are there, of which facts hold too."""

    formulas: tuple[Formula, ...] = ()
    atoms: frozenset[View] = frozenset()

    def with_formula(self, *formulas: Formula) -> Known:
        return Known((*self.formulas, *formulas), self.atoms)

    def with_atom(self, atom: View) -> Known:
        return Known(self.formulas, self.atoms | {atom})


class Prover:
    """Proofs in one place of a kernel."""

    def __init__(self, terms: Terms, known: Known, splits: int = SPLITS) -> None:
        self.terms = terms
        self.known = known
        self.splits = splits
        self.closed: dict[frozenset[View], tuple[Hypotheses, tuple[Some, ...]]] = {}

    def proves(self, goal: Polynomial) -> bool:
        """Whether a polynomial is at least zero wherever programs get to the place."""
        found = self.needs(goal, is_open=False)
        return found is not None

    def needs(self, goal: Polynomial, *, is_open: bool = True) -> Guards | None:
        """What arguments must satisfy for a polynomial to be at least zero; None where that is not known."""
        goal = self.terms.rewritten(goal)
        hypotheses, choices = self.hypotheses(goal)
        if hypotheses.is_absurd:
            return {}
        search = _Search(self.terms, hypotheses, BUDGET)
        if search.guards(goal, is_open=False) is not None:
            return {}
        if self.splits:
            for choice in choices:
                found = self.by_cases(goal, choice, is_open=False)
                if found is not None:
                    return found
        if not is_open:
            return None
        found = _Search(self.terms, hypotheses, BUDGET).guards(goal, is_open=True)
        if found is not None or not self.splits:
            return found
        cases = (self.by_cases(goal, choice, is_open=True) for choice in choices)
        return next((each for each in cases if each is not None and len(each) <= GUARDS), None)

    def all_need(self, goals: Iterable[Polynomial]) -> Guards | None:
        """The same for several, of which each may build on what those before it need."""
        prover, whole = self, dict[Key, Polynomial]()
        for goal in goals:
            found = prover.needs(goal)
            if found is None:
                return None
            if found:
                whole.update(found)
                prover = Prover(self.terms, prover.known.with_formula(*map(AtLeast, found.values())), self.splits)
        return whole

    def by_cases(self, goal: Polynomial, choice: Some, *, is_open: bool) -> Guards | None:
        """The same where each part of a choice holds."""
        whole: dict[Key, Polynomial] = {}
        others = tuple(f for f in self.known.formulas if f is not choice)
        atoms = self.known.atoms | frozenset(atoms_of(goal))
        for part in choice.parts:
            inner = Prover(self.terms, Known((*others, part), atoms), self.splits - 1)
            found = inner.needs(goal, is_open=is_open)
            if found is None:
                return None
            whole.update(found)
        return whole

    def hypotheses(self, goal: Polynomial) -> tuple[Hypotheses, tuple[Some, ...]]:
        """The facts about the atoms of a goal and of the place, and the choices among them, the youngest first."""
        atoms = frozenset(atoms_of(goal))
        if atoms not in self.closed:
            facts: list[Polynomial] = []
            choices: list[tuple[View, int, Some]] = []
            for formula in self.reached(atoms):
                match formula:
                    case AtLeast(polynomial=p):
                        facts.append(self.terms.rewritten(p))
                    case Some():
                        tops = (top_of(self.terms.rewritten(p)) for p in polynomials_of(formula))
                        youngest = max((top for top in tops if top is not None), default=(-1, ()))
                        choices.append((youngest, len(choices), formula))
                    case All():
                        raise AssertionError("the parts of a conjunction are facts of their own")
            ordered = tuple(choice for _, _, choice in sorted(choices, key=lambda c: (c[0], c[1]), reverse=True))
            self.closed[atoms] = Hypotheses(self.terms, facts), ordered[:8]
        return self.closed[atoms]

    def reached(self, atoms: Iterable[View]) -> Iterable[Formula]:
        """What is known of atoms and of those that this speaks of, and at the place."""
        pending: list[Formula] = list(reversed(self.known.formulas))
        waiting = [*atoms, *sorted(self.known.atoms)]
        seen: set[View] = set()
        while pending or waiting:
            while pending:
                formula = pending.pop()
                if isinstance(formula, All):
                    pending.extend(reversed(formula.parts))
                    continue
                if isinstance(formula, Some) and len(formula.parts) == 1:
                    pending.append(formula.parts[0])
                    continue
                yield formula
                if isinstance(formula, AtLeast):
                    waiting.extend(sorted(atoms_of(self.terms.rewritten(formula.polynomial))))
            if waiting:
                atom = waiting.pop()
                if atom not in seen:
                    seen.add(atom)
                    pending.extend(self.facts(atom))

    def facts(self, atom: View) -> Iterable[Formula]:
        """What is known of an atom, and of what it is a part of."""
        number, positions = atom
        low = self.terms.ranges[number][0]
        if -1 <= low <= 1 << 20:
            yield AtLeast(minus({(atom,): 1}, {(): low} if low else {}))
        yield from self.terms.facts_of(atom)
        for whole in self.terms.wholes.get(number, ()):
            yield from self.terms.facts_of((whole, positions))


class _Search:
    """One proof, with what is known closed under elimination."""

    def __init__(self, terms: Terms, hypotheses: Hypotheses, budget: int) -> None:
        self.terms = terms
        self.hypotheses = hypotheses
        self.budget = budget
        self.failed: set[tuple[Key, bool]] = set()

    def guards(self, goal: Polynomial, *, is_open: bool, depth: int = 0) -> Guards | None:
        """What arguments must still satisfy; None where the proof is not found."""
        self.budget -= 1
        self.terms.effort -= 1
        key = (key_of(goal), is_open)
        if self.budget < 0 or self.terms.effort < 0 or key in self.failed:
            return None
        if self.hypotheses.is_not_negative(goal):
            return {}
        if known_number(goal) is not None:
            return None
        if is_open and self.terms.is_argument(goal) and not any(n in self.terms.limited for n, _ in atoms_of(goal)):
            closed = self.guards(goal, is_open=False, depth=depth)
            return closed if closed is not None else self.guard(goal)
        found = self.best(goal, is_open, depth)
        if found is None:
            self.failed.add(key)
        return found

    def guard(self, goal: Polynomial) -> Guards | None:
        """A condition on arguments, if it can hold at all."""
        _, high = self.terms.range_of(goal)
        return {key_of(goal): goal} if high >= 0 else None

    def best(self, goal: Polynomial, is_open: bool, depth: int) -> Guards | None:
        """The least of what the ways to go on need: nothing, if one of them is a proof."""
        least: Guards | None = None
        for parts in self.steps(goal):
            whole: dict[Key, Polynomial] = {}
            for part, deeper in parts:
                if depth + deeper > 4:
                    break
                found = self.guards(part, is_open=is_open, depth=depth + deeper)
                if found is None:
                    break
                whole.update(found)
            else:
                if not whole:
                    return {}
                if least is None or _size(whole) < _size(least):
                    least = whole
        return least

    def steps(self, goal: Polynomial) -> Iterable[Parts]:
        """Ways to go on: each is polynomials that together make the goal one that is not negative.

        Those come first that leave least.
        """
        top = self.next_atom(goal)
        whole, _ = coefficient(goal, top)
        facts = self.hypotheses.by_top.get(top, ())
        found = [*self.factored(goal)]
        for fact in facts:
            inner, _ = coefficient(fact, top)
            factor = divided(whole, inner)
            if factor is not None:
                found.extend(self.replaced(goal, fact, factor))
                continue
            found.extend(self.raised(goal, whole, fact, inner))
            if (number := known_number(inner)) is not None:
                found.extend(self.term_by_term(goal, fact, number, top))
        yield from sorted(found, key=_left)[:WAYS]

    def next_atom(self, goal: Polynomial) -> View:
        """What is replaced next: the youngest atom; of arguments alone one that others limit."""
        top = top_of(goal)
        assert top is not None, "a number is decided"
        if not self.terms.is_argument(goal):
            return top
        return max((atom for atom in atoms_of(goal) if atom[0] in self.terms.limited), default=top)

    def term_by_term(self, goal: Polynomial, fact: Polynomial, number: int, top: View) -> Iterable[Parts]:
        """Where terms of the goal with the atom have different signs: those of one sign alone."""
        for factors, c in goal.items():
            if top in factors and (c > 0) == (number > 0) and c % number == 0:
                left = list(factors)
                left.remove(top)
                yield from self.replaced(goal, fact, {tuple(left): c // number})

    def replaced(self, goal: Polynomial, fact: Polynomial, factor: Polynomial) -> Iterable[Parts]:
        """`g = (g - f * fact) + f * fact`, and neither is negative."""
        taken = times(fact, factor)
        if taken is None:
            return
        rest = minus(goal, taken)
        if len(rest) > 24:
            return
        yield ((rest, 0),) if self.hypotheses.is_not_negative(factor) else ((factor, 1), (rest, 0))

    def factored(self, goal: Polynomial) -> Iterable[Parts]:
        """`f * g + k` with a factor `f` of all terms but the number."""
        number = goal.get((), 0)
        factor, multiple = common((factors, c) for factors, c in goal.items() if factors)
        if not factor and multiple == 1:
            return
        inner, _ = split({f: c for f, c in goal.items() if f}, factor, multiple)
        if factor and number < 0:  # both are positive, and one of them large enough
            yield (inner, 1), ({factor: multiple, (): number}, 1), (minus(inner, ONE), 0)
        elif factor:
            yield ({factor: 1}, 1), (inner, 0)
        elif number % multiple or number:
            rounded = number // multiple
            yield (({**inner, **({(): rounded} if rounded else {})}, 0),)

    def raised(self, goal: Polynomial, whole: Polynomial, fact: Polynomial, inner: Polynomial) -> Iterable[Parts]:
        """Where a bound has another factor: `s * g - c * fact` is not negative for a positive `s`, nor is `g` then."""
        for sign in (1, -1):
            factor, by = scaled(inner, sign), scaled(whole, sign)
            if not self.hypotheses.is_not_negative(minus(factor, ONE)) or known_number(factor) == 1:
                continue
            left, right = times(goal, factor), times(fact, by)
            if left is None or right is None or not self.hypotheses.is_not_negative(by):
                continue
            yield ((minus(left, right), 0),)


def _left(parts: Parts) -> tuple[int, int, int]:
    """How much a way leaves to be proven."""
    polynomials = [p for p, _ in parts]
    return sum(map(len, polynomials)), max((len(f) for p in polynomials for f in p), default=0), len(polynomials)


def _size(guards: Guards) -> tuple[int, int]:
    return len(guards), sum(len(p) * 4 + sum(map(len, p)) for p in guards.values())
