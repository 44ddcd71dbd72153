"""Computes 8- and 16-bit floats in f32: a program goes in, one comes out that converts where memory is read.

Until here a value over `D`, or over a named narrow float, has the type in which it is stored. Afterwards only what
comes from memory, or goes there unchanged, has it: a load gives the stored type, and a cast to the compute type follows
that takes over the author's name. Values, loop-carried ones, and parameters and results of device functions have the
compute type (`D::Compute`, or f32 for a named narrow float). Only a cast that the author wrote to a named narrow float
rounds on the way; stores round once.

Memory may be wider than a pointer over `D` or `D::Compute` says, so a load of `D::Compute` is followed by a cast too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Apply,
    Binary,
    Block,
    Call,
    Cast,
    Compare,
    Copy,
    ExpandDims,
    For,
    Function,
    If,
    Kernel,
    Let,
    Literal,
    Offset,
    Operand,
    Operation,
    Program,
    Return,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.passes.storage import (
    Storage,
    computed,
    computed_element,
    converts,
    is_layout,
    is_loaded,
    is_narrow,
    reads_stored,
    storage_of,
    stored_names,
    with_widened,
)
from teenyc.record import field, replace, state
from teenyc.source import NO_COMMENTS, Span
from teenyc.types import Compute, DType, Element, TensorType, Type, TypeVar


def widen_floats(program: Program) -> Program:
    """The program with arithmetic in the compute types."""
    program = walk.with_unique_ids(program)
    ids = walk.fresh_ids(program)
    return walk.map_program(program, lambda kernel: _kernel(kernel, ids), lambda function: _function(function, ids))


def _kernel(kernel: Kernel, ids: Iterator[int]) -> Kernel:
    """Parameters keep the types of the launch; scalars over narrow floats are converted at the top."""
    widening = _Widening(storage_of(kernel.body), ids)
    first: list[Statement] = []
    for parameter in kernel.parameters:
        value = parameter.value
        if computed(value.type) != value.type:
            new = widening.fresh(computed(value.type), value.name)
            first.append(Let(results=(new,), operation=Cast(operand=value), span=parameter.span))
            widening.aliases[value.id] = new
    body = widening.block(kernel.body)
    return replace(kernel, body=replace(body, statements=(*first, *body.statements)))


def _function(function: Function, ids: Iterator[int]) -> Function:
    """Parameters and results have compute types, whatever calls it."""
    widening = _Widening(storage_of(function.body), ids)
    parameters = tuple(replace(p, value=widening.value(p.value)) for p in function.parameters)
    results = tuple(map(computed, function.results))
    return replace(function, parameters=parameters, results=results, body=widening.block(function.body))


@state
class _Widening:
    """The rewrite of one body: what stands for a value when it is computed with, and as it is stored, by id."""

    storage: Storage
    ids: Iterator[int]
    aliases: dict[int, Operand] = field(default_factory=dict)
    stored: dict[int, Value] = field(default_factory=dict)

    def fresh(self, type: Type, name: str = "") -> Value:
        return Value(next(self.ids), type, name)

    def value(self, value: Value) -> Value:
        type = computed(value.type)
        return value if type is value.type else replace(value, type=type)

    def operand(self, operand: Operand) -> Operand:
        """An operand to compute with."""
        if isinstance(operand, Literal):
            type = computed(operand.type)
            return operand if type is operand.type or not isinstance(type, TensorType) else replace(operand, type=type)
        if isinstance(operand, Value):
            return self.aliases.get(operand.id) or self.value(operand)
        return operand

    def as_stored(self, operand: Operand, to: list[Statement], span: Span) -> Operand:
        """An operand in its storage type; a cast to it goes to the end of `to` where one is needed."""
        if not isinstance(operand, Value) or computed(operand.type) == operand.type:
            return operand
        if operand.id in self.stored:
            return self.stored[operand.id]
        result = self.fresh(operand.type)
        to.append(Let(results=(result,), operation=Cast(operand=self.operand(operand)), span=span))
        return result

    # ---- statements -------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            self.statement(statement, statements)
        return Block(statements=tuple(statements), yields=tuple(map(self.operand, block.yields)))

    def statement(self, statement: Statement, to: list[Statement]) -> None:
        match statement:
            case Let():
                self.let(statement, to)
            case For() | While() | If() | Return():
                statement = walk.map_definitions(walk.map_operands(statement, self.operand), self.value)
                to.append(walk.map_blocks(statement, self.block))
            case _:
                assert_never(statement)

    def let(self, let: Let, to: list[Statement]) -> None:
        operation = let.operation
        if is_layout(let, self.storage.storable):
            self.layout(let, to)
            return
        match operation:
            case Cast():
                self.cast(let, operation, to)
            case Call() if is_loaded(let):
                self.memory(let, operation, to)
            case Call():
                to.append(self.plain(let, self.pure(operation, to, let.span)))
            case Copy() | Unary() | Binary() | Compare() | Offset() | ExpandDims() | Apply():
                to.append(self.plain(let, walk.map_operation(operation, self.operand)))
            case _:
                assert_never(operation)

    def plain(self, let: Let, operation: Operation) -> Let:
        results = tuple(map(self.value, let.results))
        return Let(results=results, operation=operation, span=let.span, comments=let.comments)

    def layout(self, let: Let, to: list[Statement]) -> None:
        """Rearranges what is stored, what is computed with, or both, as it is read."""
        (result,) = let.results
        operation = let.operation
        is_only_stored = self.storage.only_stored(result)
        if result.id in self.storage.read_stored:
            raw = result if is_only_stored else self.fresh(result.type)
            moved = walk.map_operation(operation, lambda o: self.as_stored(o, to, let.span))
            to.append(replace(let, results=(raw,), operation=moved))
            self.stored[result.id] = raw
        if not is_only_stored:
            to.append(self.plain(let, walk.map_operation(operation, self.operand)))

    def memory(self, let: Let, call: Call, to: list[Statement]) -> None:
        """An access or conversion: in the storage type, followed by the cast of what it gives."""
        free = stored_names(call, self.storage.storable)
        operands: list[tuple[str, Operand]] = []
        for name, operand in call.operands:
            takes_both = name not in free and converts(call, name)
            operands.append((name, self.operand(operand) if takes_both else self.as_stored(operand, to, let.span)))
        operation = replace(call, operands=tuple(operands))
        widened = tuple(v for v in let.results if self.is_widened(v))
        raw = {v.id: self.fresh(v.type) for v in widened}
        is_one = len(let.results) == 1
        results = tuple(raw.get(v.id, v) for v in let.results)
        comments = NO_COMMENTS if is_one and widened else let.comments
        to.append(replace(let, results=results, operation=operation, comments=comments))
        self.stored.update({v.id: raw.get(v.id, v) for v in let.results})
        for value in widened:
            comments = let.comments if is_one else NO_COMMENTS
            to.append(
                Let(
                    results=(self.value(value),),
                    operation=Cast(operand=raw[value.id]),
                    span=let.span,
                    comments=comments,
                )
            )

    def is_widened(self, value: Value) -> bool:
        """Whether a result of an access is converted: not if it is only read as stored."""
        is_over_memory = isinstance(value.type, TensorType) and isinstance(value.type.element, Compute)
        return is_over_memory or (computed(value.type) != value.type and not self.storage.only_stored(value))

    def pure(self, call: Call, to: list[Statement], span: Span) -> Call:
        """An intrinsic that computes: arguments that may stay stored do; dtypes that it is told are compute types."""
        stored = stored_names(call, self.storage.storable)
        operands = tuple(
            (name, self.as_stored(o, to, span) if name in stored else self.operand(o)) for name, o in call.operands
        )
        attributes = tuple(
            (name, computed_element(a) if isinstance(a, DType | TypeVar) else a) for name, a in call.attributes
        )
        if any(before.type != after.type for (_, before), (_, after) in zip(call.operands, operands, strict=True)):
            attributes = with_widened(call, attributes)
        return replace(call, operands=operands, attributes=attributes)

    # ---- casts ------------------------------------------------------------------------------------------------------

    def cast(self, let: Let, cast: Cast, to: list[Statement]) -> None:
        """To `D`, no rounding; to a named narrow float, rounding there and back unless the cast is implicit."""
        (result,) = let.results
        straight = reads_stored(let, self.storage.storable)
        operand = self.as_stored(cast.operand, to, let.span) if straight else self.operand(cast.operand)
        target = _element(result.type)
        if is_narrow(target) and not cast.implicit and _element(operand.type) != target:
            rounded = self.fresh(result.type)
            to.append(Let(results=(rounded,), operation=Cast(operand=operand), span=let.span))
            operand = rounded
        if operand.type != computed(result.type):
            to.append(self.plain(let, Cast(operand=operand)))
        elif result.name:
            to.append(self.plain(let, Copy(operand=operand)))
        else:
            self.aliases[result.id] = operand


def _element(type: Type) -> Element:
    assert isinstance(type, TensorType), "a cast is between numbers"
    return type.element
