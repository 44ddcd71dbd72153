"""Addresses as sums of products: a kernel goes in; its accesses come out, with the parameter that each starts from.

An offset is a polynomial over views: over what arithmetic on integers cannot take apart, such as an index of the
program, the lanes of an `arange`, or a parameter. A tensor descriptor has one for each of its axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from teenyc.ir.lanes import Lanes, lanes_of
from teenyc.ir.masks import Masks, View, moved, shape_of
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Cast,
    Copy,
    ExpandDims,
    If,
    Kernel,
    Let,
    Literal,
    Offset,
    Operand,
    Unary,
    Value,
)
from teenyc.ir.walk import statements_of
from teenyc.record import record
from teenyc.types import Extent, Shape, TensorType, is_integer

Factors: TypeAlias = "tuple[View, ...]"
Polynomial: TypeAlias = "Mapping[Factors, int]"

MOST = 32
"""A polynomial of more terms is not taken apart."""

DEEPEST = 64
"""So many operations of an address are followed."""


@record
class Access:
    """One load or store: where it starts, and an offset for each axis; a pointer has one axis."""

    call: Call
    let: Let
    root: Value
    offsets: tuple[Polynomial, ...]
    block: Shape | None
    is_write: bool


def accesses(kernel: Kernel, masks: Masks) -> tuple[Access, ...]:
    """The loads and stores of a kernel, atomics left out; one that may start from several parameters comes for each."""
    return tuple(Addresses(kernel, masks).all())


class Addresses:
    """The addresses of one kernel; `masks` are its views."""

    def __init__(self, kernel: Kernel, masks: Masks) -> None:
        self.kernel = kernel
        self.masks = masks
        self.made: dict[int, Let] = {}
        self.chosen: dict[int, tuple[Operand, ...]] = {}
        self.polynomials: dict[int, Polynomial] = {}

    def all(self) -> Iterator[Access]:
        from teenyc.intrinsics import TABLE
        from teenyc.intrinsics.spec import Effect

        lets: list[tuple[Let, Call]] = []
        for _, statement in statements_of(self.kernel.body):
            if isinstance(statement, If):
                self.note_choice(statement)
            elif isinstance(statement, Let):
                self.made.update((value.id, statement) for value in statement.results)
                if isinstance(statement.operation, Call):
                    lets.append((statement, statement.operation))
        for let, call in lets:
            effects = TABLE[call.intrinsic].effects
            if Effect.ATOMIC in effects or effects.isdisjoint({Effect.READS, Effect.WRITES}):
                continue
            start = call.operand("pointer") or call.operand("desc")
            for root, offsets, block in self.starts(start, DEEPEST) if start is not None else ():
                places = tuple(self.of(o) for name, o in call.operands if name.startswith("offsets"))
                whole = (*offsets, *places) if block is not None else offsets
                yield Access(call, let, root, whole, block, Effect.WRITES in effects)

    def note_choice(self, branch: If) -> None:
        yields: tuple[Block, ...] = tuple(b for b in (branch.then, branch.otherwise) if b.yields)
        for index, value in enumerate(branch.results):
            self.chosen[value.id] = tuple(block.yields[index] for block in yields)

    def starts(self, operand: Operand, depth: int) -> Iterator[tuple[Value, tuple[Polynomial, ...], Shape | None]]:
        """The parameters from which an address or descriptor may start, with the offset from there."""
        if not isinstance(operand, Value) or depth == 0:
            return
        let = self.made.get(operand.id)
        if let is None:
            if any(p.value.id == operand.id for p in self.kernel.parameters):
                yield operand, ({},), None
            for choice in self.chosen.get(operand.id, ()):
                yield from self.starts(choice, depth - 1)
            return
        match let.operation:
            case Offset(pointer=pointer, offset=offset):
                for root, (first, *_), block in self.starts(pointer, depth - 1):
                    yield root, (_sum(first, self.of(offset), 1),), block
            case Copy(operand=inner) | ExpandDims(operand=inner):
                yield from self.starts(inner, depth - 1)
            case Call(intrinsic=name) as call if lanes_of(name) is Lanes.STRETCHED:
                yield from self.starts(call.operands[0][1], depth - 1)
            case Call() as call if (base := call.operand("base")) is not None:
                block_shape = call.attribute("block_shape")
                extents = block_shape if isinstance(block_shape, tuple) else ()
                for root, offsets, _ in self.starts(base, depth - 1):
                    yield root, offsets, tuple(e for e in extents if isinstance(e, Extent))

    # ---- polynomials ------------------------------------------------------------------------------------------------

    def of(self, operand: Operand) -> Polynomial:
        """An integer operand as a sum of products."""
        if isinstance(operand, Literal):
            return {(): int(operand.value)}
        if not isinstance(operand, Value):
            return {(self.masks.view(operand),): 1}
        if operand.id not in self.polynomials:
            self.polynomials[operand.id] = {(self.masks.view(operand),): 1}  # what a loop of definitions would see
            self.polynomials[operand.id] = self.made_of(operand)
        return self.polynomials[operand.id]

    def made_of(self, value: Value) -> Polynomial:
        let = self.made.get(value.id)
        whole: Polynomial = {(self.masks.view(value),): 1}
        match let.operation if let is not None else None:
            case Copy(operand=inner):
                return self.of(inner)
            case Cast(operand=inner) if _is_integer(inner) and _is_integer(value):
                return self.of(inner)
            case ExpandDims(operand=inner, axes=axes):
                rank = len(shape_of(value))
                return {
                    tuple(sorted((n, moved(at, axes, rank)) for n, at in factors)): c
                    for factors, c in self.of(inner).items()
                }
            case Call(intrinsic=name) as call if lanes_of(name) is Lanes.STRETCHED and len(call.operands) == 1:
                return self.of(call.operands[0][1])
            case Unary(operator="neg", operand=inner):
                return difference({}, self.of(inner))
            case Binary(operator="add" | "sub" as operator, left=left, right=right):
                found = _sum(self.of(left), self.of(right), 1 if operator == "add" else -1)
                return found if len(found) <= MOST else whole
            case Binary(operator="mul", left=left, right=right):
                return product(self.of(left), self.of(right)) or whole
            case _:
                return whole


def difference(a: Polynomial, b: Polynomial) -> Polynomial:
    """What the one is more than the other."""
    return _sum(a, b, -1)


def _sum(a: Polynomial, b: Polynomial, sign: int) -> Polynomial:
    total = dict(a)
    for factors, c in b.items():
        total[factors] = total.get(factors, 0) + sign * c
    return {factors: c for factors, c in total.items() if c}


def product(a: Polynomial, b: Polynomial) -> Polynomial | None:
    """The product; None where it has too many terms."""
    if len(a) * len(b) > MOST:
        return None
    total: dict[Factors, int] = {}
    for one, c in a.items():
        for two, d in b.items():
            factors = tuple(sorted((*one, *two)))
            total[factors] = total.get(factors, 0) + c * d
    return {factors: c for factors, c in total.items() if c}


def _is_integer(operand: Operand) -> bool:
    return isinstance(operand.type, TensorType) and is_integer(operand.type.element)
