"""What is known when Triton compiles: the values of a body that are made of literals and constants alone.

They stay Python numbers in the text, so that a bound, a branch or an unrolled loop may depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import assert_never

from teenyc.codegen.contents import Contents
from teenyc.intrinsics import find
from teenyc.ir.nodes import (
    Apply,
    Binary,
    Block,
    Call,
    Cast,
    Compare,
    Constant,
    Copy,
    ExpandDims,
    For,
    If,
    Kernel,
    Let,
    Literal,
    Offset,
    Operand,
    Operation,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.ir.walk import blocks_of, operands_of
from teenyc.record import record
from teenyc.types import BOOL, I32, I64, DescriptorType, DType, Element, Extent, Quotient, Shape, TensorType, is_integer

DEPTH = 32
"""How deep expressions nest: Triton and Python walk them recursively."""

NUMEL = 1 << 20
"""The most elements that Triton lets a tensor have, and so the greatest extent."""

EXACT = frozenset({BOOL, I32, I64})
"""Types whose numbers Python may stand in for: no float, and nothing narrow or unsigned, which wraps early."""


@record
class Statics:
    """Values by id: `inlined` are temporaries, `named` the author's, `counters` those of unrolled loops.

    `nonnegative` holds those that are never below 0, other loop counters too, and `limits` how far from 0 a counter
    comes. `extents` are the constants that are sizes, and so positive. `depths` say how deep the expressions of
    temporaries nest; one that would nest deeper than `DEPTH` is written before its use, as what the author names is.
    """

    extents: frozenset[str]
    inlined: dict[int, Let]
    named: dict[int, Let]
    counters: set[int]
    nonnegative: set[int]
    limits: dict[int, int]
    depths: dict[int, int]

    def decides(self, value: Value) -> bool:
        """Whether it is settled here where a value is written."""
        return value.id in self.inlined or value.id in self.named

    def depth(self, operation: Operation) -> int:
        """How deep the expression of an operation nests."""
        values = (o.id for o in operands_of(operation) if isinstance(o, Value))
        return 1 + max((self.depths.get(id, 0) for id in values), default=0)

    def holds(self, operand: Operand) -> bool:
        if not isinstance(operand, Value):
            return True
        return operand.id in self.inlined or operand.id in self.named or operand.id in self.counters

    def limit_of(self, operation: Operation) -> int | None:
        """How far from 0 the result of static i32 arithmetic may be; None where that is unknown or over 31 bits."""
        match operation:
            case Copy() | Cast() | Unary():
                limit = self.limit(operation.operand)
            case Binary():
                limit = _reach(operation.operator, self.limit(operation.left), self.limit(operation.right))
            case _:
                limit = None
        return limit if limit is not None and limit <= I32.maximum else None

    def has_product(self, left: Operand, right: Operand) -> bool:
        """Whether the product of two operands certainly fits 32 bits."""
        first, second = self.limit(left), self.limit(right)
        return first is not None and second is not None and first * second <= I32.maximum

    def limit(self, operand: Operand) -> int | None:
        """How far from 0 an operand may be, where that is known."""
        match operand:
            case Literal():
                return abs(int(operand.value)) if isinstance(operand.value, int) else None
            case Constant():
                return NUMEL if operand.name in self.extents else None
            case Value():
                return self.limits.get(operand.id)
            case _:
                assert_never(operand)

    def is_nonnegative(self, operand: Operand) -> bool:
        """Whether a static operand is certainly 0 or more."""
        match operand:
            case Literal():
                return operand.value >= 0
            case Constant():
                return operand.name in self.extents
            case Value():
                return operand.id in self.nonnegative
            case _:
                assert_never(operand)


def statics_of(contents: Contents) -> Statics:
    """The static values of a body. One that a loop or branch takes over is an ordinary variable instead."""
    found = Statics(frozenset(_extent_names(contents)), {}, {}, set(), set(), {}, {})
    taken_over = {o.id for o in _taken_over(contents.statements) if isinstance(o, Value)}
    _block(contents.body.body, found, taken_over, in_loop=False)
    return found


def _block(block: Block, found: Statics, taken_over: Set[int], *, in_loop: bool) -> None:
    for statement in block.statements:
        if isinstance(statement, Let) and len(statement.results) == 1 and _is_static(statement, found):
            value = statement.results[0]
            depth = found.depth(statement.operation)
            is_written = bool(value.name) or depth > DEPTH
            if is_written and (in_loop or value.id in taken_over):
                continue
            (found.named if is_written else found.inlined)[value.id] = statement
            if not is_written:
                found.depths[value.id] = depth
            if _is_nonnegative(statement.operation, found):
                found.nonnegative.add(value.id)
            limit = found.limit_of(statement.operation)
            if limit is not None:
                found.limits[value.id] = limit
        if isinstance(statement, For):
            _counter(statement, found)
        for inner in blocks_of(statement):
            _block(inner, found, taken_over, in_loop=in_loop or isinstance(statement, For | While))


def _reach(operator: str, left: int | None, right: int | None) -> int | None:
    """How far from 0 the result of an operator is at most, for operands that are so far from it."""
    if left is None or right is None:
        return left if operator in ("div", "rem", "shr") else None
    match operator:
        case "add" | "sub":
            return left + right
        case "mul":
            return left * right
        case "div" | "rem" | "shr":
            return left
        case "shl":
            return left << right if right < I32.bits else None
        case _:
            return 2 * max(left, right) + 1


def _counter(loop: For, found: Statics) -> None:
    if loop.unroll:
        found.counters.add(loop.counter.id)
    ends = [abs(end.value) for end in (loop.start, loop.stop) if isinstance(end, Literal)]
    if len(ends) == 2:
        found.limits[loop.counter.id] = int(max(ends))
    if found.is_nonnegative(loop.start):
        found.nonnegative.add(loop.counter.id)


def _is_static(let: Let, found: Statics) -> bool:
    operation = let.operation
    match operation:
        case Copy():
            return found.holds(operation.operand)
        case Unary():
            return _is_exact(operation.operand) and found.holds(operation.operand)
        case Binary() | Compare():
            both = (operation.left, operation.right)
            return all(map(_is_exact, both)) and all(map(found.holds, both)) and _is_plain(operation, found)
        case Cast():
            return found.holds(operation.operand) and only_widens(_element(operation.operand), _element(let.results[0]))
        case Call():
            record = find(operation.intrinsic)
            return record is not None and record.is_known
        case Offset() | ExpandDims() | Apply():
            return False
        case _:
            assert_never(operation)


def _is_exact(operand: Operand) -> bool:
    """Whether Python computes with such numbers as the language does, but for what would overflow."""
    return isinstance(operand.type, TensorType) and operand.type.element in EXACT and not operand.type.shape


def _is_plain(operation: Binary | Compare, found: Statics) -> bool:
    """Whether Python can compute it: shift counts do not wrap. (Quotients do not round down: they have helpers.)"""
    match operation.operator:
        case "shl" | "shr":
            count, element = operation.right, _element(operation.left)
            return isinstance(count, Literal) and isinstance(element, DType) and 0 <= count.value < element.bits
        case _:
            return True


def _element(operand: Operand) -> Element | None:
    return operand.type.element if isinstance(operand.type, TensorType) else None


def only_widens(source: Element | None, target: Element | None) -> bool:
    """Whether a cast leaves a Python number as it is: to the same type, or between integers without loss."""
    if not isinstance(source, DType) or not isinstance(target, DType):
        return False
    if not is_integer(source) or not is_integer(target):
        return source == target
    return target.minimum <= source.minimum and source.maximum <= target.maximum


def _is_nonnegative(operation: Operation, found: Statics) -> bool:
    match operation:
        case Copy() | Cast():
            return found.is_nonnegative(operation.operand)
        case Binary():
            both = found.is_nonnegative(operation.left) and found.is_nonnegative(operation.right)
            return both and operation.operator != "sub"
        case Unary() | Compare() | Offset() | ExpandDims() | Call() | Apply():
            return False
        case _:
            assert_never(operation)


def _taken_over(statements: Sequence[Statement]) -> Iterator[Operand]:
    """The operands that become the variables of loops and branches."""
    for statement in statements:
        if isinstance(statement, For | While):
            yield from (c.initial for c in statement.carried)
            yield from statement.body.yields
        elif isinstance(statement, If):
            yield from statement.then.yields
            yield from statement.otherwise.yields


def _extent_names(contents: Contents) -> Iterator[str]:
    """The constants that occur in shapes: Triton has no axis of extent 0."""
    body = contents.body
    shapes: set[Shape] = {(r.extent,) for r in body.requirements} if isinstance(body, Kernel) else set()
    for value in contents.values:
        if isinstance(value.type, TensorType):
            shapes.add(value.type.shape)
        elif isinstance(value.type, DescriptorType):
            shapes.add(value.type.block)
    for shape in shapes:
        for extent in shape:
            yield from _names(extent)


def _names(extent: Extent) -> Iterator[str]:
    """The constant that is the extent itself, or a factor of it."""
    if len(extent.terms) == 1:
        yield from (a for a in extent.terms[0][0] if not isinstance(a, Quotient))
