"""Rows: a kernel and its prologue go in; out come the kernel that loads what it computed, and the one that runs before.

Both know the memory between them as a number for each iteration of the loop, for each program along the axes that the
blocked kernel keeps: `(z * num_programs(y) + y) * extent + iteration`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from teenyc.ir.nodes import (
    Apply,
    Attributes,
    Binary,
    Block,
    Call,
    Cast,
    Constant,
    Copy,
    For,
    Kernel,
    Let,
    Literal,
    Offset,
    Operand,
    Operation,
    Parameter,
    Statement,
    Value,
)
from teenyc.ir.walk import all_operands, uses, values_of
from teenyc.record import replace
from teenyc.source import Span
from teenyc.tiling.plan import Prologue
from teenyc.tiling.slices import Slices, is_repeatable
from teenyc.types import I32, I64, Compute, Element, Extent, Pointer, TensorType, Type, TypeVar, scalar


def with_loads(kernel: Kernel, prologue: Prologue) -> Kernel:
    """The kernel whose loop loads what the prologue computed."""
    loop = _loop(kernel, prologue)
    ids = _ids(kernel)
    memory = _memory(kernel, prologue, ids, loop.span)
    statements: list[Statement] = []
    for statement in kernel.body.statements:
        if statement is loop:
            statement = _loading(
                kernel, loop, prologue, dict(zip(prologue.values, memory, strict=True)), statements, ids
            )
        statements.append(statement)
    parameters = (*kernel.parameters, *memory)
    return replace(kernel, parameters=parameters, body=replace(kernel.body, statements=tuple(statements)))


def rows(kernel: Kernel, prologue: Prologue) -> Kernel:
    """The kernel that runs before, one program for each iteration."""
    loop = _loop(kernel, prologue)
    slices, ids = Slices.of(kernel, loop), _ids(kernel)
    memory = _memory(kernel, prologue, ids, loop.span)
    values = [slices.lets[id].results[0] for id in prologue.values]
    needed = slices.slice(values)
    statements: list[Statement] = [s for s in kernel.body.statements if _is_in(s, needed)]
    writer = _Writer(kernel, statements, statements, ids, loop.span)
    writer.counter(prologue, loop)
    statements += [s for s in loop.body.statements if _is_in(s, needed)]
    for value, parameter in zip(values, memory, strict=True):
        pointer = writer.address(parameter.value, prologue, loop)
        call = Call(intrinsic="store", operands=(("pointer", pointer), ("value", value)))
        statements.append(Let(results=(), operation=call, span=loop.span))
    made = replace(
        kernel,
        name=f"{kernel.name}_rows",
        doc=_doc(kernel, loop, values),
        parameters=(*kernel.parameters, *memory),
        body=Block(statements=tuple(statements)),
        attributes=Attributes(
            dot_operands=kernel.attributes.dot_operands, dot_precision=kernel.attributes.dot_precision
        ),
    )
    return _trimmed(made, memory)


def _doc(kernel: Kernel, loop: For, values: Sequence[Value]) -> str:
    names = " and ".join(f"`{v.name}`" for v in values if v.name) or "What is alike in all programs"
    of = f"`{loop.counter.name}`" if loop.counter.name else "iteration"
    them = "them" if len(values) > 1 else "it"
    return f"{names} of each {of}, once for all programs of `{kernel.name}`, whose loop loads {them}."


# ---- the kernel that loads ------------------------------------------------------------------------------------------


def _loading(
    kernel: Kernel,
    loop: For,
    prologue: Prologue,
    memory: Mapping[int, Parameter],
    before: Sequence[Statement],
    ids: Iterator[int],
) -> For:
    """The loop with loads in the place of what they give, and without what then nothing reads."""
    statements: list[Statement] = []
    for statement in loop.body.statements:
        parameter = memory.get(statement.results[0].id) if isinstance(statement, Let) and statement.results else None
        if parameter is not None and isinstance(statement, Let):
            pointer = _Writer(kernel, before, statements, ids, statement.span).address(parameter.value, prologue, loop)
            statement = replace(statement, operation=Call(intrinsic="load", operands=(("pointer", pointer),)))
        statements.append(statement)
    return replace(loop, body=_swept(replace(loop.body, statements=tuple(statements))))


def _swept(block: Block) -> Block:
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


# ---- the kernel before ----------------------------------------------------------------------------------------------


def _trimmed(kernel: Kernel, memory: Sequence[Parameter]) -> Kernel:
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


def memory_of(kernel: Kernel, prologue: Prologue) -> Iterator[tuple[str, Element]]:
    """The parameters of the kernel before that point to what it computes, with the types of that."""
    for parameter in kernel.parameters:
        element = _pointee(parameter.value.type)
        if parameter.name in prologue.names and element is not None:
            yield parameter.name, element


# ---- where in memory ------------------------------------------------------------------------------------------------


class _Writer:
    """Writes addresses of numbers in memory between the kernels, behind other statements."""

    def __init__(
        self, kernel: Kernel, before: Sequence[Statement], statements: list[Statement], ids: Iterator[int], span: Span
    ) -> None:
        self.before, self.statements, self.ids, self.span = before, statements, ids, span
        self.known: dict[str, Operand] = {p.name: p.value for p in kernel.parameters}
        self.known |= {c.name: Constant(c.name, c.type) for c in kernel.constants}

    def let(self, operation: Operation, element: Element) -> Value:
        value = Value(next(self.ids), scalar(element))
        self.statements.append(Let(results=(value,), operation=operation, span=self.span))
        return value

    def counter(self, prologue: Prologue, loop: For) -> None:
        """The iteration of a program, under the name of the loop's counter."""
        operation: Operation = Call(intrinsic="program_id", attributes=(("axis", prologue.axis),))
        if loop.counter.type != scalar(I32) or prologue.start.known != 0:
            index: Operand = self.let(operation, I32)
            operation = Copy(operand=index)
            if loop.counter.type != scalar(I32):
                operation = Cast(operand=index)
            if prologue.start.known != 0:
                element = _element(loop.counter.type)
                start, index = self.number(prologue.start, element), self.cast(index, element)
                operation = Binary(operator="add", left=start, right=index)
        self.statements.append(Let(results=(loop.counter,), operation=operation, span=self.span))

    def address(self, pointer: Value, prologue: Prologue, loop: For) -> Value:
        """The address of the number of an iteration."""
        element = _element(pointer.type)
        if prologue.axes:
            program, extent = self.program(prologue.axes), self.number(prologue.extent, I64)
            base = self.let(Binary(operator="mul", left=program, right=extent), I64)
            pointer = self.let(Offset(pointer=pointer, offset=base), element)
        iteration: Operand = loop.counter
        if prologue.start.known != 0:
            counted = _element(loop.counter.type)
            start = self.number(prologue.start, counted)
            iteration = self.let(Binary(operator="sub", left=iteration, right=start), counted)
        return self.let(Offset(pointer=pointer, offset=iteration), element)

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


def _element(type: Type) -> Element:
    assert isinstance(type, TensorType), "what memory holds and counts are numbers"
    return type.element


# ---- parts ----------------------------------------------------------------------------------------------------------


def _loop(kernel: Kernel, prologue: Prologue) -> For:
    return next(s for s in kernel.body.statements if isinstance(s, For) and s.counter.id == prologue.loop)


def _ids(kernel: Kernel) -> Iterator[int]:
    """Ids for what is new."""
    return count(max(v.id for v in values_of(kernel)) + 1)


def _memory(kernel: Kernel, prologue: Prologue, ids: Iterator[int], span: Span) -> tuple[Parameter, ...]:
    """The parameters that are pointers to what the prologue computes."""
    types = {v.id: v.type for v in values_of(kernel)}
    elements = (_element(types[id]) for id in prologue.values)
    values = (
        Value(next(ids), scalar(Pointer(element)), name) for name, element in zip(prologue.names, elements, strict=True)
    )
    return tuple(Parameter(value=value, span=span) for value in values)


def _is_in(statement: Statement, needed: Mapping[int, Let]) -> bool:
    return isinstance(statement, Let) and any(v.id in needed for v in statement.results)
