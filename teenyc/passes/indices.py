"""Indices in tiled kernels: integers go in; sums of products, and what is known of those, come out."""

from __future__ import annotations

from collections.abc import Hashable
from math import prod

from teenyc.ir import walk
from teenyc.ir.masks import Masks, View, masks, shape_of
from teenyc.ir.nodes import Binary, Call, Compare, Constant, For, Kernel, Let, Literal, Operand, Statement, Value
from teenyc.ir.polynomials import Factors, Polynomial, Polynomials, difference, product, total
from teenyc.record import field, record, state
from teenyc.types import I32, Extent, scalar

NOTHING: Polynomial = {}
SINGLE: Polynomial = {(): 1}


def indices_of(kernel: Kernel) -> Indices:
    """What is known of the integers of a tiled kernel."""
    views, made = masks(kernel), dict[int, Let]()
    blocks = kernel.tiling.constants if kernel.tiling is not None else ()
    sizes = frozenset(views.view(Constant(name, scalar(I32)))[0] for name in blocks)
    found = Indices(kernel, views, Polynomials(views, made), made, sizes)
    for _, statement in walk.statements_of(kernel.body):
        found.note(statement)
    return found


@record
class Rows:
    """Indices of rows that tiling holds below how many there are."""

    indices: Polynomial
    count: Polynomial


