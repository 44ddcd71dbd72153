"""Effects: a program goes in; what each kernel and device function reads and writes, call by call, comes out."""

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
    Constant,
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
from teenyc.ir.walk import bodies_of, operands_of, statements_of, uses
from teenyc.record import field, record, replace
from teenyc.source import Span
from teenyc.types import Compute, DescriptorType, Element, Pointer, TensorType, TypeVar

NOWHERE = Span(0, 0)

KEEP = frozenset({"atomic_load", "atomic_poll"})
"""Atomics that change nothing."""

REPLACE = frozenset({"atomic_store", "atomic_xchg"})
"""Atomics that leave a value whatever was there."""

ASSEMBLY = "inline_asm_elementwise"

CHANCE = frozenset({"globaltimer", "smid"})
"""What no argument of a launch decides."""

COMBINE = frozenset("sum prod dot dot_scaled softmax cumsum cumprod reduce associative_scan".split())
"""What combines elements in an order of its own."""

EXPONENTIAL = "exp2"
"""What stands in blocks for other exponentials, and rounds otherwise."""

NOTED = CHANCE | COMBINE | {ASSEMBLY, EXPONENTIAL}
"""What is told of beside the calls that reach memory."""


@record
class Access:
    """One call that reaches memory, or is `NOTED`."""

    call: str
    tensors: frozenset[int]
    """the parameters, by index, that its address may come from"""
    element: Element | None = None
    """what is there in memory; of a sum, what it adds"""
    is_used: bool = False
    """whether anything reads its result, but for a function that gives it back"""
    returned: frozenset[int] = frozenset()
    """the results of the function, by index, that it is"""
    leaves: Operand | None = None
    """the number that it leaves, where it is one of the source"""
    is_pure: bool = True
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def effects(self) -> frozenset[Effect]:
        known = find(self.call)
        return known.effects if known is not None else frozenset()

    @property
    def is_atomic(self) -> bool:
        return Effect.ATOMIC in self.effects

    @property
    def reads(self) -> bool:
        if self.is_atomic:
            return self.call not in REPLACE or self.is_used
        return Effect.READS in self.effects or self.call == ASSEMBLY

    @property
    def writes(self) -> bool:
        if self.is_atomic:
            return self.call not in KEEP
        return Effect.WRITES in self.effects or self.call == ASSEMBLY


@record
class Effects:
    """What one kernel or device function does, with its parameters by index."""

    accesses: tuple[Access, ...] = ()
    results: tuple[frozenset[int], ...] = ()
    """of each result, the parameters that the address in it comes from"""

    @property
    def reads(self) -> frozenset[int]:
        return frozenset[int]().union(*(a.tensors for a in self.accesses if a.reads))

    @property
    def writes(self) -> frozenset[int]:
        return frozenset[int]().union(*(a.tensors for a in self.accesses if a.writes))

    @property
    def atomics(self) -> frozenset[int]:
        """The parameters that atomics change."""
        return frozenset[int]().union(*(a.tensors for a in self.accesses if a.is_atomic and a.writes))


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
    returned: Mapping[int, tuple[int, ...]]

    @staticmethod
    def of(body: Kernel | Function, functions: Mapping[str, Function], known: dict[str, Effects]) -> Effects:
        if body.name not in known:
            roots = {p.value.id: frozenset({i}) for i, p in enumerate(body.parameters) if _is_address(p.value)}
            statements = [s for _, s in statements_of(body.body)]
            trace = _Trace(functions, known, roots, uses(body.body), _returned(statements))
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
        accesses: dict[tuple[Access, Span], Access] = {}
        results: list[frozenset[int]] = []
        for statement in statements:
            accesses |= {(access, access.span): access for access in self.accesses(statement)}
            if isinstance(statement, Return):
                old = results or [frozenset()] * len(statement.values)
                results = [a | self.of_operand(b) for a, b in zip(old, statement.values, strict=True)]
        return Effects(tuple(accesses.values()), tuple(results))

    def accesses(self, statement: Statement) -> Iterator[Access]:
        if not isinstance(statement, Let):
            return
        if isinstance(statement.operation, Call):
            yield from self.call(statement, statement.operation)
        if isinstance(statement.operation, Apply):
            yield from self.applied(statement, statement.operation)

    def applied(self, let: Let, apply: Apply) -> Iterator[Access]:
        """The accesses of a function, in terms of the caller's parameters, types and results."""
        variables = (v.name for v in self.functions[apply.function].type_variables)
        known = dict(zip(variables, apply.elements, strict=True))
        for access in self.callee(apply).accesses:
            tensors = frozenset[int]().union(*(self.of_operand(apply.operands[i]) for i in access.tensors))
            element = bound(access.element, known) if access.element is not None else None
            is_used, returned = self.fate([let.results[i] for i in access.returned])
            yield replace(
                access, tensors=tensors, element=element, is_used=access.is_used or is_used, returned=returned
            )

    def fate(self, results: Sequence[Value]) -> tuple[bool, frozenset[int]]:
        """Whether anything but a `return` reads values, and as which results they are returned."""
        places = [self.returned.get(result.id, ()) for result in results]
        is_used = any(self.read[r.id] > len(p) for r, p in zip(results, places, strict=True))
        return is_used, frozenset[int]().union(*places)

    def call(self, let: Let, call: Call) -> Iterator[Access]:
        """The call, where it reaches memory or is one of those to tell of."""
        addresses = [o for name, o in call.operands if name != "value" and _is_address(o)]
        known = find(call.intrinsic)
        reaches = known is not None and not known.effects.isdisjoint({Effect.READS, Effect.WRITES, Effect.ATOMIC})
        if not reaches and call.intrinsic not in NOTED:
            return
        value = call.operand("val") or call.operand("value")
        is_used, returned = self.fate(let.results)
        yield Access(
            call=call.intrinsic,
            tensors=frozenset[int]().union(*map(self.of_operand, addresses)),
            element=next((_pointee(o) for o in addresses), None) or _element(call),
            is_used=is_used,
            returned=returned,
            leaves=value if isinstance(value, Literal | Constant) else None,
            is_pure=call.intrinsic != ASSEMBLY or call.attribute("is_pure") is True,
            span=let.span,
        )


def _returned(statements: Iterable[Statement]) -> dict[int, tuple[int, ...]]:
    """For each value that is returned as such, as which results, once for each `return` that does."""
    found: dict[int, tuple[int, ...]] = {}
    for statement in statements:
        for index, value in enumerate(statement.values) if isinstance(statement, Return) else ():
            if isinstance(value, Value):
                found[value.id] = (*found.get(value.id, ()), index)
    return found


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


def bound(element: Element, known: Mapping[str, Element]) -> Element:
    """An element type with the types that dtype parameters stand for."""
    match element:
        case TypeVar(name=name):
            return known.get(name, element)
        case Compute(of=of):
            found = known.get(of.name, of)
            return Compute(found) if isinstance(found, TypeVar) else found
        case _:
            return element


def _element(call: Call) -> Element | None:
    """What a sum adds: the type of its first argument."""
    type = call.operands[0][1].type if call.operands else None
    return type.element if isinstance(type, TensorType) else None


def _pointee(operand: Operand) -> Element | None:
    """The element type behind a pointer or descriptor, None for other values."""
    match operand.type:
        case DescriptorType(element=element):
            return element
        case TensorType(element=Pointer(to=element)):
            return element
        case _:
            return None
