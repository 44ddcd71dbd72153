"""Runs the body of a kernel for many programs at once: statements in, changes of memory out.

Every value is an array whose first axis is that of the programs, of extent 1 where the value is the same in all.
Control flow that differs between programs runs under a mask: both branches of an `if`, and a loop until no program is
in it. What a masked-off program computes is never used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

import numpy as np

from teenyc.evaluate.arithmetic import COMPARE, UNARY, binary, together, where
from teenyc.evaluate.marks import Marked, marked
from teenyc.evaluate.memory import Memory
from teenyc.evaluate.numbers import Array, converted, is_narrow, rounded
from teenyc.evaluate.scope import ADDRESS, Meaning, Scope, solved
from teenyc.evaluate.trips import Standstill, range_of, trips
from teenyc.evaluate.views import BlockView
from teenyc.evaluate.watch import Endless, FaultError, Place
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
    Function,
    If,
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
from teenyc.record import record
from teenyc.source import Span
from teenyc.types import DType, Extent, TensorType, is_integer

Held: TypeAlias = "Array | BlockView | Marked"
"""What a value is: an array, which a watcher may have marked, or a view of memory for a descriptor."""

Mask: TypeAlias = "Array | None"
"""The programs that take part, a bool for each; None for all."""

NOBODY = np.zeros(1, bool)
"""The mask where every program has returned; known by identity."""

WIDE = np.dtype(np.int64)


@record
class World:
    """What all programs of a launch share.

    `exact` are the ids of integers that do not wrap, since they reach an address. `say` takes what programs print.
    `used` are, for a curious watcher, the ids of values that something is made of.
    """

    functions: Mapping[str, Function]
    memory: Memory
    meaning: Meaning
    exact: frozenset[int]
    grid: tuple[int, int, int]
    say: Callable[[str], None]
    used: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Frame:
    """One body for some programs: the indices of each in the grid, one row for one, and what values are by id."""

    world: World
    scope: Scope
    programs: Array
    values: dict[int, Held] = field(default_factory=dict)
    returned: tuple[Held, ...] = ()
    dtypes: dict[int, np.dtype[Any]] = field(default_factory=dict)
    literals: dict[int, Array] = field(default_factory=dict)

    # ---- operands and results ---------------------------------------------------------------------------------------

    def of(self, operand: Operand) -> Held:
        """What an operand is."""
        match operand:
            case Value():
                return self.values[operand.id]
            case Literal():
                known = self.literals.get(id(operand))
                if known is None:
                    known = converted(np.array([operand.value]), self.scope.held(operand.type))
                    self.literals[id(operand)] = known
                return known
            case Constant():
                return np.array([self.scope.constants[operand.name]], self.scope.held(operand.type))
            case _:
                assert_never(operand)

    def array(self, operand: Operand) -> Array:
        """What an operand is that is no descriptor."""
        return numbers_of(self.of(operand))

    def narrow(self, operand: Operand) -> Array:
        """An operand in its own type, also where it is an integer that does not wrap."""
        return converted(self.array(operand), self.scope.held(operand.type))

    def dtype(self, value: Value) -> np.dtype[Any]:
        """The dtype in which a value is held."""
        known = self.dtypes.get(value.id)
        if known is None:
            known = self.scope.held(value.type)
            if value.id in self.world.exact and _is_narrow_integer(value):
                known = WIDE
            self.dtypes[value.id] = known
        return known

    def set(self, value: Value, held: Held) -> None:
        if isinstance(held, Marked):
            held = Marked(converted(held.numbers, self.dtype(value)), held.marks)
        self.values[value.id] = converted(held, self.dtype(value)) if isinstance(held, np.ndarray) else held

    def place(self, span: Span, active: Mask) -> Place:
        """Where the active programs are; for reports."""
        return Place(span, self.programs, active)

    def with_rounded(self, values: Sequence[Value], element: DType) -> Frame:
        """This frame with values rounded to a narrow float."""
        near = {v.id: rounded(self.array(v), element) for v in values}
        return Frame(self.world, self.scope, self.programs, {**self.values, **near})

    def run(self, body: Block) -> dict[int, Held]:
        """Runs the body of a kernel; gives all values, whose memory is used again if the next slab takes them over."""
        self.block(body, None)
        return self.values

    # ---- blocks -----------------------------------------------------------------------------------------------------

    def block(self, block: Block, active: Mask) -> Mask:
        """Runs statements for the active programs; gives those that have not returned."""
        for statement in block.statements:
            active = self.statement(statement, active)
            if active is NOBODY:
                break
        return active

    def statement(self, statement: Statement, active: Mask) -> Mask:
        match statement:
            case Let():
                self.let(statement, active)
                return active
            case If():
                return self.branch(statement, active)
            case For():
                self.loop_for(statement, active)
                return active
            case While():
                self.loop_while(statement, active)
                return active
            case Return():
                values = tuple(map(self.of, statement.values))
                is_last = active is not None and bool(self.returned)
                self.returned = _chosen(active, values, self.returned) if is_last else values  # type: ignore[arg-type]
                return NOBODY
            case _:
                assert_never(statement)

    def branch(self, statement: If, active: Mask) -> Mask:
        condition = self.decided(statement.condition, statement.span, active)
        if len(condition) == 1:
            return self.one_branch(statement, statement.then if condition[0] else statement.otherwise, active)
        then = condition if active is None else condition & active
        otherwise = ~condition if active is None else ~condition & active
        if not otherwise.any():
            return self.one_branch(statement, statement.then, active)
        if not then.any():
            return self.one_branch(statement, statement.otherwise, active)
        left = self.block(statement.then, then)
        chosen = () if left is NOBODY else tuple(map(self.of, statement.then.yields))
        right = self.block(statement.otherwise, otherwise)
        others = () if right is NOBODY else tuple(map(self.of, statement.otherwise.yields))
        results = _chosen(condition, chosen, others) if chosen and others else chosen or others
        if left is not NOBODY or right is not NOBODY:
            for value, held in zip(statement.results, results, strict=True):
                self.set(value, held)
        if left is then and right is otherwise:
            return active
        return _either(left, right)

    def decided(self, operand: Operand, span: Span, active: Mask) -> Array:
        """What the way of a program depends on."""
        held = self.of(operand)
        if isinstance(held, Marked):
            self.world.memory.watcher.decided(held, self.place(span, active))
        return numbers_of(held)

    def one_branch(self, statement: If, block: Block, active: Mask) -> Mask:
        """A branch that all active programs take."""
        after = self.block(block, active)
        if after is not NOBODY:
            for value, operand in zip(statement.results, block.yields, strict=True):
                self.set(value, self.of(operand))
        return after

    # ---- loops ------------------------------------------------------------------------------------------------------

    def loop_for(self, loop: For, active: Mask) -> None:
        start, stop, step = (self.decided(o, loop.span, active) for o in (loop.start, loop.stop, loop.step))
        now = tuple(self.of(c.initial) for c in loop.carried)
        dtype = self.dtype(loop.counter)
        if len(start) == len(stop) == len(step) == 1:
            for number in range_of(int(start[0]), int(stop[0]), int(step[0]), loop.inclusive):
                self.values[loop.counter.id] = np.array([number], dtype)
                now = self.iteration(loop, now, active)
        else:
            counts = trips(start, stop, step, loop.inclusive)
            counts = counts if active is None else np.where(active, counts, 0)
            for count in range(int(counts.max())):
                is_in = counts > count
                alive = active if is_in.all() else is_in
                self.values[loop.counter.id] = (start + count * step.astype(object)).astype(dtype)
                now = self.iteration(loop, now, alive)
        self.leave(loop, now)

    def loop_while(self, loop: While, active: Mask) -> None:
        now = tuple(self.of(c.initial) for c in loop.carried)
        alive, standstill = active, Standstill(self.world.memory)
        while True:
            self.enter(loop, now)
            self.block(loop.condition, alive)
            condition = self.decided(loop.condition.yields[0], loop.span, alive)
            if len(condition) == 1:
                if not condition[0]:
                    break
            elif not condition.all():
                alive = condition if alive is None else condition & alive
                if not alive.any():
                    break
            before, now = now, self.iteration(loop, now, alive)
            if standstill.is_reached(before, now):
                raise FaultError(Endless(self.place(loop.span, alive)))
        self.leave(loop, now)

    def iteration(self, loop: For | While, now: Sequence[Held], alive: Mask) -> tuple[Held, ...]:
        """One pass through the body; what is carried on, which stays as it is for programs that have left."""
        self.enter(loop, now)
        self.block(loop.body, alive)
        following = tuple(map(self.of, loop.body.yields))
        return following if alive is None else _chosen(alive, following, now)

    def enter(self, loop: For | While, now: Sequence[Held]) -> None:
        for carried, held in zip(loop.carried, now, strict=True):
            self.set(carried.inside, held)

    def leave(self, loop: For | While, now: Sequence[Held]) -> None:
        for carried, held in zip(loop.carried, now, strict=True):
            self.set(carried.result, held)

    # ---- operations -------------------------------------------------------------------------------------------------

    def let(self, let: Let, active: Mask) -> None:
        results = self.results(let, active)
        for value, held in zip(let.results, results, strict=True):
            self.set(value, held)
        self.world.memory.watcher.computed(self, let, results, active)

    def results(self, let: Let, active: Mask) -> tuple[Held, ...]:
        operation = let.operation
        match operation:
            case Copy():
                return (self.of(operation.operand),)
            case Unary():
                (operand,) = self.meeting(let, operation.operand)
                return (UNARY[operation.operator](operand),)
            case Binary():
                return (self.binary(let, operation),)
            case Compare():
                return (COMPARE[operation.operator](*self.meeting(let, operation.left, operation.right)),)
            case Cast():
                return (self.cast(let.results[0], operation),)
            case Offset():
                pointer, offset = together([self.array(operation.pointer), self.array(operation.offset)])
                return (pointer + converted(offset, ADDRESS),)
            case ExpandDims():
                return (self.expanded(operation),)
            case Call():
                from teenyc.evaluate.calls import call

                return call(self, let, operation, active)
            case Apply():
                return self.apply(operation, active)
            case _:
                assert_never(operation)

    def meeting(self, let: Let, *operands: Operand) -> list[Array]:
        """Operands of one type, in 64 bits where one of them, or the result, is an integer that does not wrap."""
        arrays = together([self.array(o) for o in operands])
        if arrays[0].dtype.kind in "iu":
            is_wide = self.dtype(let.results[0]) == WIDE or any(a.dtype == WIDE for a in arrays)
            return [converted(a, WIDE) for a in arrays] if is_wide else arrays
        return arrays

    def binary(self, let: Let, operation: Binary) -> Array:
        if operation.operator not in ("shl", "shr"):
            return binary(operation.operator, *self.meeting(let, operation.left, operation.right))
        width = self.scope.held(let.results[0].type).itemsize * 8
        (left,) = self.meeting(let, operation.left)
        left, count = together([left, self.array(operation.right) & (width - 1)])
        return binary(operation.operator, left, count)

    def cast(self, result: Value, operation: Cast) -> Array:
        assert isinstance(result.type, TensorType), "a cast is between numbers"
        numbers = self.array(operation.operand)
        element = self.scope.dtype(result.type.element)
        if not is_narrow(element):
            return converted(numbers, self.scope.held(result.type))
        rounds = isinstance(result.type.element, DType) and not operation.implicit
        if rounds or not self.world.meaning.floats_are_held:
            return rounded(numbers, element)
        return converted(numbers, self.scope.held(result.type))

    def expanded(self, operation: ExpandDims) -> Array:
        array = self.array(operation.operand)
        return np.expand_dims(array, tuple(axis + 1 for axis in operation.axes))

    # ---- device functions -------------------------------------------------------------------------------------------

    def apply(self, operation: Apply, active: Mask) -> tuple[Held, ...]:
        function = self.world.functions[operation.function]
        elements = {
            v.name: self.scope.dtype(e) for v, e in zip(function.type_variables, operation.elements, strict=True)
        }
        constants = {
            n: self.scope.extent(o) if isinstance(o, Extent) else int(self.array(o).reshape(-1)[0])
            for n, o in operation.constants
        }
        given = tuple(map(self.of, operation.operands))
        inner = Frame(self.world, called_with(function, given, Scope(elements, constants)), self.programs)
        return inner.called(function, given, active)

    def called(self, function: Function, given: Sequence[Held], active: Mask) -> tuple[Held, ...]:
        """What a device function returns, in this frame, which is its own."""
        for parameter, held in zip(function.parameters, given, strict=True):
            self.set(parameter.value, held)
        self.block(function.body, active)
        return self.returned


def numbers_of(held: Held) -> Array:
    """The array that a value is that is no descriptor."""
    if isinstance(held, Marked):
        return held.numbers
    assert not isinstance(held, BlockView), "a descriptor is no number"
    return held


def _either(left: Mask, right: Mask) -> Mask:
    """The programs of two branches together."""
    if left is NOBODY or left is None:
        return right
    return left if right is NOBODY or right is None else left | right


def called_with(function: Function, given: Sequence[Held], scope: Scope) -> Scope:
    """The scope of a call with what only the shapes of arguments say: extents over constants of the caller."""
    constants = dict(scope.constants)
    for parameter, held in zip(function.parameters, given, strict=True):
        if isinstance(held, BlockView) or not isinstance(parameter.value.type, TensorType):
            continue
        for extent, size in zip(parameter.value.type.shape, numbers_of(held).shape[1:], strict=True):
            constants |= solved(extent, size, constants)
    return Scope(scope.elements, constants)


def _is_narrow_integer(value: Value) -> bool:
    element = value.type.element if isinstance(value.type, TensorType) else None
    return isinstance(element, DType) and is_integer(element) and element.bits < 64


def _chosen(mask: Array, chosen: Sequence[Held], others: Sequence[Held]) -> tuple[Held, ...]:
    """For each program the values of one of two lists."""
    return tuple(_one(mask, a, b) for a, b in zip(chosen, others, strict=True))


def _one(mask: Array, chosen: Held, other: Held) -> Held:
    if isinstance(chosen, BlockView):
        assert isinstance(other, BlockView), "values of one type"
        return chosen.chosen(mask, other)
    assert not isinstance(other, BlockView), "values of one type"
    if isinstance(chosen, Marked) or isinstance(other, Marked):
        both = (held if isinstance(held, Marked) else Marked(held, {}) for held in (chosen, other))
        mine, others = both
        found = mine.chosen(mask, others)
        return marked(found.numbers, found.marks)
    return where(mask, chosen, other)