@state
class Indices:
    """One kernel, and by the numbers of values (`Masks`) what they are.

    `lanes` are those of an `arange`, with its extent; `loops` have the number as counter; `below` are the two sides of
    a comparison; `padding` is the constant whose lanes a flag lets through; `rows` are those of the grid, `programs`
    their indices, and `sizes` those of blocks. `firsts` are names of numbers to which lanes are added.
    """

    kernel: Kernel
    masks: Masks
    polynomials: Polynomials
    made: dict[int, Let]
    sizes: frozenset[int]
    lanes: dict[int, Extent] = field(default_factory=dict)
    loops: dict[int, For] = field(default_factory=dict)
    below: dict[int, tuple[Operand, Operand]] = field(default_factory=dict)
    padding: dict[int, str] = field(default_factory=dict)
    rows: dict[int, Rows] = field(default_factory=dict)
    quotients: list[tuple[Value, Binary]] = field(default_factory=list)
    firsts: dict[Hashable, str] = field(default_factory=dict)
    programs: set[int] = field(default_factory=set)

    def of(self, operand: Operand) -> Polynomial:
        return self.polynomials.of(operand)

    def number(self, operand: Operand) -> int:
        return self.masks.view(operand)[0]

    def name(self, factor: View) -> str | None:
        """The parameter or constant that a factor is, if a launch knows it."""
        tiling = self.kernel.tiling
        chosen = {*tiling.constants, *(name for _, name in tiling.counts)} if tiling is not None else {()}
        constants = (Constant(c.name, c.type) for c in self.kernel.constants)
        given: tuple[Value | Constant, ...] = (*(p.value for p in self.kernel.parameters), *constants)
        return next((v.name for v in given if v.name not in chosen and self.number(v) == factor[0]), None)

    def known_factors(self, factors: Factors, c: int) -> Extent:
        """What a launch knows of a product."""
        names = (name for name in map(self.name, factors) if name is not None)
        return prod((Extent.of(name) for name in names), start=Extent.of(c))

    def extent(self, polynomial: Polynomial) -> Extent | None:
        """A polynomial over what a launch knows; None for one over more."""
        if any(self.name(factor) is None for factors in polynomial for factor in factors):
            return None
        return sum((self.known_factors(factors, c) for factors, c in polynomial.items()), start=Extent.of(0))

    # ---- what values are --------------------------------------------------------------------------------------------

    def note(self, statement: Statement) -> None:
        """Keeps what a statement says, which is read before those that use it."""
        if isinstance(statement, For):
            self.loops[self.number(statement.counter)] = statement
        if isinstance(statement, Let) and _is_place(statement):
            self.programs.update(map(self.number, statement.results))
        if not isinstance(statement, Let) or len(statement.results) != 1:
            return
        (value,) = statement.results
        self.made[value.id] = statement
        match statement.operation:
            case Call(intrinsic="arange") as call if call.attribute("start") in (0, Extent.of(0)):
                end = call.attribute("end")
                if isinstance(end, Extent):
                    self.lanes[self.number(value)] = end
            case Call(intrinsic="program_id"):
                self.programs.add(self.number(value))
            case Call(intrinsic="minimum") as call:
                self.note_rows(value, call)
            case Compare(operator="lt", left=left, right=right) | Compare(operator="gt", left=right, right=left):
                self.below[self.number(value)] = (left, right)
            case Binary(operator="or", left=left, right=right):
                self.note_padding(value, left, right)
            case Binary(operator="add") if value.name and len(shape_of(value)) == 1:
                self.note_first(value)
            case Binary(operator="div") as quotient if not shape_of(value):
                self.quotients.append((value, quotient))

    def note_first(self, value: Value) -> None:
        """Keeps a name for the first of named indices: `row_start` of `row`, or of `rows` if there are `num_rows`."""
        first = {factors: c for factors, c in self.of(value).items() if not any(at for _, at in factors)}
        is_counted = any(p.name == f"num_{value.name}" for p in self.kernel.parameters)
        name = value.name.removesuffix("s") if is_counted else value.name
        self.firsts.setdefault(frozenset(first.items()), f"{name}_start")

    def note_rows(self, value: Value, call: Call) -> None:
        """Keeps `minimum(rows, count - 1)`, where the count is what a launch passes of the source's grid."""
        tiling = self.kernel.tiling
        counts = {name for _, name in tiling.counts} if tiling is not None else {()}
        for parameter in self.kernel.parameters:
            count = self.of(parameter.value) if parameter.name in counts else NOTHING
            indices, last = (self.of(operand) for _, operand in call.operands)
            if count and last == difference(count, SINGLE):
                self.rows[self.number(value)] = Rows(indices, count)

    def note_padding(self, value: Value, left: Operand, right: Operand) -> None:
        """Keeps `lanes < N` for the lanes of a number made of `N`, or true where there are no others."""
        lets = [self.made.get(o.id) if isinstance(o, Value) else None for o in (left, right)]
        operations = [let.operation if let is not None else None for let in lets]
        for padded in self.kernel.padded:
            match operations:
                case [
                    Compare(operator="lt", left=lanes, right=Constant(name=of)),
                    Compare(operator="eq", left=Constant(name=name), right=Constant(name=same)),
                ] if of == same == padded.of and name == padded.name:
                    if self.lanes.get(self.number(lanes)) == Extent.of(name):
                        self.padding[self.number(value)] = of

    def is_counted(self, start: Polynomial) -> bool:
        """Whether a start is certainly not before the matrix: a product of blocks and programs, or a loop's counter."""
        return all(c >= 0 and all(self.is_natural(number) for number, _ in factors) for factors, c in start.items())

    def is_natural(self, number: int) -> bool:
        """Whether a number is known not to be negative where it is used."""
        if number in self.programs or number in self.sizes:
            return True
        loop = self.loops.get(number)
        if loop is None or not isinstance(loop.step, Constant):
            return False
        return self.is_counted(self.of(loop.start)) or self.is_rest(loop)

    def is_rest(self, loop: For) -> bool:
        """Whether a loop starts at `n / B * B` and ends at `n`: it has no iteration where `n` is negative."""
        first = self.of(loop.start)
        return any(
            self.of(division.left) == self.of(loop.stop) and first == product(self.of(value), self.of(division.right))
            for value, division in self.quotients
        )

    def loop_end(self, start: Polynomial, extent: Extent) -> Polynomial | None:
        """Where a loop over whole blocks ends, whose counter is the start of each."""
        ((factors, c),) = start.items() if len(start) == 1 else (((), 0),)
        loop = self.loops.get(factors[0][0]) if len(factors) == 1 and c == 1 else None
        if loop is None or loop.inclusive or not self.is_step(loop.step, extent):
            return None
        first, last = self.of(loop.start), self.of(loop.stop)
        step = self.of(loop.step)
        length = difference(last, first)
        for value, division in self.quotients:
            if division.right == loop.step and length == product(self.of(value), step):
                return total(self.of(division.left), first)
        ((divisor, k),) = step.items()
        is_whole = all(quotient(each, n, {divisor: k}) is not None for each, n in length.items())
        return last if is_whole else None

    def is_step(self, step: Operand, extent: Extent) -> bool:
        return (isinstance(step, Constant) and extent == Extent.of(step.name)) or (
            isinstance(step, Literal) and extent == Extent.of(int(step.value))
        )


def _is_place(let: Let) -> bool:
    """Whether a definition gives the indices of a program in another order."""
    return isinstance(let.operation, Call) and let.operation.intrinsic == "swizzle2d"


def quotient(factors: Factors, c: int, stride: Polynomial) -> tuple[Factors, int] | None:
    """A product divided by a stride of one term, if it goes without a rest."""
    ((divisor, k),) = stride.items()
    rest = list(factors)
    for factor in divisor:
        if factor not in rest:
            return None
        rest.remove(factor)
    return (tuple(rest), c // k) if c % k == 0 else None
