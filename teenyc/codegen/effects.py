"""What kernels do to memory: a program goes in, the parameters that each kernel reads and writes come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from teenyc.intrinsics import find
from teenyc.intrinsics.spec import Effect
from teenyc.ir.nodes import (
    Apply,
    Binary,
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
from teenyc.ir.walk import bodies_of, operands_of, statements_of, uses
from teenyc.record import record
from teenyc.types import DescriptorType, Element, Pointer, TensorType, is_integer

ORDERED = frozenset({"atomic_xchg", "atomic_cas", "atomic_store"})
"""Atomics whose effect on memory depends on the order in which programs run."""

SUMS = frozenset({"atomic_add"})
"""Atomics whose effect depends on that order where they round, on floats."""


@record
class Effects:
    """What one kernel or device function does: parameters by index, and why a repeated run may differ."""

    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    results: tuple[frozenset[int], ...] = ()
    unordered: tuple[tuple[str, frozenset[int]], ...] = ()
    """reasons, each with the parameters whose contents it concerns"""


def effects_of(program: Program) -> dict[str, Effects]:
    """The effects of every device function and kernel, by name; calls are followed."""
    known: dict[str, Effects] = {}
    functions = {f.name: f for f in program.functions}
    for body in bodies_of(program):
        _Trace.of(body, functions, known)
    return known


@record
class _Trace:
    """Follows pointers through one body: `roots` holds the parameters from which each pointer value is made."""

    functions: Mapping[str, Function]
    known: dict[str, Effects]
    roots: dict[int, frozenset[int]]
    read: Mapping[int, int]

    @staticmethod
    def of(body: Kernel | Function, functions: Mapping[str, Function], known: dict[str, Effects]) -> Effects:
        if body.name not in known:
            roots = {p.value.id: frozenset({i}) for i, p in enumerate(body.parameters) if _is_address(p.value)}
            trace = _Trace(functions, known, roots, uses(body.body))
            statements = [s for _, s in statements_of(body.body)]
            trace.settle([(v, made) for s in statements for v, made in _flows(s) if _is_address(v)], statements)
            known[body.name] = trace.summary(statements)
        return known[body.name]

    def settle(self, flows: Sequence[tuple[Value, tuple[Operand, ...]]], statements: Sequence[Statement]) -> None:
        """Repeats what addresses are made of until loops bring no new root; sets only grow, so it ends."""
        applied = [(s, s.operation) for s in statements if isinstance(s, Let) and isinstance(s.operation, Apply)]
        before = -1
        while before != (before := sum(map(len, self.roots.values()))):
            for value, operands in flows:
                self.add(value, operands)
            for let, apply in applied:
                self.apply(let, apply)

    def add(self, value: Value, operands: Iterable[Operand]) -> None:
        self.roots[value.id] = self.roots.get(value.id, frozenset()).union(*map(self.of_operand, operands))

    def apply(self, let: Let, apply: Apply) -> None:
        for result, sources in zip(let.results, self.callee(apply).results, strict=True):
            if _is_address(result):
                self.add(result, [apply.operands[i] for i in sources])

    def callee(self, apply: Apply) -> Effects:
        return _Trace.of(self.functions[apply.function], self.functions, self.known)

    def of_operand(self, operand: Operand) -> frozenset[int]:
        return self.roots.get(operand.id, frozenset()) if isinstance(operand, Value) else frozenset()

    def summary(self, statements: Iterable[Statement]) -> Effects:
        reads: set[int] = set()
        writes: set[int] = set()
        results: list[frozenset[int]] = []
        unordered: dict[tuple[str, frozenset[int]], None] = {}
        for statement in statements:
            for effects in self.effects(statement):
                reads |= effects.reads
                writes |= effects.writes
                unordered |= dict.fromkeys(effects.unordered)
            if isinstance(statement, Return):
                old = results or [frozenset()] * len(statement.values)
                results = [a | self.of_operand(b) for a, b in zip(old, statement.values, strict=True)]
        return Effects(frozenset(reads), frozenset(writes), tuple(results), tuple(unordered))

    def effects(self, statement: Statement) -> Iterator[Effects]:
        if isinstance(statement, Let) and isinstance(statement.operation, Call):
            yield self.call(statement, statement.operation)
        if isinstance(statement, Let) and isinstance(statement.operation, Apply):
            yield self.mapped(self.callee(statement.operation), statement.operation)

    def mapped(self, effects: Effects, apply: Apply) -> Effects:
        """The effects of a function, in terms of the caller's parameters."""

        def outer(inner: frozenset[int]) -> frozenset[int]:
            return frozenset[int]().union(*(self.of_operand(apply.operands[i]) for i in inner))

        unordered = tuple((reason, outer(parameters)) for reason, parameters in effects.unordered)
        return Effects(outer(effects.reads), outer(effects.writes), unordered=unordered)

    def call(self, let: Let, call: Call) -> Effects:
        record = find(call.intrinsic)
        effects = record.effects if record else frozenset[Effect]()
        places = [o for name, o in call.operands if name != "value" and _is_address(o)]
        touched = frozenset[int]().union(*map(self.of_operand, places))
        atomic = Effect.ATOMIC in effects
        return Effects(
            reads=touched if atomic or Effect.READS in effects else frozenset(),
            writes=touched if atomic or Effect.WRITES in effects else frozenset(),
            unordered=tuple((reason, touched) for reason in self.reasons(let, call)) if atomic else (),
        )

    def reasons(self, let: Let, call: Call) -> Iterator[str]:
        exact = all(is_integer(e) for _, o in call.operands if (e := _pointee(o)) is not None)
        if call.intrinsic in SUMS and not exact:
            yield f"`{call.intrinsic}` adds floats in no fixed order"
        if call.intrinsic in ORDERED:
            yield f"`{call.intrinsic}` leaves what the last program wrote"
        if any(self.read[r.id] for r in let.results):
            yield f"the result of `{call.intrinsic}` depends on which program comes first"


def _flows(statement: Statement) -> Iterator[tuple[Value, tuple[Operand, ...]]]:
    """What each value that a statement defines is made of; device functions are followed elsewhere."""
    match statement:
        case Let():
            yield from ((result, _sources(statement.operation)) for result in statement.results)
        case For() | While():
            for carried, following in zip(statement.carried, statement.body.yields, strict=True):
                yield carried.inside, (carried.initial, following)
                yield carried.result, (carried.initial, following)
        case If():
            for block in (statement.then, statement.otherwise):  # one that returns yields nothing
                for result, operand in zip(statement.results, block.yields, strict=False):
                    yield result, (operand,)
        case Return():
            return
        case _:
            assert_never(statement)


def _sources(operation: Operation) -> tuple[Operand, ...]:
    match operation:
        case Apply():
            return ()
        case Copy() | Unary() | Binary() | Compare() | Cast() | Offset() | ExpandDims() | Call():
            return operands_of(operation)
        case _:
            assert_never(operation)


def _is_address(operand: Operand) -> bool:
    type = operand.type
    return isinstance(type, DescriptorType) or (isinstance(type, TensorType) and isinstance(type.element, Pointer))


def _pointee(operand: Operand) -> Element | None:
    """The element type behind a pointer or descriptor, None for other values."""
    match operand.type:
        case DescriptorType(element=element):
            return element
        case TensorType(element=Pointer(to=element)):
            return element
        case _:
            return None
