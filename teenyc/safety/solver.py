"""What an SMT solver proves beyond: a goal and what is known go in; whether the one follows comes out.

The solver is z3, the extra `safety`. Its work is limited in its own units, not in time, so that it gives the same
answer on every machine; where it is not installed, or gives up, nothing is proven.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any, assert_never

from teenyc.ir.masks import View
from teenyc.ir.polynomials import Polynomial
from teenyc.safety.formulas import All, AtLeast, Formula, Some
from teenyc.safety.prover import Known, Prover
from teenyc.safety.terms import Terms, atoms_of

EFFORT = 4_000_000
"""Units of work for one goal, about a second."""


def is_installed() -> bool:
    """Whether there is a solver to ask."""
    spec = find_spec("z3")
    return spec is not None and spec.origin is not None  # a folder of that name is none


def solver_proves(terms: Terms, known: Known, goals: Iterable[Polynomial]) -> bool:
    """Whether polynomials are at least zero by all that is known."""
    if not is_installed():
        return False
    return all(_Question(terms).follows(known, terms.rewritten(goal)) for goal in goals)


class _Question:
    """One goal, with a variable of the solver for each atom."""

    def __init__(self, terms: Terms) -> None:
        import z3

        self.z3: Any = z3
        self.terms = terms
        self.variables: dict[View, Any] = {}

    def follows(self, known: Known, goal: Polynomial) -> bool:
        """Whether a solver finds no numbers for which all is as known and the goal is below zero."""
        solver = self.z3.SolverFor("QF_NIA")
        solver.set("rlimit", EFFORT)
        solver.set("random_seed", 0)
        for formula in Prover(self.terms, known).reached(sorted(atoms_of(goal))):
            solver.add(self.formula(formula))
        solver.add(self.number(goal) < 0)
        for atom, variable in self.variables.items():
            low, high = self.terms.ranges[atom[0]]
            solver.add(variable >= low, variable <= high)
        return bool(solver.check() == self.z3.unsat)

    def formula(self, formula: Formula) -> Any:
        match formula:
            case AtLeast(polynomial=p):
                return self.number(self.terms.rewritten(p)) >= 0
            case All(parts=parts):
                return self.z3.And([self.formula(part) for part in parts])
            case Some(parts=parts):
                return self.z3.Or([self.formula(part) for part in parts])
            case _:
                assert_never(formula)

    def number(self, polynomial: Polynomial) -> Any:
        whole = self.z3.IntVal(0)
        for factors, c in sorted(polynomial.items()):
            term = self.z3.IntVal(c)
            for atom in factors:
                term = term * self.variables.setdefault(atom, self.z3.Int(f"x{len(self.variables)}"))
            whole = whole + term
        return whole
