"""Rows: a kernel and its prologue go in; out come the kernel that loads what it computed, and the one that runs before.

Both know the memory between them as a number for each iteration of the loop, for each program along the axes that the
blocked kernel keeps: `(z * num_programs(y) + y) * extent + iteration`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from teenyc.ir.nodes import (
    Attributes,
    Binary,
    Block,
    Call,
    Cast,
    Copy,
    For,
    Kernel,
    Let,
    Offset,
    Operand,
    Operation,
    Parameter,
    Statement,
    Value,
)
from teenyc.ir.walk import values_of
from teenyc.record import replace
from teenyc.source import Span
from teenyc.tiling.plan import Prologue
from teenyc.tiling.scratch import Writer, element_of, fresh_ids, swept, trimmed
from teenyc.tiling.slices import Slices
from teenyc.types import I32, I64, Pointer, scalar


def with_loads(kernel: Kernel, prologue: Prologue) -> Kernel:
    """The kernel whose loop loads what the prologue computed."""
    loop = _loop(kernel, prologue)
    ids = fresh_ids(kernel)
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
    slices, ids = Slices.of(kernel, loop), fresh_ids(kernel)
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
    return trimmed(made, memory)


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
    return replace(loop, body=swept(replace(loop.body, statements=tuple(statements))))


class _Writer(Writer):
    """Writes the counter of an iteration, and where in memory its numbers are."""

    def counter(self, prologue: Prologue, loop: For) -> None:
        """The iteration of a program, under the name of the loop's counter."""
        operation: Operation = Call(intrinsic="program_id", attributes=(("axis", prologue.axis),))
        if loop.counter.type != scalar(I32) or prologue.start.known != 0:
            index: Operand = self.let(operation, I32)
            operation = Copy(operand=index)
            if loop.counter.type != scalar(I32):
                operation = Cast(operand=index)
            if prologue.start.known != 0:
                element = element_of(loop.counter.type)
                start, index = self.number(prologue.start, element), self.cast(index, element)
                operation = Binary(operator="add", left=start, right=index)
        self.statements.append(Let(results=(loop.counter,), operation=operation, span=self.span))

    def address(self, pointer: Value, prologue: Prologue, loop: For) -> Value:
        """The address of the number of an iteration."""
        element = element_of(pointer.type)
        if prologue.axes:
            program, extent = self.program(prologue.axes), self.number(prologue.extent, I64)
            base = self.let(Binary(operator="mul", left=program, right=extent), I64)
            pointer = self.let(Offset(pointer=pointer, offset=base), element)
        iteration: Operand = loop.counter
        if prologue.start.known != 0:
            counted = element_of(loop.counter.type)
            start = self.number(prologue.start, counted)
            iteration = self.let(Binary(operator="sub", left=iteration, right=start), counted)
        return self.let(Offset(pointer=pointer, offset=iteration), element)


# ---- parts ----------------------------------------------------------------------------------------------------------


def _loop(kernel: Kernel, prologue: Prologue) -> For:
    return next(s for s in kernel.body.statements if isinstance(s, For) and s.counter.id == prologue.loop)


def _memory(kernel: Kernel, prologue: Prologue, ids: Iterator[int], span: Span) -> tuple[Parameter, ...]:
    """The parameters that are pointers to what the prologue computes."""
    types = {v.id: v.type for v in values_of(kernel)}
    elements = (element_of(types[id]) for id in prologue.values)
    values = (
        Value(next(ids), scalar(Pointer(element)), name) for name, element in zip(prologue.names, elements, strict=True)
    )
    return tuple(Parameter(value=value, span=span) for value in values)


def _is_in(statement: Statement, needed: Mapping[int, Let]) -> bool:
    return isinstance(statement, Let) and any(v.id in needed for v in statement.results)
