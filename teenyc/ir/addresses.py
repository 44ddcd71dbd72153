"""Addresses as sums of products: a kernel goes in; its accesses come out, with the parameter that each starts from.

An offset is a polynomial over views. A tensor descriptor has one for each of its axes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from teenyc.ir.lanes import Lanes, lanes_of
from teenyc.ir.masks import Masks
from teenyc.ir.nodes import Block, Call, Copy, ExpandDims, If, Kernel, Let, Offset, Operand, Value
from teenyc.ir.polynomials import Polynomial, Polynomials, total
from teenyc.ir.walk import statements_of
from teenyc.record import record
from teenyc.types import Extent, Shape

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

    @property
    def key(self) -> Hashable:
        """What two accesses of the same elements have in common."""
        return tuple(frozenset(offset.items()) for offset in self.offsets), self.block


def accesses(kernel: Kernel, masks: Masks) -> tuple[Access, ...]:
    """The loads and stores of a kernel, atomics left out; one that may start from several parameters comes for each."""
    return tuple(Addresses(kernel, masks).all())


class Addresses:
    """The addresses of one kernel; `masks` are its views."""

    def __init__(self, kernel: Kernel, masks: Masks) -> None:
        self.kernel = kernel
        self.made: dict[int, Let] = {}
        self.chosen: dict[int, tuple[Operand, ...]] = {}
        self.polynomials = Polynomials(masks, self.made)

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
                places = tuple(self.polynomials.of(o) for name, o in call.operands if name.startswith("offsets"))
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
                    yield root, (total(first, self.polynomials.of(offset)),), block
            case Copy(operand=inner) | ExpandDims(operand=inner):
                yield from self.starts(inner, depth - 1)
            case Call(intrinsic=name) as call if lanes_of(name) is Lanes.STRETCHED:
                yield from self.starts(call.operands[0][1], depth - 1)
            case Call() as call if (base := call.operand("base")) is not None:
                block_shape = call.attribute("block_shape")
                extents = block_shape if isinstance(block_shape, tuple) else ()
                for root, offsets, _ in self.starts(base, depth - 1):
                    yield root, offsets, tuple(e for e in extents if isinstance(e, Extent))
