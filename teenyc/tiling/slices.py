"""Slices: what a number in a loop is made of, from the counter, indices of programs, parameters and memory alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.nodes import (
    Apply,
    Call,
    Copy,
    ExpandDims,
    For,
    Kernel,
    Let,
    Offset,
    Operand,
    Operation,
    Statement,
    Value,
)
from teenyc.ir.walk import map_operation, operands_of, statements_of
from teenyc.record import record
from teenyc.types import DType, TensorType, Type, is_integer

OF_A_LAUNCH = ("device", "assembly")
"""Families of intrinsics that may give something else in another kernel; `num_programs` does, too."""


@record
class Made:
    """What a value is made of: program axes, and whether of the counter of the loop and of what memory holds."""

    axes: frozenset[int] = frozenset()
    counts: bool = False
    loads: bool = False


@dataclass(slots=True, eq=False)
class Slices:
    """Definitions at the top of a kernel and of one of its loops, and all of the kernel's, by id.

    `free` are parameters and the counter. `twins` are the first values of the same definition.
    """

    lets: Mapping[int, Let]
    every: Mapping[int, Let]
    free: Mapping[int, Made]
    twins: Mapping[int, int]
    known: dict[int, Made | None] = field(default_factory=dict)

    @staticmethod
    def of(kernel: Kernel, loop: For) -> Slices:
        free = {p.value.id: Made() for p in kernel.parameters} | {loop.counter.id: Made(counts=True)}
        lets = _lets((*kernel.body.statements, *loop.body.statements))
        return Slices(lets, _lets(s for _, s in statements_of(kernel.body)), free, _twins(lets))

    def made(self, operand: Operand) -> Made | None:
        """What an operand is made of; None where of anything else, such as what a loop carries."""
        if not isinstance(operand, Value):
            return Made()
        if operand.id in self.free:
            return self.free[operand.id]
        if operand.id not in self.known:
            let = self.lets.get(operand.id)
            self.known[operand.id] = self._operation(let.operation) if let is not None else None
        return self.known[operand.id]

    def _operation(self, operation: Operation) -> Made | None:
        axis: frozenset[int] = frozenset()
        if isinstance(operation, Apply):
            return None
        if isinstance(operation, Call):
            if not is_repeatable(operation):
                return None
            number = operation.attribute("axis", 0) if operation.intrinsic == "program_id" else None
            axis = frozenset({number} if isinstance(number, int) else ())
        parts = [self.made(operand) for operand in operands_of(operation)]
        found = [part for part in parts if part is not None]
        if len(found) < len(parts):
            return None
        loads = isinstance(operation, Call) and operation.intrinsic == "load"
        return Made(
            axis.union(*(part.axes for part in found)),
            any(part.counts for part in found),
            loads or any(part.loads for part in found),
        )

    def slice(self, operands: Collection[Operand], until: Collection[int] = ()) -> dict[int, Let]:
        """The definitions behind some operands, by the ids of what they define, but for what is behind some values."""
        found: dict[int, Let] = {}
        pending = [o for o in operands if isinstance(o, Value)]
        while pending:
            value = pending.pop()
            let = self.lets.get(value.id)
            if let is not None and value.id not in found and value.id not in until:
                found |= {result.id: let for result in let.results}
                pending += [o for o in operands_of(let) if isinstance(o, Value)]
        return found

    def root(self, pointer: Operand) -> str:
        """The parameter that an address begins with; nothing where that is not known."""
        if isinstance(pointer, Value) and pointer.id in self.free:
            return pointer.name
        let = self.every.get(pointer.id) if isinstance(pointer, Value) else None
        match let.operation if let is not None else None:
            case Offset(pointer=inner) | Copy(operand=inner) | ExpandDims(operand=inner):
                return self.root(inner)
            case Call(intrinsic="broadcast_to" | "full") as call:
                return self.root(call.operands[0][1])
        return ""


def written(kernel: Kernel, slices: Slices) -> frozenset[str]:
    """The parameters to whose memory a kernel writes; nothing for an address that begins nobody knows where."""
    roots: set[str] = set()
    for _, statement in statements_of(kernel.body):
        call = statement.operation if isinstance(statement, Let) else None
        if isinstance(call, Apply):
            roots.add("")
        elif isinstance(call, Call) and not TABLE[call.intrinsic].effects.isdisjoint({Effect.WRITES, Effect.ATOMIC}):
            pointer = call.operand("pointer")
            roots.add(slices.root(pointer) if pointer is not None else "")
    return frozenset(roots)


def _lets(statements: Iterable[Statement]) -> dict[int, Let]:
    return {v.id: s for s in statements if isinstance(s, Let) for v in s.results}


def _twins(lets: Mapping[int, Let]) -> dict[int, int]:
    """For each value, in order of definition, the first that is defined alike."""
    twins: dict[int, int] = {}
    firsts: dict[tuple[Operation, Type, int], int] = {}
    values = {v.id: v for let in lets.values() for v in let.results}

    def first(operand: Operand) -> Operand:
        return values.get(twins.get(operand.id, operand.id), operand) if isinstance(operand, Value) else operand

    for id, let in lets.items():
        place = next(n for n, value in enumerate(let.results) if value.id == id)
        key = (map_operation(let.operation, first), let.results[place].type, place)
        twins[id] = firsts.setdefault(key, id)
    return twins


def is_repeatable(call: Call) -> bool:
    """Whether a call gives in another kernel what it gives here."""
    known = TABLE[call.intrinsic]
    if call.intrinsic == "load":
        return call.attribute("volatile") is None and call.operand("volatile") is None
    return known.is_pure and known.family not in OF_A_LAUNCH and call.intrinsic != "num_programs"


def bits_of(operand: Operand) -> int:
    """How wide an integer is; 0 for anything else."""
    element = operand.type.element if isinstance(operand.type, TensorType) else None
    return element.bits if isinstance(element, DType) and is_integer(element) else 0
