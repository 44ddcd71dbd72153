"""What masks say: a kernel goes in; for each value a number that equal values share, and for each mask its conditions.

A value is seen as a *view*: the number of what it is made of and the positions, counted from the last axis, along which
that lies. Adding axes of extent 1 and broadcasting change positions only, so `(a < n)[(.., None)]` and
`a[(.., None)] < n` are one view. A mask is a conjunction of *conditions*: comparisons or other flags that hold or not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeAlias, assert_never

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
    Return,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.ir.walk import operands_of
from teenyc.types import BOOL, ONE, Shape, TensorType, is_integer

View: TypeAlias = "tuple[int, tuple[int, ...]]"
"""A number, and for each axis of what it stands for the position where it lies: -1 is the last axis."""

Condition: TypeAlias = "tuple[bool, int, tuple[int, ...]]"
"""Whether a view of flags holds or does not."""

Conditions: TypeAlias = "frozenset[Condition]"
ALWAYS: Conditions = frozenset()

MOST = 512
"""A mask of more conditions than this is taken as a single one, so that long chains cost no more than their length."""


def masks(kernel: Kernel) -> Masks:
    """The views and conditions of every value of a kernel."""
    found = Masks()
    for parameter in kernel.parameters:
        found.leaf(parameter.value, ())
    found.block(kernel.body, ())
    return found


def shape_of(operand: Operand) -> Shape:
    """The shape of an operand; none for what is no tensor."""
    return operand.type.shape if isinstance(operand.type, TensorType) else ()


def moved(positions: Iterable[int], axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Positions in the result of an `ExpandDims`, whose rank is `rank`."""
    kept = [n for n in range(rank) if n not in axes]
    return tuple(kept[len(kept) + p] - rank for p in positions)


Loops: TypeAlias = "tuple[int, ...]"


