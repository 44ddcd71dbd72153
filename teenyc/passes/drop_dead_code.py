"""Drops what nobody reads: a program goes in, one without unused operations, carried values and functions comes out.

Effects stay, and what decides whether or how often they happen; so does every `while`, which might not end. A load that
nobody reads is no effect, unless it is volatile. Named values go like others: the checker has reported them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from teenyc.intrinsics.spec import Effect
from teenyc.ir import walk
from teenyc.ir.nodes import (
    Apply,
    Block,
    Call,
    Carried,
    For,
    Function,
    If,
    Let,
    Operand,
    Program,
    Return,
    Statement,
    Value,
    While,
)
from teenyc.record import field, replace, state


def drop_dead_code(program: Program) -> Program:
    """The program without what has no effect and is not read."""
    effects = _Effects({f.name: f for f in program.functions})

    def one(body: walk.Body) -> walk.Body:
        return replace(body, body=_sweep(body.body, _mark(body.body, effects)))

    return _without_unused_functions(walk.map_program(program, one, one))


def _without_unused_functions(program: Program) -> Program:
    """The program without device functions that no kernel reaches."""
    if not program.functions:
        return program
    functions = {f.name: f for f in program.functions}
    reached: set[str] = set()
    pending = [name for kernel in program.kernels for name in walk.functions_of(kernel)]
    while pending:
        name = pending.pop()
        if name in functions and name not in reached:
            reached.add(name)
            pending.extend(walk.functions_of(functions[name]))
    return replace(program, functions=tuple(f for f in program.functions if f.name in reached))


@state
class _Effects:
    """Which statements must stay whatever is read."""

    functions: Mapping[str, Function]
    known: dict[str, bool] = field(default_factory=dict)

    def of(self, statement: Statement) -> bool:
        """Whether a statement, or one inside it, has an effect."""
        match statement:
            case Let():
                return self.of_let(statement)
            case While() | Return():
                return True
            case For() | If():
                return any(self.of(inner) for block in walk.blocks_of(statement) for inner in block.statements)
            case _:
                assert_never(statement)

    def of_let(self, let: Let) -> bool:
        operation = let.operation
        if isinstance(operation, Call):
            return _has_effect(operation)
        return isinstance(operation, Apply) and self.of_function(operation.function)

    def of_function(self, name: str) -> bool:
        """Whether a function does more than give its results; returning is what every function does."""
        if name not in self.known:
            inner = walk.statements_of(self.functions[name].body)
            self.known[name] = any(not isinstance(s, Return | For | If) and self.of(s) for _, s in inner)
        return self.known[name]


def _has_effect(call: Call) -> bool:
    from teenyc.intrinsics import TABLE

    record = TABLE.get(call.intrinsic)
    if record is None or call.attribute("volatile") is True or call.operand("volatile") is not None:
        return True
    return not record.effects <= {Effect.READS}


# ---- marking --------------------------------------------------------------------------------------------------------


@state
class _Live:
    """What must stay: values by id, and statements that have effects by identity."""

    values: frozenset[int]
    effects: frozenset[int]


def _mark(block: Block, effects: _Effects) -> _Live:
    """Follows operands from effects to everything that they depend on."""
    marking = _Marking()
    marking.block(block, effects)
    live: set[int] = set()
    pending = marking.roots
    while pending:
        id = pending.pop()
        if id not in live:
            live.add(id)
            pending.extend(marking.needs.get(id, ()))
    return _Live(frozenset(live), frozenset(marking.effects))


@state
class _Marking:
    """`needs` are the values that a value is made of, and those that decide whether its statement runs."""

    needs: dict[int, list[int]] = field(default_factory=dict)
    roots: list[int] = field(default_factory=list)
    effects: set[int] = field(default_factory=set)

    def block(self, block: Block, effects: _Effects) -> bool:
        """Notes the needs in a block; whether it has an effect."""
        has_effect = False
        for statement in block.statements:
            has_effect |= self.statement(statement, effects)
        return has_effect

    def statement(self, statement: Statement, effects: _Effects) -> bool:
        inner = [self.block(block, effects) for block in walk.blocks_of(statement)]
        has_effect = any(inner) if isinstance(statement, For | If) else effects.of(statement)
        if has_effect:
            self.effects.add(id(statement))
        self.note(statement, has_effect)
        return has_effect

    def note(self, statement: Statement, has_effect: bool) -> None:
        match statement:
            case Let() | Return():
                if has_effect:
                    self.require(*walk.operands_of(statement))
                for value in walk.results_of(statement):
                    self.need(value, *walk.operands_of(statement))
            case For():
                bounds = (statement.start, statement.stop, statement.step)
                self.control(statement, bounds, has_effect)
                self.carried(statement, bounds)
            case While():
                self.control(statement, statement.condition.yields, has_effect)
                self.carried(statement, ())
            case If():
                self.control(statement, (statement.condition,), has_effect)
                for block in (statement.then, statement.otherwise):
                    for value, operand in zip(statement.results, block.yields, strict=False):
                        self.need(value, operand, statement.condition)
            case _:
                assert_never(statement)

    def control(self, statement: Statement, operands: tuple[Operand, ...], has_effect: bool) -> None:
        if has_effect:
            self.require(*operands)

    def carried(self, loop: For | While, bounds: tuple[Operand, ...]) -> None:
        for carried, following in zip(loop.carried, loop.body.yields, strict=True):
            for value in (carried.inside, carried.result):
                self.need(value, carried.initial, following, *bounds)

    def require(self, *operands: Operand) -> None:
        self.roots.extend(o.id for o in operands if isinstance(o, Value))

    def need(self, value: Value, *operands: Operand) -> None:
        self.needs.setdefault(value.id, []).extend(o.id for o in operands if isinstance(o, Value))


# ---- sweeping -------------------------------------------------------------------------------------------------------


def _sweep(block: Block, live: _Live) -> Block:
    kept = [s for s in block.statements if _stays(s, live)]
    return replace(block, statements=tuple(_trim(s, live) for s in kept))


def _stays(statement: Statement, live: _Live) -> bool:
    return id(statement) in live.effects or any(v.id in live.values for v in walk.results_of(statement))


def _trim(statement: Statement, live: _Live) -> Statement:
    """The statement without the results that nobody reads, and what is dead inside it."""
    match statement:
        case Let() | Return():
            return statement
        case For() | While():
            keep = [_is_carried(c, live) for c in statement.carried]
            carried = tuple(c for c, stays in zip(statement.carried, keep, strict=True) if stays)
            body = _sweep(statement.body, live)
            body = replace(body, yields=_chosen(body.yields, keep))
            if isinstance(statement, For):
                return replace(statement, carried=carried, body=body)
            return replace(statement, carried=carried, condition=_sweep(statement.condition, live), body=body)
        case If():
            keep = [v.id in live.values for v in statement.results]
            results = tuple(v for v, stays in zip(statement.results, keep, strict=True) if stays)
            then, otherwise = (_sweep(b, live) for b in (statement.then, statement.otherwise))
            then, otherwise = (replace(b, yields=_chosen(b.yields, keep)) for b in (then, otherwise))
            return replace(statement, then=then, otherwise=otherwise, results=results)
        case _:
            assert_never(statement)


def _is_carried(carried: Carried, live: _Live) -> bool:
    return carried.inside.id in live.values or carried.result.id in live.values


def _chosen(operands: tuple[Operand, ...], keep: list[bool]) -> tuple[Operand, ...]:
    return tuple(o for o, stays in zip(operands, keep, strict=False) if stays)
