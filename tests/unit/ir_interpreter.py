"""Runs scalar integer IR for tests: gives every access of memory, with its offset, its mask and what is stored.

Values whose ids are in `exact` are integers without bounds, all others wrap in their type: with the ids that reach an
address this is what a program means before `widen-offsets`, and with none what it means after.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from teenyc.ir.nodes import (
    Apply,
    Binary,
    Block,
    Call,
    Cast,
    Compare,
    Constant,
    Copy,
    For,
    Function,
    If,
    Kernel,
    Let,
    Literal,
    Offset,
    Operand,
    Program,
    Return,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.passes.integers import COMPARISONS, divide, remainder, wrap
from teenyc.types import I32, DType, TensorType, is_integer

LIMIT = 1 << 63


class TooLargeError(Exception):
    """An exact value that even 64 bits do not hold."""


@dataclass
class Run:
    """One run of a kernel; `trace` holds (offset, mask, stored value) of each store."""

    program: Program
    inputs: Mapping[str, int]
    exact: frozenset[int] = frozenset()
    values: dict[int, int] = field(default_factory=dict)
    trace: list[tuple[int, bool, int]] = field(default_factory=list)
    returned: tuple[int, ...] = ()

    def kernel(self, kernel: Kernel) -> list[tuple[int, bool, int]]:
        for parameter in kernel.parameters:
            self.values[parameter.value.id] = self.inputs.get(parameter.name, 0)
        self.block(kernel.body)
        return self.trace

    def of(self, operand: Operand) -> int:
        match operand:
            case Value():
                return self.values[operand.id]
            case Literal():
                return int(operand.value)
            case Constant():
                return self.inputs[operand.name]

    def set(self, value: Value, number: int) -> None:
        element = value.type.element if isinstance(value.type, TensorType) else None
        if isinstance(element, DType) and is_integer(element) and value.id not in self.exact:
            number = wrap(number, element)
        if not -LIMIT <= number < LIMIT:
            raise TooLargeError
        self.values[value.id] = number

    def block(self, block: Block) -> tuple[int, ...] | None:
        for statement in block.statements:
            if isinstance(statement, Return):
                self.returned = tuple(map(self.of, statement.values))
                return None
            self.statement(statement)
        return tuple(map(self.of, block.yields))

    def statement(self, statement: Statement) -> None:
        match statement:
            case Let():
                self.let(statement)
            case For():
                numbers = [self.of(c.initial) for c in statement.carried]
                for count in range(self.of(statement.start), self.of(statement.stop), self.of(statement.step)):
                    self.set(statement.counter, count)
                    self.assign([c.inside for c in statement.carried], numbers)
                    numbers = list(self.block(statement.body) or ())
                self.assign([c.result for c in statement.carried], numbers)
            case If():
                taken = statement.then if self.of(statement.condition) else statement.otherwise
                self.assign(statement.results, list(self.block(taken) or ()))
            case While() | Return():
                raise NotImplementedError

    def assign(self, values: Sequence[Value], numbers: list[int]) -> None:
        for value, number in zip(values, numbers, strict=True):
            self.set(value, number)

    def let(self, let: Let) -> None:
        operation = let.operation
        if isinstance(operation, Call) and operation.intrinsic == "store":
            pointer, value, mask = (operation.operand(n) for n in ("pointer", "value", "mask"))
            assert pointer is not None
            assert value is not None
            stored = wrap(self.of(value), I32)
            self.trace.append((self.of(pointer), mask is None or bool(self.of(mask)), stored))
            return
        if isinstance(operation, Apply):
            (function,) = (f for f in self.program.functions if f.name == operation.function)
            self.assign(let.results, self.call(function, [self.of(o) for o in operation.operands]))
            return
        self.set(let.results[0], self.operation(let))

    def call(self, function: Function, arguments: list[int]) -> list[int]:
        self.assign([p.value for p in function.parameters], arguments)
        self.block(function.body)
        return list(self.returned)

    def operation(self, let: Let) -> int:
        operation = let.operation
        match operation:
            case Copy() | Cast():
                return self.of(operation.operand)
            case Unary():
                number = self.of(operation.operand)
                return -number if operation.operator == "neg" else ~number
            case Binary():
                return self.binary(let, operation)
            case Compare():
                return int(COMPARISONS[operation.operator](self.of(operation.left), self.of(operation.right)))
            case Offset():
                return self.of(operation.pointer) + self.of(operation.offset)
            case Call(intrinsic="program_id"):
                return self.inputs["pid"]
            case Call(intrinsic="where"):
                chosen = [self.of(o) for _, o in operation.operands]
                return chosen[1] if chosen[0] else chosen[2]
            case _:
                raise NotImplementedError(operation)

    def binary(self, let: Let, operation: Binary) -> int:
        a, b = self.of(operation.left), self.of(operation.right)
        type = let.results[0].type
        assert isinstance(type, TensorType)
        assert isinstance(type.element, DType)
        match operation.operator:
            case "add":
                return a + b
            case "sub":
                return a - b
            case "mul":
                return a * b
            case "div":
                return divide(a, b)
            case "rem":
                return remainder(a, b)
            case "and":
                return a & b
            case "or":
                return a | b
            case "xor":
                return a ^ b
            case "shl":
                return a << (b % type.element.bits)
            case "shr":
                return a >> (b % type.element.bits)
        raise NotImplementedError(operation.operator)
