"""Scratch: memory between two kernels of one launch, its addresses, and kernels cut down to what they need."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count

from teenyc.ir.nodes import (
    Apply,
    Binary,
    Block,
    Call,
    Cast,
    Constant,
    Kernel,
    Let,
    Literal,
    Operand,
    Operation,
    Parameter,
    Statement,
    Value,
)
from teenyc.ir.walk import all_operands, uses, values_of
from teenyc.record import replace
from teenyc.source import Span
from teenyc.tiling.slices import is_repeatable
from teenyc.types import I32, I64, Compute, Element, Extent, Pointer, Shape, TensorType, Type, TypeVar, scalar


class Writer:
    """Writes what computes addresses in memory between two kernels, behind other statements."""

    def __init__(
        self, kernel: Kernel, before: Sequence[Statement], statements: list[Statement], ids: Iterator[int], span: Span
    ) -> None:
        self.before, self.statements, self.ids, self.span = before, statements, ids, span
        self.known: dict[str, Operand] = {p.name: p.value for p in kernel.parameters}
        self.known |= {c.name: Constant(c.name, c.type) for c in kernel.constants}
        self.known |= {p.name: Constant(p.name, scalar(I32)) for p in kernel.padded}

    def let(self, operation: Operation, element: Element, shape: Shape = (), name: str = "") -> Value:
        value = Value(next(self.ids), TensorType(element, shape), name)
        self.statements.append(Let(results=(value,), operation=operation, span=self.span))
        return value

    def number(self, extent: Extent, element: Element) -> Operand:
        """A polynomial over parameters and constants as a number: first the terms that are added."""
        total: Operand | None = None
        for monomial, coefficient in sorted(extent.terms, key=lambda term: term[1] < 0):
            factors = [self.cast(self.known[atom], element) for atom in monomial if isinstance(atom, str)]
            if abs(coefficient) != 1 or not factors:
                factors.append(Literal(abs(coefficient), scalar(element)))
            term = factors[0]
            for factor in factors[1:]:
                term = self.let(Binary(operator="mul", left=term, right=factor), element)
            if total is None and coefficient < 0:
                total = Literal(0, scalar(element))
            operator = "add" if coefficient > 0 else "sub"
            total = term if total is None else self.let(Binary(operator=operator, left=total, right=term), element)
        return Literal(0, scalar(element)) if total is None else total

    def program(self, axes: tuple[int, ...]) -> Operand:
        """The index of a program among those along some axes, in 64 bits."""
        *inner, last = axes
        program = self.index(last)
        for axis in reversed(inner):
            extent = self.let(Call(intrinsic="num_programs", attributes=(("axis", axis),)), I32)
            above = self.let(Binary(operator="mul", left=program, right=self.wide(extent)), I64)
            program = self.let(Binary(operator="add", left=above, right=self.index(axis)), I64)
        return program

    def index(self, axis: int) -> Operand:
        """The index of a program along an axis in 64 bits, that of the author where there is one."""
        lets = [s for s in (*self.before, *self.statements) if isinstance(s, Let)]
        index = next((let.results[0] for let in lets if _is_index(let.operation, axis)), None)
        if index is None:
            index = self.let(Call(intrinsic="program_id", attributes=(("axis", axis),)), I32)
        wide = (let.results[0] for let in lets if isinstance(let.operation, Cast) and let.operation.operand == index)
        return next((v for v in wide if v.type == scalar(I64)), None) or self.wide(index)

    def wide(self, operand: Operand) -> Operand:
        """An integer in 64 bits."""
        return self.cast(operand, I64)

    def cast(self, operand: Operand, element: Element) -> Operand:
        return operand if operand.type == scalar(element) else self.let(Cast(operand=operand), element)


def _is_index(operation: Operation, axis: int) -> bool:
    is_index = isinstance(operation, Call) and operation.intrinsic == "program_id"
    return is_index and isinstance(operation, Call) and operation.attribute("axis", 0) == axis


def element_of(type: Type) -> Element:
    assert isinstance(type, TensorType), "what memory holds and counts are numbers"
    return type.element


def fresh_ids(kernel: Kernel) -> Iterator[int]:
    """Ids for what is new."""
    return count(max(v.id for v in values_of(kernel)) + 1)


def swept(block: Block) -> Block:
    """A block without the loads and the definitions of it that nothing reads."""
    while True:
        read = uses(block)
        kept = tuple(s for s in block.statements if not isinstance(s, Let) or _is_kept(s, read))
        if kept == block.statements:
            return block
        block = replace(block, statements=kept)


def _is_kept(statement: Let, read: Mapping[int, int]) -> bool:
    operation = statement.operation
    has_effects = isinstance(operation, Call) and not is_repeatable(operation)
    return has_effects or isinstance(operation, Apply) or any(read[v.id] for v in statement.results)


def trimmed(kernel: Kernel, memory: Sequence[Parameter]) -> Kernel:
    """A kernel without the parameters and constants that it does not need; the same pointers tell its dtypes."""
    read = uses(kernel.body)
    used = [*values_of(replace(kernel, parameters=memory)), *(p.value for p in kernel.parameters if read[p.value.id])]
    elements = {_variable(v.type) for v in used}
    variables = tuple(v for v in kernel.type_variables if v in elements)
    binding = [next((p for p in kernel.parameters if _pointee(p.value.type) == v), None) for v in variables]
    parameters = tuple(p for p in kernel.parameters if read[p.value.id] or p in memory or p in binding)
    shapes = (v.type.shape for v in used if isinstance(v.type, TensorType))
    names = {o.name for o in all_operands(kernel.body) if isinstance(o, Constant)}
    names |= {name for shape in shapes for extent in shape for name in extent.names}
    padded = tuple(p for p in kernel.padded if p.name in names)
    names |= {p.of for p in padded}
    return replace(
        kernel,
        parameters=parameters,
        type_variables=variables,
        padded=padded,
        constants=tuple(c for c in kernel.constants if c.name in names),
        requirements=tuple(r for r in kernel.requirements if r.extent.names <= names),
    )


def _pointee(type: Type) -> Element | None:
    element = type.element if isinstance(type, TensorType) else None
    return element.to if isinstance(element, Pointer) else None


def _variable(type: Type) -> TypeVar | None:
    """The dtype parameter that a type depends on."""
    element = type.element if isinstance(type, TensorType) else None
    element = element.to if isinstance(element, Pointer) else element
    element = element.of if isinstance(element, Compute) else element
    return element if isinstance(element, TypeVar) else None


def memory_of(kernel: Kernel, names: Collection[str]) -> Iterator[tuple[str, Element]]:
    """The parameters of a kernel that point to scratch, with the types of that."""
    for parameter in kernel.parameters:
        element = _pointee(parameter.value.type)
        if parameter.name in names and element is not None:
            yield parameter.name, element
