"""How integers flow: a program with ids unique over it goes in, the values that each is made of come out.

An integer flows through names, arithmetic, selects, loops, branches and device functions. It ends where a value comes
from outside (a parameter, a load, an index) and where the author asks for other bits: a narrowing cast, an intrinsic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

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
    Program,
    Return,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.ir.walk import bodies_of, combine_names, statements_of
from teenyc.record import field, record, state
from teenyc.types import BOOL, DType, Element, Kind, TensorType, is_integer

TRANSPARENT: Mapping[str, tuple[str, ...]] = {
    "abs": ("x",),
    "broadcast_to": ("input",),
    "cat": ("input", "other"),
    "cdiv": ("x", "div"),
    "clamp": ("x", "min", "max"),
    "cumsum": ("input",),
    "flip": ("x",),
    "full": ("value",),
    "gather": ("src",),
    "interleave": ("a", "b"),
    "join": ("a", "b"),
    "max": ("input",),
    "max_constancy": ("input",),
    "max_contiguous": ("input",),
    "maximum": ("x", "y"),
    "min": ("input",),
    "minimum": ("x", "y"),
    "multiple_of": ("input",),
    "permute": ("input",),
    "ravel": ("x",),
    "reshape": ("input",),
    "sort": ("x",),
    "sum": ("input",),
    "trans": ("input",),
    "view": ("input",),
    "where": ("condition", "x", "y"),
}
"""Intrinsics that compute in the type of their operands, and which operands of that type flow into the result."""


def flowing(call: Call) -> tuple[Operand, ...]:
    """The operands of a call that flow into its result, if they have its type."""
    return tuple(o for name, o in call.operands if name in TRANSPARENT.get(call.intrinsic, ()))


@record
class Flow:
    """What flows into what, by id.

    `sources` gives the values from which a value is made. `same` gives those that must have its type: the values of one
    loop-carried variable, a copy and its operand. A function's results have ids below zero: `slots[name][index]`.
    """

    sources: Mapping[int, list[int]]
    same: Mapping[int, list[int]]
    addresses: frozenset[int]
    slots: Mapping[str, tuple[int, ...]]


def flow_of(program: Program) -> Flow:
    """The flow of a program; `addresses` are the values that reach an offset, or the mask that guards an access.

    What a descriptor is made of, and the offsets of a block, are such values too.
    """
    builder = _Builder({f.name: f for f in program.functions}, _slots(program))
    roots: set[int] = set()
    for body in bodies_of(program):
        for _, statement in statements_of(body.body):
            builder.statement(statement, body)
            if isinstance(statement, Let):
                roots.update(_roots(statement))
    addresses = reached(roots, builder.sources)
    return Flow(builder.sources, builder.same, addresses, builder.slots)


def reached(start: Iterable[int], edges: Mapping[int, Iterable[int]]) -> frozenset[int]:
    """Everything that edges lead to from `start`, which is included."""
    found = set(start)
    pending = list(found)
    while pending:
        for following in edges.get(pending.pop(), ()):
            if following not in found:
                found.add(following)
                pending.append(following)
    return frozenset(found)


def _slots(program: Program) -> dict[str, tuple[int, ...]]:
    """Ids for the results of functions whose signature is free to change."""
    pinned = combine_names(program)
    slots: dict[str, tuple[int, ...]] = {}
    last = 0
    for function in program.functions:
        if function.name not in pinned:
            slots[function.name] = tuple(range(last - 1, last - 1 - len(function.results), -1))
            last -= len(function.results)
    return slots


def _roots(let: Let) -> Iterator[int]:
    operation = let.operation
    if isinstance(operation, Offset) and isinstance(operation.offset, Value):
        yield operation.offset.id
    if isinstance(operation, Call):
        from teenyc.intrinsics import TABLE

        is_block = TABLE[operation.intrinsic].family == "descriptors"
        for name, operand in operation.operands:
            if isinstance(operand, Value) and (name == "mask" or (is_block and name != "value")):
                yield operand.id


@state
class _Builder:
    """The edges found so far."""

    functions: Mapping[str, Function]
    slots: dict[str, tuple[int, ...]]
    sources: dict[int, list[int]] = field(default_factory=dict)
    same: dict[int, list[int]] = field(default_factory=dict)

    def statement(self, statement: Statement, body: Kernel | Function) -> None:
        match statement:
            case Let():
                self.let(statement)
            case For() | While():
                self.loop(statement)
            case If():
                for block in (statement.then, statement.otherwise):
                    for result, operand in zip(statement.results, block.yields, strict=False):
                        self.link(result, operand)
            case Return():
                for slot, operand in zip(self.slots.get(body.name, ()), statement.values, strict=False):
                    self.link_id(slot, operand)
            case _:
                assert_never(statement)

    def loop(self, loop: For | While) -> None:
        if isinstance(loop, For):
            for bound in (loop.start, loop.stop, loop.step):
                self.equate(loop.counter, bound, both=False)
        for carried, following in zip(loop.carried, loop.body.yields, strict=True):
            for value in (carried.inside, carried.result):
                self.link(value, carried.initial)
                self.link(value, following)
            self.link(carried.inside, carried.result)
            self.equate(carried.result, carried.inside, both=True)

    def let(self, let: Let) -> None:
        operation = let.operation
        match operation:
            case Copy() | ExpandDims():
                self.equate(let.results[0], operation.operand, both=False)
            case Unary():
                self.link(let.results[0], operation.operand)
            case Binary() if operation.operator in ("shl", "shr"):
                self.link(let.results[0], operation.left)
            case Binary() | Compare():
                self.link(let.results[0], operation.left)
                self.link(let.results[0], operation.right)
            case Cast():
                if _keeps_value(operation.operand, let.results[0]):
                    self.link(let.results[0], operation.operand)
            case Call() if len(let.results) == 1:
                for operand in flowing(operation):
                    if _element(operand) == _element(let.results[0]):
                        self.link(let.results[0], operand)
            case Apply():
                self.apply(let, operation)
            case Call() | Offset():
                pass
            case _:
                assert_never(operation)

    def apply(self, let: Let, apply: Apply) -> None:
        slots = self.slots.get(apply.function)
        if slots is None:
            return
        function = self.functions[apply.function]
        for parameter, operand in zip(function.parameters, apply.operands, strict=True):
            if _element(parameter.value) == _element(operand):
                self.link(parameter.value, operand)
        for result, slot, stated in zip(let.results, slots, function.results, strict=True):
            if _flows(result) and isinstance(stated, TensorType) and stated.element == _element(result):
                self.sources.setdefault(result.id, []).append(slot)

    def link(self, value: Value, operand: Operand) -> None:
        """`operand` flows into `value`."""
        if _flows(value):
            self.link_id(value.id, operand)

    def link_id(self, id: int, operand: Operand) -> None:
        sources = self.sources.setdefault(id, [])
        if isinstance(operand, Value) and _flows(operand):
            sources.append(operand.id)

    def equate(self, value: Value, operand: Operand, *, both: bool) -> None:
        """`operand` flows into `value`, which then has its type; with `both`, also the other way round."""
        self.link(value, operand)
        if isinstance(operand, Value) and _flows(operand):
            self.same.setdefault(operand.id, []).append(value.id)
            if both:
                self.same.setdefault(value.id, []).append(operand.id)


def _keeps_value(operand: Operand, result: Value) -> bool:
    """Whether a cast between integers keeps every value, so that it need not end the flow."""
    source, target = _element(operand), _element(result)
    if not isinstance(source, DType) or not isinstance(target, DType) or not is_integer(source):
        return False
    return is_integer(target) and target.minimum <= source.minimum and source.maximum <= target.maximum


def _flows(value: Value) -> bool:
    """Whether a value is made of integers, or of bools that compare them."""
    element = _element(value)
    return isinstance(element, DType) and (element == BOOL or element.kind in (Kind.SIGNED, Kind.UNSIGNED))


def _element(operand: Operand) -> Element | None:
    return operand.type.element if isinstance(operand.type, TensorType) else None
