"""Lets offsets in loops with products of matrices go on from block to block: `o += step * stride`, in tiled kernels.

As `base + k * stride` they ask in each iteration for the counter in 64 bits, and for a multiplication. Where one loop
follows another, the second then asks for the bound between them in 64 bits too: LLVM takes that to 64 bits on each way
to the second loop, and makes a block for it on the way around the first, in which what products of matrices add up to
is set to zero. For that, NVIDIA's assembler waits for each single product in both loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Carried,
    Cast,
    Copy,
    For,
    Kernel,
    Let,
    Literal,
    Offset,
    Operand,
    Operation,
    Program,
    Statement,
    Value,
)
from teenyc.record import field, replace, state
from teenyc.source import Span
from teenyc.types import I64, scalar

WIDE = scalar(I64)


def advance_offsets(program: Program) -> Program:
    """The program whose tiled kernels carry such offsets through their loops."""
    ids = walk.fresh_ids(program)
    return walk.map_program(program, lambda k: _kernel(k, ids) if k.tiling is not None else k, lambda f: f)


def _kernel(kernel: Kernel, ids: Iterator[int]) -> Kernel:
    def advanced(statement: Statement) -> tuple[Statement, ...]:
        if not isinstance(statement, For) or statement.unroll or statement.inclusive or not _multiplies(statement):
            return (statement,)
        return _advancing(statement, ids).loop()

    return replace(kernel, body=walk.map_statements(kernel.body, advanced))


def _multiplies(loop: For) -> bool:
    """Whether a loop has a product of matrices."""
    operations = (s.operation for s in loop.body.statements if isinstance(s, Let))
    return any(isinstance(operation, Call) and operation.intrinsic == "dot" for operation in operations)


def _advancing(loop: For, ids: Iterator[int]) -> _Advancing:
    lets = {s.results[0].id: s for s in loop.body.statements if isinstance(s, Let) and len(s.results) == 1}
    inner = (v.id for _, s in walk.statements_of(loop.body) for v in walk.definitions(s))
    return _Advancing(loop, ids, lets, frozenset((loop.counter.id, *(c.inside.id for c in loop.carried), *inner)))


@state
class _Advancing:
    """One loop; `lets` are the definitions in its body, `own` all values that differ between iterations."""

    head: For
    ids: Iterator[int]
    lets: Mapping[int, Let]
    own: frozenset[int]
    before: list[Statement] = field(default_factory=list)

    def loop(self) -> tuple[Statement, ...]:
        """The loop with its offsets carried, behind what they start with."""
        found: dict[int, str] = {}
        for id, name in self.offsets():
            found.setdefault(id, name)
        if not found:
            return (self.head,)
        statements = [
            s for s in self.head.body.statements if not isinstance(s, Let) or found.keys().isdisjoint(_ids(s))
        ]
        carried, yields = list(self.head.carried), list(self.head.body.yields)
        for id, name in found.items():
            let = self.lets[id]
            inside = replace(let.results[0], name=name)
            first = self.first(let, name)
            following, result = replace(inside, id=next(self.ids), name=""), replace(inside, id=next(self.ids))
            step = self.step(inside, let.span, statements)
            operation = Binary(operator="add", left=inside, right=step)
            statements.append(Let(results=(following,), operation=operation, span=let.span))
            carried.append(Carried(initial=first, inside=inside, result=result))
            yields.append(following)
        body = Block(statements=tuple(statements), yields=tuple(yields))
        body = walk.substitute(body, {each.inside.id: each.inside for each in carried})  # under the names they have now
        return (*self.before, replace(self.head, carried=tuple(carried), body=body))

    def offsets(self) -> Iterator[tuple[int, str]]:
        """The offsets of addresses that rise by the same in each iteration, and what they are called."""
        for statement in self.head.body.statements:
            if isinstance(statement, Let) and isinstance(statement.operation, Offset):
                pointer, offset = statement.operation.pointer, statement.operation.offset
                if isinstance(offset, Value) and offset.id in self.lets and self.is_linear(offset):
                    root = pointer.name.removesuffix("_ptr") if isinstance(pointer, Value) else ""
                    yield offset.id, offset.name or (f"{root}_offset" if root else "")

    def is_fixed(self, operand: Operand) -> bool:
        """Whether a number is the same in all iterations, be it made in each."""
        if not isinstance(operand, Value) or operand.id not in self.own:
            return True
        match self.definition(operand):
            case Copy(operand=inner) | Cast(operand=inner):
                return self.is_fixed(inner)
            case Binary(left=left, right=right) if operand.type == WIDE:
                return self.is_fixed(left) and self.is_fixed(right)
        return False

    def definition(self, operand: Operand) -> Operation | None:
        let = self.lets.get(operand.id) if isinstance(operand, Value) else None
        return let.operation if let is not None else None

    def is_linear(self, operand: Operand) -> bool:
        """Whether a number is the counter, times and plus what is fixed."""
        if operand == self.head.counter:
            return True
        match self.definition(operand):
            case Copy(operand=inner) if operand.type == WIDE:
                return self.is_linear(inner)
            case Cast(operand=inner) if operand.type == WIDE:
                return inner == self.head.counter
            case Binary(operator="add" | "sub", left=left, right=right) if operand.type == WIDE:
                sides = [self.is_linear(left), self.is_linear(right)]
                return any(sides) and all(s or self.is_fixed(o) for s, o in zip(sides, (left, right), strict=True))
            case Binary(operator="mul", left=left, right=right) if operand.type == WIDE:
                return (self.is_linear(left) and self.is_fixed(right)) or (
                    self.is_fixed(left) and self.is_linear(right)
                )
        return False

    # ---- what it starts with ----------------------------------------------------------------------------------------

    def first(self, let: Let, name: str) -> Operand:
        """What an offset is in the first iteration, made in front of the loop under its name."""
        found = self.at_start(let.results[0], let.span)
        last = self.before[-1] if self.before else None
        if isinstance(last, Let) and last.results == (found,) and isinstance(found, Value):
            found = replace(found, name=name)
            self.before[-1] = replace(last, results=(found,), comments=let.comments)
        return found

    def at_start(self, operand: Operand, span: Span) -> Operand:
        if operand == self.head.counter:
            return self.head.start
        match self.definition(operand):
            case Copy(operand=inner):
                return self.at_start(inner, span)
            case Cast(operand=inner):
                return self.wide(self.at_start(inner, span), span, self.before)
            case Binary(operator=operator, left=left, right=right):
                return self.binary(operator, self.at_start(left, span), self.at_start(right, span), span, self.before)
        return operand

    # ---- how it goes on ---------------------------------------------------------------------------------------------

    def step(self, operand: Operand, span: Span, to: list[Statement]) -> Operand:
        """By how much a linear number rises in each iteration."""
        if operand == self.head.counter:
            return self.head.step
        match self.definition(operand):
            case Copy(operand=inner):
                return self.step(inner, span, to)
            case Cast(operand=inner):
                return self.wide(self.step(inner, span, to), span, to)
            case Binary(operator="mul", left=left, right=right):
                one, other = (self.step(o, span, to) if self.is_linear(o) else o for o in (left, right))
                return self.binary("mul", one, other, span, to)
            case Binary(operator=operator, left=left, right=right):
                zero = Literal(0, WIDE)
                one, other = (self.step(o, span, to) if self.is_linear(o) else zero for o in (left, right))
                return self.binary(operator, one, other, span, to)
        raise AssertionError("linear numbers are made of these")

    # ---- numbers ----------------------------------------------------------------------------------------------------

    def wide(self, operand: Operand, span: Span, to: list[Statement]) -> Operand:
        if isinstance(operand, Literal):
            return replace(operand, type=WIDE)
        return operand if operand.type == WIDE else self.made(Cast(operand=operand), span, to)

    def binary(self, operator: str, left: Operand, right: Operand, span: Span, to: list[Statement]) -> Operand:
        """An operation on numbers; zero adds nothing, and makes products zero."""
        if operator == "mul" and (_is_zero(left) or _is_zero(right)):
            return Literal(0, WIDE)
        if operator == "mul" and _is_one(right):
            return left
        if operator != "mul" and _is_zero(right):
            return left
        if operator == "add" and _is_zero(left):
            return right
        return self.made(Binary(operator=operator, left=left, right=right), span, to)

    def made(self, operation: Operation, span: Span, to: list[Statement]) -> Value:
        value = Value(next(self.ids), WIDE)
        to.append(Let(results=(value,), operation=operation, span=span))
        return value


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Literal) and operand.value == 0


def _is_one(operand: Operand) -> bool:
    return isinstance(operand, Literal) and operand.value == 1


def _ids(let: Let) -> set[int]:
    return {value.id for value in let.results}
