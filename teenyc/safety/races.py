"""Races between programs: the accesses of a kernel go in; for each a verdict comes out, or None where none is needed.

Two programs do not meet in an element if the address tells them apart: if equal offsets mean equal indices along every
axis of the grid. Tensors are taken not to overlap. What is atomic does not race with what is atomic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from teenyc.ir.masks import View
from teenyc.ir.polynomials import Polynomial
from teenyc.safety.bounds import can_hold, guards_of
from teenyc.safety.digits import Found, parts_like, parts_of, told
from teenyc.safety.formulas import AtLeast
from teenyc.safety.launch import AXES
from teenyc.safety.machine import Machine
from teenyc.safety.prover import Guards, Known, Prover
from teenyc.safety.symbols import Access
from teenyc.safety.terms import ONE, ZERO, atom, atoms_of, minus
from teenyc.safety.verdicts import GUARDED, PROVEN, UNPROVEN, Verdict
from teenyc.source import Span

Provers: TypeAlias = "tuple[Prover, Prover]"


def races_of(machine: Machine) -> list[Verdict | None]:
    """The verdict of each access."""
    return [_Races(machine).verdict(access) for access in machine.accesses]


class _Races:
    """The races of one kernel."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.terms = machine.terms
        self.axes = {axis: self.index(axis) for axis in range(AXES)}

    def index(self, axis: int) -> Polynomial | None:
        """The index of programs along an axis; None where the kernel does not ask for it."""
        number = self.terms.keys.get(("program", axis))
        return None if number is None else self.terms.rewritten(atom(number))

    def verdict(self, access: Access) -> Verdict | None:
        """The worst of what an access and any other of the same tensor may do to each other."""
        if access.address is None:
            return (
                Verdict(status=UNPROVEN, reason="where the address comes from is not known")
                if access.is_write
                else None
            )
        found: list[Verdict] = []
        for other in self.machine.accesses:
            is_same = other.address is not None and other.address.root == access.address.root
            meets = is_same and (access.is_write or other.is_write) and not (access.is_atomic and other.is_atomic)
            if meets:
                found.append(self.pair(access, other))
        if not found:
            return None
        worst = max(found, key=lambda v: (PROVEN, GUARDED, UNPROVEN).index(v.status))
        if worst.status != GUARDED:
            return worst
        return Verdict(
            status=GUARDED,
            guards=tuple(dict.fromkeys(g for v in found for g in v.guards)),
            assumed=tuple(dict.fromkeys(s for v in found for s in v.assumed)),
        )

    def pair(self, one: Access, two: Access) -> Verdict:
        """Whether two programs that make these accesses are certainly told apart by the addresses."""
        plain = self.needs(one, two, self.known(one), self.known(two))
        spans: tuple[Span, ...] = ()
        if plain is None and (one.assumed or two.assumed):
            spans = tuple(span for _, span in (*one.assumed, *two.assumed))
            plain = self.needs(one, two, self.known(one, is_assumed=True), self.known(two, is_assumed=True))
        if plain is None:
            return self.unproven(one, two)
        plain = {**self.machine.numbers.presumed, **plain}
        if plain and not can_hold(self.machine, plain):
            return self.unproven(one, two)
        status = GUARDED if plain else PROVEN
        return Verdict(status=status, guards=guards_of(self.terms, plain), assumed=tuple(dict.fromkeys(spans)))

    def needs(self, one: Access, two: Access, first: Known, second: Known) -> Guards | None:
        """What arguments must satisfy for equal addresses to mean one program; None where that is not known."""
        provers = Prover(self.terms, first), Prover(self.terms, second)
        apart, guards = self.apart(one, two, provers)
        for axis in self.untold(apart, provers):
            alone = provers[0].needs(minus(ONE, self.machine.launch.programs[axis]))
            if alone is None or (alone and self.axes[axis] is not None):
                return None
            guards = {**guards, **alone}
        return guards

    def apart(self, one: Access, two: Access, provers: Provers) -> tuple[frozenset[View], Guards]:
        """The atoms that are equal where two addresses are, and what arguments must satisfy for that."""
        assert one.address is not None, "both are in one tensor"
        assert two.address is not None, "both are in one tensor"
        programs = frozenset(a for index in self.axes.values() if index is not None for a in atoms_of(index))
        left = parts_of(self.terms.rewritten(one.address.offset), self.terms, provers[0], programs)
        right: Found | None = left
        if two is not one:
            right = parts_like(self.terms.rewritten(two.address.offset), left.parts, self.terms, provers[1])
        if right is None:
            return frozenset(), {}
        return told(left.parts, right.parts, self.terms), {**left.guards, **right.guards}

    def untold(self, apart: frozenset[View], provers: Provers) -> Iterator[int]:
        """The axes along which programs are not told apart."""
        yield from (axis for axis in range(AXES) if not self.is_told(axis, apart, provers))

    def is_told(self, axis: int, apart: Iterable[View], provers: Provers) -> bool:
        """Whether the index along an axis is the same where addresses are, or is a single one."""
        index = self.axes[axis]
        if index is None:
            return False
        if {a for a in atoms_of(index) if a[0] not in self.terms.symbols} <= set(apart):
            return True
        last = minus(self.machine.launch.programs[axis], ONE)
        return any(
            all(p.proves(minus(index, end)) and p.proves(minus(end, index)) for p in provers) for end in (ZERO, last)
        )

    def unproven(self, one: Access, two: Access) -> Verdict:
        assert one.address is not None, "both are in one tensor"
        provers = Prover(self.terms, self.known(one)), Prover(self.terms, self.known(two))
        apart, _ = self.apart(one, two, provers)
        axes = [axis for axis in self.untold(apart, provers) if self.may_be_several(axis, provers[0])]
        names = " and ".join(map(self.name, axes)) or "programs"
        what = "write" if one.is_write and two.is_write else "read and write"
        reason = f"two programs may {what} one element: its address does not tell {names} apart"
        help = "let each program have elements of its own, or use an atomic"
        return Verdict(status=UNPROVEN, reason=reason, help=help, place=None if two is one else two.span)

    def may_be_several(self, axis: int, prover: Prover) -> bool:
        """Whether there may be more than one program along an axis."""
        return not prover.proves(minus(ONE, self.machine.launch.programs[axis]))

    def name(self, axis: int) -> str:
        number = self.terms.keys.get(("program", axis))
        return f"`{f'program_id({axis})' if number is None else self.terms.names[number]}`"

    def known(self, access: Access, *, is_assumed: bool = False) -> Known:
        """What holds where an access is made."""
        more = tuple(formula for formula, _ in access.assumed) if is_assumed else ()
        return access.known.with_formula(*map(AtLeast, self.machine.numbers.presumed.values()), *more)
