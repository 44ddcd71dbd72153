"""Straight control: a kernel whose branches differ within a block goes in; one comes out in which they are selections.

Both sides of such an `if` are computed, and what it gives is selected. Stores in it, and behind a `return` in it, take
the condition into their mask. Loads note it beside the kernel: what they give where it does not hold is not used.
A loop whose bounds differ from row to row walks over those of all rows, each row under a condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import assert_never

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.axes import Axes, Axis, AxisInfo
from teenyc.ir.counters import counter_name
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Compare,
    Copy,
    For,
    If,
    Let,
    Literal,
    Operand,
    Operation,
    Return,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.ir.walk import blocks_of, is_same, map_statements, operands_of, results_of, statements_of
from teenyc.record import field, record, replace, state
from teenyc.source import Span
from teenyc.tiling import refusals
from teenyc.tiling.analyses import Analyses
from teenyc.tiling.orders import ordered
from teenyc.tiling.plan import AXES, BlockedAxis
from teenyc.tiling.state import Bounds, RefusedError
from teenyc.types import BOOL, Shape, TensorType, broadcast, is_integer

_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


@record
class Straight:
    """What is known of the kernel, for each load under a condition that condition, and loops' bounds by counter."""

    analyses: Analyses
    guards: Mapping[int, Operand]
    bounds: Mapping[int, Bounds]


def straightened(source: Analyses, blocked: Sequence[BlockedAxis]) -> Straight:
    """The kernel with the branches that differ along blocked axes made selections; one without any is itself."""
    axes_blocked = frozenset(Axis(axis.kind, axis.id) for axis in blocked)
    loops = frozenset(axis.id for axis in blocked if axis.kind == "loop")
    kernel, ids = source.kernel, count(source.last + 1)
    state = _Straightening(source.axes, axes_blocked, loops, ids)
    to: list[Statement] = []
    state.statements(kernel.body, None, to)
    body = map_statements(Block(statements=tuple(to)), state.in_order)
    if is_same(body.statements, kernel.body.statements):
        return Straight(source, state.guards, state.bounds)
    straight = Analyses.of(replace(kernel, body=body))
    if state.selections:
        from teenyc.tiling.conditional import unconditional

        selections = frozenset(state.selections)

        def moved(statement: Statement) -> tuple[Statement, ...]:
            if not isinstance(statement, For) or statement.counter.id not in loops:
                return (statement,)
            return (unconditional(statement, straight.axes, axes_blocked, selections, ids),)

        body = map_statements(straight.kernel.body, moved)
        if body is not straight.kernel.body:
            return Straight(Analyses.of(replace(kernel, body=body)), state.guards, state.bounds)
    return Straight(straight, state.guards, state.bounds)


@record
class _Reached:
    """Under which condition control leaves a block at its end; None where always, with `never` where it returns."""

    condition: Operand | None
    never: bool = False


