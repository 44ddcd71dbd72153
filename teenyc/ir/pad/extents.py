"""Padded constants: a kernel and names of its constants go in; which extents grow, and to what, comes out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from teenyc.ir.nodes import Kernel, PaddedConstant, Requirement
from teenyc.record import record
from teenyc.types import Extent, Quotient, Shape


@record
class Pads:
    """The padded constants of a kernel, by the constant that each stands for in extents."""

    constants: Mapping[str, PaddedConstant]

    def touches(self, extent: Extent) -> bool:
        """Whether an axis of that extent is padded."""
        return any(self._is_padded(atom) for monomial, _ in extent.terms for atom in monomial)

    def _is_padded(self, atom: str | Quotient) -> bool:
        if isinstance(atom, str):
            return atom in self.constants
        return self.touches(atom.numerator) or self.touches(atom.denominator)

    def axes(self, shape: Shape) -> tuple[int, ...]:
        """The padded axes of a shape."""
        return tuple(axis for axis, extent in enumerate(shape) if self.touches(extent))

    def extent(self, extent: Extent) -> Extent:
        """The extent that an axis has once it is padded."""
        if not self.touches(extent):
            return extent
        return extent.substitute({name: padded.name for name, padded in self.constants.items()})

    def shape(self, shape: Shape) -> Shape:
        """The shape with every axis padded that is to be."""
        return tuple(map(self.extent, shape))

    def is_sound(self, extent: Extent) -> bool:
        """Whether the padded extent is a power of two, as far as the padded constants decide, and not below the true.

        So it is for products and for quotients by a power of two: `2 * N`, `N * M`, `N / 2`; not for `N + 1`, `N / 3`.
        """
        if not self.touches(extent):
            return True
        if len(extent.terms) != 1:
            return False
        monomial, coefficient = extent.terms[0]
        return is_power_of_two(coefficient) and all(map(self._is_sound_factor, monomial))

    def _is_sound_factor(self, atom: str | Quotient) -> bool:
        if isinstance(atom, str) or not self._is_padded(atom):
            return True
        denominator = atom.denominator.known
        return denominator is not None and is_power_of_two(denominator) and self.is_sound(atom.numerator)

    def requirements(self, given: Iterable[Requirement]) -> tuple[Requirement, ...]:
        """What constants must satisfy once extents are padded: a padded one need only be positive."""
        return tuple(dict.fromkeys(new for requirement in given for new in self._requirements(requirement)))

    def _requirements(self, given: Requirement) -> Iterator[Requirement]:
        if not self.touches(given.extent) or not self.is_sound(given.extent):
            yield given
        elif given.rule == "power-of-two":
            extents = [*(Extent.of(n) for n in self.constants if n in given.extent.names), given.extent]
            for extent in extents:
                yield Requirement(extent=extent, rule="positive", what=given.what, span=given.span)
            rest = self._unpadded(given.extent)
            if rest.known is None:
                yield Requirement(extent=rest, rule=given.rule, what=given.what, span=given.span)
        elif _minimum(given) is None:
            yield given

    def _unpadded(self, extent: Extent) -> Extent:
        """The factors that padding leaves as they are."""
        rest = Extent.of(1)
        for monomial, _ in extent.terms:
            for atom in monomial:
                if not self._is_padded(atom):
                    rest = rest * Extent.of(atom)
        return rest


def pads_of(kernel: Kernel, names: Collection[str]) -> Pads:
    """The padded constants for some constants of a kernel, large enough for what a `dot` over them needs."""
    taken = {c.name for c in kernel.constants}
    constants: dict[str, PaddedConstant] = {}
    for name in dict.fromkeys(names):
        minimums = [m for r in kernel.requirements if (m := _minimum(r)) is not None and r.extent.names == {name}]
        padded = f"{name}_PADDED"
        while padded in taken:
            padded += "_"
        taken.add(padded)
        constants[name] = PaddedConstant(name=padded, of=name, minimum=max(minimums, default=1))
    return Pads(constants)


def is_power_of_two(number: int) -> bool:
    """Whether a number is 1, 2, 4, …"""
    return number > 0 and number & (number - 1) == 0


def _minimum(requirement: Requirement) -> int | None:
    """How large a padded constant must be for its extent to satisfy a requirement; None where that does not do."""
    rule, _, bound = requirement.rule.partition(":")
    terms = requirement.extent.terms
    if rule != "at-least" or len(terms) != 1 or len(terms[0][0]) != 1 or not is_power_of_two(int(bound)):
        return None
    (atom,), coefficient = terms[0]
    if isinstance(atom, str):
        return max(int(bound) // coefficient, 1) if is_power_of_two(coefficient) else None
    divided, by = atom.numerator, atom.denominator.known
    is_plain = coefficient == 1 and len(divided.names) == 1 and divided in map(Extent.of, divided.names)
    return int(bound) * by if is_plain and by is not None and is_power_of_two(by) else None
