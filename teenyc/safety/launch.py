"""What a launch knows: a kernel goes in; its arguments, extents and sizes come out as polynomials, and what is checked.

A checked launch refuses a grid with more programs than `grid = [...]` states, tensors with other numbers of elements
than `shape(...)` states, extents below zero, and numbers that are beyond their type.
"""

from __future__ import annotations

from teenyc.ir.intervals import UNBOUNDED, of_type
from teenyc.ir.nodes import Constant, Kernel
from teenyc.ir.polynomials import Polynomial
from teenyc.ir.ranges import NUMEL, extent_names
from teenyc.record import field, state
from teenyc.safety.formulas import AtLeast, Formula, at_most
from teenyc.safety.prover import Known, Prover
from teenyc.safety.terms import ONE, Terms, atom, atoms_of, constant, minus, times
from teenyc.types import BOOL, I32, DType, Extent, Pointer, Quotient, TensorType, is_integer

AXES = 3
PROGRAMS = (1, I32.maximum)
ELEMENTS = 1 << 62
"""More elements than memory holds."""


@state
class Launch:
    """The arguments of one kernel. `numbers` are integers by name, `sizes` how many elements tensors have by name."""

    kernel: Kernel
    terms: Terms
    is_contiguous: bool
    numbers: dict[str, Polynomial] = field(default_factory=dict)
    sizes: dict[str, Polynomial] = field(default_factory=dict)
    stated: list[Polynomial] = field(default_factory=list)
    """the extent of the grid along each axis, where the kernel states it"""
    programs: list[Polynomial] = field(default_factory=list)
    """how many programs there are along each axis"""
    known: Known = Known()

    def describe(self) -> None:
        """Fills everything in, the oldest atoms first."""
        self.name_numbers()
        shapes = dict(self.kernel.attributes.shapes)
        facts: list[Formula] = [AtLeast(minus(self.extent(r.extent), ONE)) for r in self.kernel.requirements]
        facts += [AtLeast(self.extent(extent)) for shape in shapes.values() for extent in shape]
        self.known = Known(tuple(facts))
        self.state_grid()
        self.known = Known(tuple(facts), frozenset(a for number in self.programs for a in atoms_of(number)))
        for parameter in self.kernel.parameters:
            if _is_pointer(parameter.value.type):
                self.sizes[parameter.name] = self.size(parameter.name, shapes.get(parameter.name))

    def name_numbers(self) -> None:
        extents = frozenset(extent_names(self.kernel))
        for each in self.kernel.constants:
            known = (0, 1) if each.type.element == BOOL else (1, NUMEL) if each.name in extents else of_type(I32)
            number = None if each.known is None else constant(int(each.known))
            self.numbers[each.name] = number if number is not None else self.terms.argument(each.name, known)
        for parameter in self.kernel.parameters:
            type = parameter.value.type
            element = type.element if isinstance(type, TensorType) else None
            if isinstance(element, DType) and (is_integer(element) or element == BOOL):
                known = (0, 1) if element == BOOL else of_type(element)
                self.numbers[parameter.name] = self.terms.argument(parameter.name, known)

    def limit(self, name: str) -> str:
        """The number of elements of a tensor for people: as its shape has it."""
        shape = dict(self.kernel.attributes.shapes).get(name)
        if shape is None or not self.is_contiguous:
            return f"len({name})"
        return " * ".join(f"({e})" if len(e.terms) > 1 else str(e) for e in shape if e.known != 1) or "1"

    def size(self, name: str, shape: tuple[Extent, ...] | None) -> Polynomial:
        """The number of elements from where a tensor begins: what its shape says, if it must be contiguous."""
        whole: Polynomial | None = ONE
        for extent in shape or ():
            whole = None if whole is None else times(whole, self.extent(extent))
        if shape is None or whole is None or not self.is_contiguous:
            return self.terms.argument(f"len({name})", (0, ELEMENTS))
        return whole

    def state_grid(self) -> None:
        """How many programs there are: no more than stated, and along axes that are not stated one."""
        grid = self.kernel.attributes.grid
        if grid is not None:
            self.stated = [self.extent(extent) for extent in grid] + [ONE] * (AXES - len(grid))
        for axis in range(AXES):
            number = self.terms.argument(f"grid[{axis}]", PROGRAMS)
            self.programs.append(number)
            if self.stated:
                ((own, _),) = next(iter(number))
                self.terms.facts[own] = (at_most(number, self.stated[axis]),)
                self.terms.limited.add(own)

    # ---- extents ----------------------------------------------------------------------------------------------------

    def extent(self, extent: Extent) -> Polynomial:
        """An extent over parameters, constants and what shapes bind."""
        whole: Polynomial = {}
        for monomial, coefficient in extent.terms:
            term: Polynomial | None = constant(coefficient)
            for each in monomial:
                number = self.quotient(each) if isinstance(each, Quotient) else self.named(each)
                term = None if term is None else times(term, number)
            if term is None:  # too large to be taken apart
                return self.terms.argument(str(extent), (-UNBOUNDED, UNBOUNDED))
            for factors, c in term.items():
                whole = {**whole, factors: whole.get(factors, 0) + c}
        return {factors: c for factors, c in whole.items() if c}

    def named(self, name: str) -> Polynomial:
        """An integer by its name; what only shapes bind is a number of elements divided by others, so not below 0."""
        if name not in self.numbers:
            padded = next((p for p in self.kernel.padded if p.name == name), None)
            self.numbers[name] = self.terms.argument(name, (1, NUMEL) if padded is not None else (0, UNBOUNDED))
        return self.numbers[name]

    def quotient(self, quotient: Quotient) -> Polynomial:
        """A quotient, of which more is known where its divisor is positive."""
        over, under = self.extent(quotient.numerator), self.extent(quotient.denominator)
        prover = Prover(self.terms, self.known)
        if prover.proves(minus(under, ONE)):
            return self.terms.quotient(quotient, over, under, is_positive=prover.proves(over))
        return self.terms.argument(quotient, (-UNBOUNDED, UNBOUNDED))

    # ---- operands ---------------------------------------------------------------------------------------------------

    def constant(self, operand: Constant) -> Polynomial:
        """A constant parameter."""
        return self.named(operand.name)

    def index(self, axis: int, name: str) -> Polynomial:
        """The index of a program along an axis."""
        key = ("program", axis)
        number = self.terms.keys.get(key)
        if number is None:
            number = self.terms.keys[key] = self.terms.fresh(name or f"program_id({axis})", (0, I32.maximum - 1))
            limits = [self.programs[axis], *self.stated[axis : axis + 1]]
            own = atom(number)
            self.terms.facts[number] = tuple(AtLeast(minus(minus(limit, ONE), own)) for limit in limits)
        return atom(number)


def _is_pointer(type: object) -> bool:
    return isinstance(type, TensorType) and isinstance(type.element, Pointer)