class Masks:
    """Views of values by id; for each number its conditions when it holds and when it does not, and where it varies."""

    def __init__(self) -> None:
        self.views: dict[int, View] = {}
        self.numbers: dict[Hashable, int] = {}
        self.holds: dict[tuple[int, bool], Conditions] = {}
        self.loops: dict[int, frozenset[int]] = {}
        self.constants: dict[int, str] = {}
        self.placed: dict[tuple[int, bool, tuple[int, ...]], Conditions] = {}

    def conditions(self, operand: Operand, *, holds: bool = True) -> Conditions:
        """What is true in each lane where a flag holds, or does not."""
        number, positions = self.view(operand)
        key = (number, holds, positions)
        if key not in self.placed:
            own = self.holds.get((number, holds), frozenset({(holds, number, _own(positions))}))
            self.placed[key] = _placed(own, positions)
        return self.placed[key]

    def varies(self, condition: Condition, loop: int) -> bool:
        """Whether a condition may differ between the iterations of a loop."""
        return loop in self.loops.get(condition[1], ())

    def stale(self, loop: int) -> Condition:
        """A condition of an earlier iteration, which nothing implies."""
        return (True, self.number(("stale", loop), frozenset()), ())

    def view(self, operand: Operand) -> View:
        match operand:
            case Value():
                if operand.id not in self.views:
                    self.leaf(operand, ())
                return self.views[operand.id]
            case Literal():
                number = self.number(("literal", type(operand.value), operand.value), frozenset())
                if type(operand.value) is bool:
                    self.holds[number, operand.value] = ALWAYS
                return number, ()
            case Constant():
                return self.constant(operand.name), ()
            case _:
                assert_never(operand)

    def constant(self, name: str) -> int:
        """The number of a constant parameter."""
        number = self.number(("constant", name), frozenset())
        self.constants[number] = name
        return number

    def number(self, key: Hashable, loops: frozenset[int]) -> int:
        """The number of a key, which stands for all values of that key."""
        found = self.numbers.setdefault(key, len(self.numbers))
        self.loops.setdefault(found, loops)
        return found

    def leaf(self, value: Value, loops: Loops) -> None:
        """A value of which nothing is known; it may differ between the iterations of the loops around it."""
        number = self.number(("value", value.id), frozenset(loops))
        shape = shape_of(value)
        self.views[value.id] = number, tuple(n - len(shape) for n, extent in enumerate(shape) if extent != ONE)

    # ---- statements -------------------------------------------------------------------------------------------------

    def block(self, block: Block, loops: Loops) -> None:
        for statement in block.statements:
            self.statement(statement, loops)

    def statement(self, statement: Statement, loops: Loops) -> None:
        match statement:
            case Let():
                self.let(statement, loops)
            case For() | While():
                self.loop(statement, loops)
            case If():
                self.block(statement.then, loops)
                self.block(statement.otherwise, loops)
                for result in statement.results:
                    self.leaf(result, loops)
            case Return():
                pass
            case _:
                assert_never(statement)

    def loop(self, loop: For | While, loops: Loops) -> None:
        inner = (*loops, id(loop))
        if isinstance(loop, For):
            self.leaf(loop.counter, inner)
        copies = _copies(loop.body)
        for carried, following in zip(loop.carried, loop.body.yields, strict=True):
            before, origin = self.view(carried.initial), _origin(following, copies)
            if origin == carried.inside.id or self.views.get(origin) == before:  # it stays what it was
                self.views[carried.inside.id] = self.views[carried.result.id] = before
                continue
            self.leaf(carried.inside, inner)
            self.leaf(carried.result, loops)
        if isinstance(loop, While):
            self.block(loop.condition, inner)
        self.block(loop.body, inner)

    def let(self, let: Let, loops: Loops) -> None:
        operation = let.operation
        if isinstance(operation, Call) and _is_pure(operation):
            for index, value in enumerate(let.results):
                self.call(value, operation, index)
        elif isinstance(operation, Call | Apply):
            for value in let.results:
                self.leaf(value, loops)
        else:
            self.single(let.results[0], operation)

    def single(self, value: Value, operation: Copy | Unary | Binary | Compare | Cast | Offset | ExpandDims) -> None:
        match operation:
            case Copy():
                self.views[value.id] = self.view(operation.operand)
            case ExpandDims():
                number, positions = self.view(operation.operand)
                self.views[value.id] = number, moved(positions, operation.axes, len(shape_of(value)))
            case Unary():
                self.lanewise(value, operation.operator, (operation.operand,))
                if operation.operator == "not" and _is_flag(value):
                    self.negated(value, operation.operand)
            case Binary():
                self.lanewise(value, operation.operator, (operation.left, operation.right))
                if operation.operator in ("and", "or") and _is_flag(value):
                    self.joined(value, operation)
            case Compare():
                self.compared(value, operation)
            case Cast():
                self.lanewise(value, ("cast", _element(value)), (operation.operand,))
            case Offset():
                self.lanewise(value, "offset", (operation.pointer, operation.offset))
            case _:
                assert_never(operation)

    # ---- operations -------------------------------------------------------------------------------------------------

    def lanewise(self, value: Value, key: Hashable, operands: tuple[Operand, ...]) -> None:
        """An operation that makes each lane of the lanes of its operands."""
        views = tuple(self.view(o) for o in operands)
        used = tuple(sorted({p for _, positions in views for p in positions}))
        place = {p: n for n, p in enumerate(used)}
        parts = tuple((number, tuple(place[p] for p in positions)) for number, positions in views)
        loops = frozenset[int]().union(*(self.loops[number] for number, _ in parts))
        self.views[value.id] = self.number((key, parts), loops), used

    def negated(self, value: Value, operand: Operand) -> None:
        number, positions = self.views[value.id]
        for holds in (True, False):
            self.note(number, holds, _unplaced(self.conditions(operand, holds=not holds), positions))

    def joined(self, value: Value, binary: Binary) -> None:
        """`a & b` holds where both do; `a | b` does not where neither does."""
        number, positions = self.views[value.id]
        holds = binary.operator == "and"
        both = self.conditions(binary.left, holds=holds) | self.conditions(binary.right, holds=holds)
        self.note(number, holds, _unplaced(both, positions))

    def note(self, number: int, holds: bool, conditions: Conditions) -> None:
        if len(conditions) <= MOST:
            self.holds[number, holds] = conditions

    def compared(self, value: Value, compare: Compare) -> None:
        """Comparisons in few forms: `a > b` is `b < a`; of integers, `a >= b` is `!(a < b)`."""
        operator, left, right = compare.operator, compare.left, compare.right
        if operator in ("gt", "ge"):
            operator, left, right = {"gt": "lt", "ge": "le"}[operator], right, left
        is_exact = isinstance(left.type, TensorType) and is_integer(left.type.element)
        if operator == "le" and is_exact:
            operator, left, right = "!lt", right, left
        elif operator == "ne":
            operator = "!eq"
        self.lanewise(value, operator.removeprefix("!"), (left, right))
        if operator.startswith("!"):
            number, positions = self.views[value.id]
            self.views[value.id] = self.number(("not", number), self.loops[number]), positions
            opposite = self.views[value.id][0]
            for holds in (True, False):
                self.holds[opposite, holds] = frozenset({(not holds, number, tuple(range(len(positions))))})

    def call(self, value: Value, call: Call, index: int) -> None:
        from teenyc.ir.lanes import Lanes, lanes_of, order_of

        key = (call.intrinsic, index, call.attributes)
        match lanes_of(call.intrinsic):
            case Lanes.SAME:
                self.lanewise(value, (key, _element(value)), operands_of(call))
            case Lanes.STRETCHED:
                self.views[value.id] = self.view(call.operands[index][1])
            case Lanes.PERMUTED:
                order, rank = order_of(call, len(shape_of(value))), len(shape_of(value))
                number, positions = self.view(call.operands[0][1])
                self.views[value.id] = number, tuple(order.index(p + rank) - rank for p in positions)
            case Lanes.MOVED if len(call.operands) == 1:
                self.shuffled(value, call, index)
            case Lanes.MOVED | Lanes.MIXED:
                self.composed(value, key, operands_of(call))
            case Lanes.SHAPE:
                self.composed(value, key, ())

    def shuffled(self, value: Value, call: Call, index: int) -> None:
        """An operation that gives the lanes of one operand other places, and so does with each of its conditions."""
        ((_, operand),) = call.operands
        self.composed(value, (call.intrinsic, index, call.attributes), (operand,))
        if not _is_flag(value):
            return
        number, positions = self.views[value.id]
        for holds in (True, False):
            inner = self.conditions(operand, holds=holds)
            self.note(number, holds, _unplaced(self.shuffle(inner, call, value, index), positions))

    def shuffle(self, conditions: Iterable[Condition], call: Call, value: Value, index: int) -> Conditions:
        """Conditions on the lanes of an operand of a shuffle, as conditions on the lanes of its result `value`."""
        shape = shape_of(value)
        everywhere = tuple(n - len(shape) for n, extent in enumerate(shape) if extent != ONE)
        sources = tuple(shape_of(operand) for _, operand in call.operands)
        found = set()
        for holds, number, positions in conditions:
            if not positions:
                found.add((holds, number, positions))
                continue
            key = ("shuffle", call.intrinsic, index, call.attributes, sources, shape, number, positions)
            found.add((holds, self.number(key, self.loops[number]), everywhere))
        return frozenset(found)

    def composed(self, value: Value, key: Hashable, operands: tuple[Operand, ...]) -> None:
        """A pure operation on whole operands."""
        views = tuple((self.view(o), shape_of(o)) for o in operands)
        loops = frozenset[int]().union(*(self.loops[number] for (number, _), _ in views))
        shape = shape_of(value)
        number = self.number(("whole", key, views, value.type), loops)
        self.views[value.id] = number, tuple(n - len(shape) for n, extent in enumerate(shape) if extent != ONE)