@state
class _Straightening:
    infos: Mapping[int, AxisInfo]
    blocked: Axes
    loops: frozenset[int]
    ids: Iterator[int]
    selections: set[int] = field(default_factory=set)
    guards: dict[int, Operand] = field(default_factory=dict)
    bounds: dict[int, Bounds] = field(default_factory=dict)
    carried: set[int] = field(default_factory=set)
    compares: dict[int, Compare] = field(default_factory=dict)
    depth: int = 0

    def varies(self, operand: Operand) -> bool:
        """Whether an operand of the source differs within a block."""
        info = self.infos.get(operand.id) if isinstance(operand, Value) else None
        return info is not None and not info.outer.isdisjoint(self.blocked)

    def statements(self, block: Block, taken: Operand | None, to: list[Statement]) -> _Reached:
        reached = _Reached(taken)
        for statement in block.statements:
            reached = self.statement(statement, reached.condition, to)
            if reached.never:
                break
        return reached

    def statement(self, statement: Statement, taken: Operand | None, to: list[Statement]) -> _Reached:
        match statement:
            case Let(operation=operation):
                if isinstance(operation, Compare):
                    self.compares[statement.results[0].id] = operation
                to.append(statement if taken is None else self.let(statement, taken, to))
            case If():
                return self.branch(statement, taken, to)
            case For():
                to.append(self.counted(statement, taken, to))
            case While():
                to.append(self.uncounted(statement, taken))
            case Return():
                to.append(statement)
                return _Reached(None, never=True)
            case _:
                assert_never(statement)
        return _Reached(taken)

    # ---- definitions ------------------------------------------------------------------------------------------------

    def let(self, let: Let, taken: Operand, to: list[Statement]) -> Let:
        """A definition that some lanes do not reach."""
        operation = let.operation
        if isinstance(operation, Call) and TABLE[operation.intrinsic].effects:
            return self.effect(let, operation, taken, to)
        if isinstance(operation, Binary) and operation.operator in ("div", "rem"):
            divisor = operation.right
            if isinstance(divisor, Value) and _is_integer(divisor):
                one = Literal(1, TensorType(_tensor(divisor).element))
                safe = self.made(_where(taken, divisor, one), _tensor(divisor), let.span, to)
                return replace(let, operation=replace(operation, right=safe))
        return let

    def effect(self, let: Let, call: Call, taken: Operand, to: list[Statement]) -> Let:
        record = TABLE[call.intrinsic]
        if call.intrinsic == "load":
            self.guards[let.results[0].id] = taken
            return let
        if record.param("mask") is None or Effect.CONTROL in record.effects:
            raise RefusedError(refusals.no_mask(call.intrinsic, let.span))
        mask = call.operand("mask")
        mask = taken if mask is None else self.both(mask, taken, let.span, to)
        order = {param.name: n for n, param in enumerate(record.params)}
        operands = [(n, o) for n, o in call.operands if n != "mask"] + [("mask", mask)]
        return replace(let, operation=replace(call, operands=tuple(sorted(operands, key=lambda o: order[o[0]]))))

    def made(self, operation: Operation, type: TensorType, span: Span, to: list[Statement]) -> Value:
        value = Value(next(self.ids), type)
        to.append(Let(results=(value,), operation=operation, span=span))
        return value

    def both(self, left: Operand, right: Operand, span: Span, to: list[Statement]) -> Value:
        shape = broadcast(_tensor(left).shape, _tensor(right).shape)
        assert shape is not None, "masks meet"
        return self.made(Binary(operator="and", left=left, right=right), _flags(shape), span, to)

    # ---- branches ---------------------------------------------------------------------------------------------------

    def branch(self, branch: If, taken: Operand | None, to: list[Statement]) -> _Reached:
        if not self.varies(branch.condition) and not self.is_recurrent(branch) and not self.leaves_some(branch):
            return self.kept(branch, taken, to)
        sides: list[tuple[_Reached, Operand]] = []
        first, condition, span = len(to), branch.condition, branch.span
        for block in (branch.then, branch.otherwise):
            own = condition if taken is None else self.both(taken, condition, span, to)
            inner: list[Statement] = []
            self.depth += 1
            sides.append((self.statements(block, own, inner), own))
            self.depth -= 1
            to.extend(s for s in inner if not isinstance(s, Return))
            if block is branch.then:
                condition = self.made(self.turned(branch.condition), _flags(()), span, to)
        if branch.comments and not to[first].comments:
            to[first] = replace(to[first], comments=branch.comments)
        for n, result in enumerate(branch.results):
            self.select(branch, n, result, sides, to)
        return self.after(branch, taken, sides, to)

    def turned(self, condition: Operand) -> Operation:
        """The condition that another does not hold: of integers, the opposite comparison."""
        compare = self.compares.get(condition.id) if isinstance(condition, Value) else None
        if compare is None or not _is_integer(compare.left):
            return Unary(operator="not", operand=condition)
        return replace(compare, operator=_OPPOSITE[compare.operator])

    def select(
        self, branch: If, n: int, result: Value, sides: list[tuple[_Reached, Operand]], to: list[Statement]
    ) -> None:
        """One result of a branch; a side that returns gives none."""
        assert isinstance(result.type, TensorType), "descriptors are lowered before"
        blocks = (branch.then, branch.otherwise)
        given = [block.yields[n] for (side, _), block in zip(sides, blocks, strict=True) if not side.never]
        if not given:
            return
        if len(given) == 2 and given[0] != given[1]:
            operation: Operation = _where(branch.condition, given[0], given[1])
            self.selections.add(result.id)
        else:
            operation = Copy(operand=given[0])
        to.append(Let(results=(result,), operation=operation, span=branch.span))

    def after(
        self, branch: If, taken: Operand | None, sides: list[tuple[_Reached, Operand]], to: list[Statement]
    ) -> _Reached:
        """Who is there behind a branch: all who came, but for those who returned in it."""
        if all(not side.never and side.condition == own for side, own in sides):
            return _Reached(taken)
        left = [side.condition for side, _ in sides if not side.never and side.condition is not None]
        if len(left) == 2:
            return _Reached(self.made(Binary(operator="or", left=left[0], right=left[1]), _flags(()), branch.span, to))
        return _Reached(left[0]) if left else _Reached(None, never=True)

    def kept(self, branch: If, taken: Operand | None, to: list[Statement]) -> _Reached:
        """A branch that all lanes of a block take alike."""
        blocks: list[Block] = []
        sides: list[_Reached] = []
        for block in (branch.then, branch.otherwise):
            inner: list[Statement] = []
            side = self.statements(block, taken, inner)
            if not side.never and side.condition != taken:
                raise RefusedError(refusals.return_inside(branch.span))
            sides.append(side)
            blocks.append(Block(statements=tuple(inner), yields=block.yields))
        old = (branch.then, branch.otherwise)
        if not all(is_same(new.statements, was.statements) for new, was in zip(blocks, old, strict=True)):
            branch = replace(branch, then=blocks[0], otherwise=blocks[1])
        to.append(branch)
        return _Reached(taken, never=all(side.never for side in sides))

    def is_recurrent(self, branch: If) -> bool:
        """Whether a branch is a step of what a blocked loop carries."""
        return any(not self.carried.isdisjoint(_ids(s)) for s in (branch, *_inside(branch)))

    def leaves_some(self, branch: If) -> bool:
        """Whether a branch has a return, while other lanes, or further steps of a walk, have more to do."""
        is_walked = any(axis.kind == "program" and axis.id >= AXES for axis in self.blocked)
        return (bool(self.depth) or is_walked) and any(isinstance(s, Return) for s in _inside(branch))

    # ---- loops ------------------------------------------------------------------------------------------------------

    def in_order(self, statement: Statement) -> tuple[Statement, ...]:
        """A loop that is blocked with its extrema and flags as such."""
        if not isinstance(statement, For) or statement.counter.id not in self.loops:
            return (statement,)
        found = ordered(statement, self.ids)
        self.selections |= found.choices
        return (found.loop,)

    def counted(self, loop: For, taken: Operand | None, to: list[Statement]) -> Statement:
        if self.varies(loop.step):
            raise RefusedError(refusals.step_by_row(counter_name(loop), loop.span))
        valid: Value | None = None
        start = loop.start
        inner: list[Statement] = []
        if self.varies(start) or self.varies(loop.stop):
            valid = self.within(loop, inner)
            start = Literal(0, TensorType(_tensor(loop.counter).element)) if self.varies(start) else start
        own: Operand | None = valid if valid is not None else taken
        if valid is not None and taken is not None:
            own = self.both(taken, valid, loop.span, inner)
        outer = set(self.carried)
        if loop.counter.id in self.loops:
            self.carry(loop)
        self.statements(loop.body, own, inner)
        self.carried = outer
        yields = loop.body.yields
        if valid is not None:
            yields = tuple(
                self.chosen(valid, y, c.inside, loop.span, inner) for y, c in zip(yields, loop.carried, strict=True)
            )
        if start is loop.start and yields is loop.body.yields and is_same(inner, loop.body.statements):
            return loop
        return replace(loop, start=start, body=Block(statements=tuple(inner), yields=yields))

    def within(self, loop: For, to: list[Statement]) -> Value:
        """The condition that an iteration is one of a row's own."""

        def flag(operator: str, bound: Operand) -> Value:
            compare = Compare(operator=operator, left=loop.counter, right=bound)
            return self.made(compare, _flags(()), loop.span, to)

        after = flag("ge", loop.start) if self.varies(loop.start) else None
        is_blocked = loop.counter.id in self.loops
        before = flag("lt", loop.stop) if self.varies(loop.stop) or is_blocked else None
        if after is not None and not (isinstance(loop.step, Literal) and loop.step.value == 1):
            raise RefusedError(refusals.start_by_row(counter_name(loop), loop.span))
        valid = after or before
        if after is not None and before is not None:
            valid = self.both(after, before, loop.span, to)
        assert valid is not None, "a bound differs"
        self.bounds[loop.counter.id] = Bounds(loop.counter, loop.start, loop.stop, valid, after, before)
        return valid

    def chosen(self, valid: Value, following: Operand, inside: Value, span: Span, to: list[Statement]) -> Operand:
        """The next value of what a loop carries: as it was where an iteration is not a row's own."""
        if following == inside:
            return following
        assert isinstance(inside.type, TensorType), "descriptors are lowered before"
        chosen = self.made(_where(valid, following, inside), inside.type, span, to)
        self.selections.add(chosen.id)
        return chosen

    def carry(self, loop: For) -> None:
        """Notes all that depends on what a loop carries; a branch stands before what is made in it, so in turns."""
        self.carried |= {c.inside.id for c in loop.carried}
        known = -1
        while known < len(self.carried):
            known = len(self.carried)
            for _, statement in statements_of(loop.body):
                if not self.carried.isdisjoint(_ids(statement)):
                    self.carried |= {v.id for v in results_of(statement)}
                    if isinstance(statement, For | While):
                        self.carried |= {c.inside.id for c in statement.carried}

    def uncounted(self, loop: While, taken: Operand | None) -> Statement:
        if taken is not None or any(self.varies(y) for y in loop.condition.yields):
            raise RefusedError(refusals.unequal_while(loop.span))
        condition: list[Statement] = []
        body: list[Statement] = []
        self.statements(loop.condition, None, condition)
        self.statements(loop.body, None, body)
        if is_same(condition, loop.condition.statements) and is_same(body, loop.body.statements):
            return loop
        return replace(
            loop,
            condition=replace(loop.condition, statements=tuple(condition)),
            body=replace(loop.body, statements=tuple(body)),
        )


def _inside(statement: Statement) -> Iterator[Statement]:
    for block in blocks_of(statement):
        yield from (s for _, s in statements_of(block))


def _ids(statement: Statement) -> set[int]:
    """What a statement reads, and what its blocks yield."""
    operands = [*operands_of(statement), *(y for block in blocks_of(statement) for y in block.yields)]
    return {o.id for o in operands if isinstance(o, Value)}


def _where(condition: Operand, first: Operand, second: Operand) -> Call:
    return Call(intrinsic="where", operands=(("condition", condition), ("x", first), ("y", second)))


def _tensor(operand: Operand) -> TensorType:
    assert isinstance(operand.type, TensorType), "numbers, addresses and tensors of them"
    return operand.type


def _flags(shape: Shape) -> TensorType:
    return TensorType(BOOL, shape)


def _is_integer(operand: Operand) -> bool:
    return is_integer(_tensor(operand).element)
