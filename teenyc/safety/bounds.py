"""Whether an access stays inside its tensor: an access goes in; a verdict and the number of elements come out."""

from __future__ import annotations

from teenyc.ir.polynomials import Polynomial
from teenyc.safety.formulas import AtLeast
from teenyc.safety.machine import Machine
from teenyc.safety.prover import Guards, Prover
from teenyc.safety.symbols import Access
from teenyc.safety.terms import ONE, Terms, atoms_of, minus
from teenyc.safety.verdicts import GUARDED, PROVEN, UNPROVEN, Guard, Verdict
from teenyc.source import Span


def bounds_of(machine: Machine, access: Access) -> tuple[Verdict, str]:
    """Whether `0 <= offset < elements` in every lane that the access takes part in, and the number of elements."""
    address = access.address
    if address is None:
        reason = "it may begin in one of several tensors, or at an address from memory"
        return Verdict(status=UNPROVEN, reason=reason, help="let each access start from one parameter"), ""
    size = machine.launch.sizes[address.root.name]
    goals = (address.offset, minus(minus(size, ONE), address.offset))
    found = verdict_of(machine, access, goals)
    limit = machine.launch.limit(address.root.name)
    if found is not None:
        return found, limit
    return _unproven(machine, access), limit


def verdict_of(machine: Machine, access: Access, goals: tuple[Polynomial, ...]) -> Verdict | None:
    """Proven or guarded, if all goals are at least zero where the access is made; first without what is assumed."""
    presumed = machine.numbers.presumed
    known = access.known.with_formula(*map(AtLeast, presumed.values()))
    plain, spans = Prover(machine.terms, known).all_need(goals), tuple[Span, ...]()
    if access.assumed and (plain is None or plain):
        more = Prover(machine.terms, known.with_formula(*(f for f, _ in access.assumed))).all_need(goals)
        if more is not None and (plain is None or not more):
            plain, spans = more, tuple(span for _, span in access.assumed)
    if plain is None or plain:
        from teenyc.safety.solver import solver_proves

        if not presumed and solver_proves(machine.terms, known, goals):
            return Verdict(status=PROVEN)
    if plain is None:
        return None
    needed = {**presumed, **plain}
    if needed and not can_hold(machine, needed):
        return None
    return Verdict(status=GUARDED if needed else PROVEN, guards=guards_of(machine.terms, needed), assumed=spans)


def can_hold(machine: Machine, guards: Guards) -> bool:
    """Whether conditions do not contradict one another, as far as that can be told."""
    known = machine.launch.known.with_formula(*map(AtLeast, guards.values()))
    hypotheses, _ = Prover(machine.terms, known).hypotheses({})
    return not hypotheses.is_absurd


def guards_of(terms: Terms, guards: Guards) -> tuple[Guard, ...]:
    """Polynomials that must not be below zero as conditions."""
    found = (guard_of(terms, polynomial) for polynomial in guards.values())
    return tuple(sorted({guard for guard in found if guard is not None}, key=str))


def guard_of(terms: Terms, polynomial: Polynomial) -> Guard | None:
    """`p >= 0` with what is taken off on the left."""
    most = terms.extent({f: c for f, c in polynomial.items() if c > 0})
    least = terms.extent({f: -c for f, c in polynomial.items() if c < 0})
    return Guard(least, most) if least is not None and most is not None else None


def _unproven(machine: Machine, access: Access) -> Verdict:
    """Why: which end, and what is not known."""
    address = access.address
    assert address is not None, "it is in one tensor"
    prover, name = Prover(machine.terms, access.known), address.root.name
    is_low = prover.needs(address.offset) is None
    end = "below the first element" if is_low else f"beyond the `{machine.launch.limit(name)}` elements"
    source = _source(machine, address.offset)
    if source is not None:
        text, place = source
        help = "mask it, `mask = (i >= 0) & (i < n)`, or state what holds: `assume(…)`"
        return Verdict(
            status=UNPROVEN,
            reason=f"it depends on {text}, so that `{name}` may be accessed {end}",
            help=help,
            place=place,
        )
    offset = machine.terms.text(machine.terms.rewritten(address.offset))
    help = (
        "mask the lanes that are outside"
        if not is_low
        else "state what keeps it from going below 0, in a mask or a condition"
    )
    if machine.launch.limit(name).startswith("len("):
        help = f"state how many elements there are: `shape({name} = […])`"
    return Verdict(status=UNPROVEN, reason=f"offset `{offset}` may be {end}", help=help)


def _source(machine: Machine, offset: Polynomial) -> tuple[str, Span] | None:
    """The first part of an offset of which nothing is known but its type."""
    for number, _ in sorted(atoms_of(machine.terms.rewritten(offset))):
        source = machine.terms.sources.get(number)
        if source is not None:
            return source.text, source.span
    return None