def _own(positions: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(range(len(positions)))


def _placed(conditions: Conditions, positions: tuple[int, ...]) -> Conditions:
    """Conditions over the axes of a number, as conditions at the positions of a view."""
    return frozenset((holds, number, tuple(positions[a] for a in axes)) for holds, number, axes in conditions)


def _unplaced(conditions: Conditions, positions: tuple[int, ...]) -> Conditions:
    place = {p: n for n, p in enumerate(positions)}
    return frozenset((holds, number, tuple(place[p] for p in axes)) for holds, number, axes in conditions)


def _is_flag(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.element == BOOL


def _is_pure(call: Call) -> bool:
    from teenyc.intrinsics import TABLE

    record = TABLE.get(call.intrinsic)
    return record is not None and record.is_pure


def _element(value: Value) -> Hashable:
    return value.type.element if isinstance(value.type, TensorType) else value.type


def _copies(block: Block) -> dict[int, Operand]:
    """What the copies in a block are copies of, by id."""
    lets = (s for s in block.statements if isinstance(s, Let) and isinstance(s.operation, Copy))
    return {let.results[0].id: let.operation.operand for let in lets if isinstance(let.operation, Copy)}


def _origin(operand: Operand, copies: dict[int, Operand]) -> int:
    """The id of the value that an operand is, under whatever names; 0 for what is no value."""
    while isinstance(operand, Value) and operand.id in copies:
        operand = copies[operand.id]
    return operand.id if isinstance(operand, Value) else 0
