"""Computes what reaches memory exactly: a program goes in, one comes out whose offsets and masks do not wrap.

An integer that flows into an offset, or into the mask of an access, and that 32 bits are not proven to hold, becomes an
i64 together with what is made of it on that way. Everything else that reads it sees the exact value and keeps its own
type: arithmetic is done in i64 and cut at the end. Casts stand where narrow values enter: at the definition of a
`program_id`, which keeps its name, and otherwise at the use, unnamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import assert_never

from teenyc.ir import walk
from teenyc.ir.flow import TRANSPARENT, Flow, flow_of, reached
from teenyc.ir.intervals import Interval, fits, of_type
from teenyc.ir.nodes import (
    Apply,
    Binary,
    Block,
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
from teenyc.ir.ranges import ranges
from teenyc.record import replace, state
from teenyc.source import NO_COMMENTS, Span
from teenyc.types import I64, DType, Element, Extent, TensorType, Type, is_integer, scalar

RING = ("add", "sub", "mul", "and", "or", "xor")
"""Operators whose lowest bits are made of the lowest bits of their operands alone."""


def widen_offsets(program: Program) -> Program:
    """The program with the integers that reach memory in 64 bits where 32 are not proven enough."""
    program = walk.with_unique_ids(program)
    flow = flow_of(program)
    known = ranges(program, flow)
    elements = _narrow_elements(program, flow)
    wide = _wide(program, flow, known, elements)
    if not wide:
        return program
    functions = {f.name: f for f in program.functions}
    narrow = {id: elements[id] for id in wide}
    widening = _Widening(narrow, known, flow.slots, functions, walk.fresh_ids(program))
    return walk.map_program(program, widening.kernel, widening.function)


# ---- what becomes 64 bits wide --------------------------------------------------------------------------------------


def _wide(program: Program, flow: Flow, known: Mapping[int, Interval], elements: Mapping[int, DType]) -> frozenset[int]:
    """The values, and results of functions, that become i64; `elements` are those that may.

    An index of a program does, at its definition, with all that is made of it on the way to memory, but where it bounds
    a loop that would count in 32 bits.
    """
    users: dict[int, list[int]] = {}
    for user, sources in flow.sources.items():
        for source in sources:
            users.setdefault(source, []).append(user)
    start = [
        id
        for id in sorted(flow.addresses & elements.keys() & flow.sources.keys())
        if id in known and not fits(known[id], of_type(elements[id]))
    ]
    indices = {v.id for v in _program_ids(program)}

    def closed(start: Iterable[int], indices: Set[int]) -> set[int]:
        pending = list(start)
        wide: set[int] = set(pending)
        while pending:
            id = pending.pop()
            following = [u for u in users.get(id, ()) if u in flow.addresses]
            following.extend(flow.same.get(id, ()))
            following.extend(s for s in flow.sources.get(id, ()) if s in indices)
            for other in following:
                if other in elements and other not in wide:
                    wide.add(other)
                    pending.append(other)
        return wide

    needed = closed(start, frozenset())
    bounds = reached((c for c in _counters(program) if c not in needed), flow.sources)
    return frozenset(closed(start, indices - bounds))


def _narrow_elements(program: Program, flow: Flow) -> dict[int, DType]:
    """The type of each integer that may be widened."""
    elements: dict[int, DType] = {}
    for body in walk.bodies_of(program):
        is_fixed = isinstance(body, Kernel) or body.name not in flow.slots
        fixed = {p.value.id for p in body.parameters} if is_fixed else set()
        typed = [(v.id, v.type) for v in walk.values_of(body) if v.id not in fixed]
        if isinstance(body, Function):
            typed.extend(zip(flow.slots.get(body.name, ()), body.results, strict=False))
        for id, type in typed:
            element = type.element if isinstance(type, TensorType) else None
            if isinstance(element, DType) and is_integer(element) and element.bits < 64:
                elements[id] = element
    return elements


def _program_ids(program: Program) -> Iterator[Value]:
    for body in walk.bodies_of(program):
        for _, statement in walk.statements_of(body.body):
            if isinstance(statement, Let) and _intrinsic(statement.operation) == "program_id":
                yield from statement.results


def _counters(program: Program) -> Iterator[int]:
    for body in walk.bodies_of(program):
        yield from (s.counter.id for _, s in walk.statements_of(body.body) if isinstance(s, For))


def _intrinsic(operation: Operation) -> str | None:
    return operation.intrinsic if isinstance(operation, Call) else None


# ---- the rewrite ----------------------------------------------------------------------------------------------------


@state
class _Widening:
    """What is decided for one program; methods give new IR and append casts to the statements that they are given."""

    narrow: Mapping[int, DType]
    """the type that each wide value, or result of a function, had"""
    known: Mapping[int, Interval]
    slots: Mapping[str, tuple[int, ...]]
    functions: Mapping[str, Function]
    ids: Iterator[int]

    def kernel(self, kernel: Kernel) -> Kernel:
        return replace(kernel, body=self.block(kernel.body, ()))

    def function(self, function: Function) -> Function:
        results = self.result_types(function)
        parameters = tuple(replace(p, value=self.value(p.value)) for p in function.parameters)
        return replace(function, parameters=parameters, results=results, body=self.block(function.body, results))

    def result_types(self, function: Function) -> tuple[Type, ...]:
        slots = self.slots.get(function.name)
        return function.results if slots is None else self.slot_types(function.results, slots)

    def value(self, value: Value) -> Value:
        return replace(value, type=_as_i64(value.type)) if value.id in self.narrow else value

    def operand(self, operand: Operand) -> Operand:
        return self.value(operand) if isinstance(operand, Value) else operand

    def fresh(self, type: Type) -> Value:
        return Value(next(self.ids), type)

    def convert(self, operand: Operand, like: Type, to: list[Statement], span: Span) -> Operand:
        """An integer in the element type of `like`; a cast goes to the end of `to` where one is needed."""
        type = operand.type
        if not isinstance(type, TensorType) or not isinstance(like, TensorType) or not is_integer(type.element):
            return operand
        if type.element == like.element:
            return operand
        if isinstance(operand, Literal):
            return replace(operand, type=replace(type, element=like.element))
        result = self.fresh(replace(type, element=like.element))
        to.append(Let(results=(result,), operation=Cast(operand=operand), span=span))
        return result

    # ---- statements -------------------------------------------------------------------------------------------------

    def block(
        self, block: Block, results: tuple[Type, ...], to: tuple[Value, ...] | None = None, span: Span | None = None
    ) -> Block:
        """A block, yielding operands of the types of `to`; `results` are those of the function around."""
        statements: list[Statement] = []
        for statement in block.statements:
            self.statement(walk.map_operands(statement, self.operand), statements, results)
        yields = tuple(map(self.operand, block.yields))
        if to is not None and span is not None:
            yields = self.converted(yields, to, statements, span)
        return Block(statements=tuple(statements), yields=yields)

    def converted(
        self, operands: tuple[Operand, ...], like: tuple[Value, ...], to: list[Statement], span: Span
    ) -> tuple[Operand, ...]:
        pairs = zip(operands, like, strict=False)
        return tuple(self.convert(o, v.type, to, span) for o, v in pairs)

    def statement(self, statement: Statement, to: list[Statement], results: tuple[Type, ...]) -> None:
        match statement:
            case Let():
                self.let(statement, to)
            case For() | While():
                to.append(self.loop(statement, to, results))
            case If():
                new = tuple(map(self.value, statement.results))
                then = self.block(statement.then, results, new, statement.span)
                otherwise = self.block(statement.otherwise, results, new, statement.span)
                to.append(replace(statement, then=then, otherwise=otherwise, results=new))
            case Return():
                pairs = zip(statement.values, results, strict=True)
                values = tuple(self.convert(o, t, to, statement.span) for o, t in pairs)
                to.append(replace(statement, values=values))
            case _:
                assert_never(statement)

    def loop(self, loop: For | While, to: list[Statement], results: tuple[Type, ...]) -> Statement:
        inside = tuple(self.value(c.inside) for c in loop.carried)
        initials = self.converted(tuple(c.initial for c in loop.carried), inside, to, loop.span)
        carried = tuple(
            replace(c, initial=initial, inside=value, result=self.value(c.result))
            for c, initial, value in zip(loop.carried, initials, inside, strict=True)
        )
        body = self.block(loop.body, results, inside, loop.span)
        if isinstance(loop, While):
            return replace(loop, carried=carried, condition=self.block(loop.condition, results), body=body)
        counter = self.value(loop.counter)
        start, stop, step = (self.convert(o, counter.type, to, loop.span) for o in (loop.start, loop.stop, loop.step))
        return replace(loop, counter=counter, start=start, stop=stop, step=step, carried=carried, body=body)

    def let(self, let: Let, to: list[Statement]) -> None:
        """A let whose operands have their new types already."""
        old = let.results
        new = tuple(map(self.value, old))
        operation, types = self.operation(let, to)
        if types == tuple(v.type for v in new):
            to.append(replace(let, results=new, operation=operation))
            return
        computed = tuple(v if v.type == t else self.fresh(t) for v, t in zip(new, types, strict=True))
        # A single result is written on one line with its cast, so the comments go with the last of the two.
        is_one = len(new) == 1
        to.append(replace(let, results=computed, operation=operation, comments=NO_COMMENTS if is_one else let.comments))
        for value, source in zip(new, computed, strict=True):
            if value != source:
                comments = let.comments if is_one else NO_COMMENTS
                to.append(replace(let, results=(value,), operation=Cast(operand=source), comments=comments))

    # ---- operations -------------------------------------------------------------------------------------------------

    def operation(self, let: Let, to: list[Statement]) -> tuple[Operation, tuple[Type, ...]]:
        """The operation on new operands, and the types that it then gives."""
        operation, types = let.operation, tuple(v.type for v in let.results)
        match operation:
            case Binary() | Compare() | Unary() | Copy() | ExpandDims():
                return self.arithmetic(let, operation, to)
            case Call() if operation.intrinsic in TRANSPARENT and len(let.results) == 1:
                return self.arithmetic(let, operation, to)
            case Cast():
                target = self.value(let.results[0]).type
                is_same = operation.operand.type == target and is_integer(_element(target))
                return (Copy(operand=operation.operand) if is_same else operation), (target,)
            case Offset():
                return operation, types
            case Call():
                return self.narrowed(operation, to, let.span), types
            case Apply():
                return self.apply(operation, to, let.span), self.applied_types(operation, let)
            case _:
                assert_never(operation)

    def arithmetic(self, let: Let, operation: Operation, to: list[Statement]) -> tuple[Operation, tuple[Type, ...]]:
        """An operation that computes in the type of its operands: in i64 if one of them or the result is wide."""
        (result,) = let.results
        is_wide = result.id in self.narrow or any(self.is_wide(o) for o in walk.operands_of(operation))
        if not is_wide:
            return operation, (result.type,)
        if result.id not in self.narrow and isinstance(operation, Binary) and operation.operator in RING:
            # What is cut before wraps to the same number as what is cut behind, and stays a step of a sum.
            return walk.map_operation(operation, lambda o: self.cut(o, to, let.span)), (result.type,)
        if isinstance(operation, Binary) and operation.operator in ("shl", "shr"):
            operation = replace(operation, right=self.shift_count(operation.right, result, to, let.span))
        if isinstance(operation, Call):
            operation = self.widened(operation, _element(result.type), to, let.span)
        else:
            operation = walk.map_operation(operation, lambda o: self.convert(o, scalar(I64), to, let.span))
        return operation, (_as_i64(result.type) if is_integer(_element(result.type)) else result.type,)

    def widened(self, call: Call, element: Element, to: list[Statement], span: Span) -> Call:
        """A transparent call on i64: what flows is widened, other operands are as they were."""
        names = TRANSPARENT[call.intrinsic]
        operands = tuple(
            (name, self.convert(o, scalar(I64), to, span) if name in names else self.cut(o, to, span))
            for name, o in call.operands
        )
        attributes = tuple((name, I64 if a == element else a) for name, a in call.attributes)
        return replace(call, operands=operands, attributes=attributes)

    def shift_count(self, operand: Operand, result: Value, to: list[Statement], span: Span) -> Operand:
        """The count modulo the width of the source's type, which i64 would not take by itself."""
        element = _element(result.type)
        assert isinstance(element, DType), "integers are shifted"
        known: Interval | None = None
        if isinstance(operand, Literal) and isinstance(operand.value, int):
            known = (operand.value, operand.value)
        elif isinstance(operand, Value):
            known = self.known.get(operand.id)
        if known is not None and fits(known, (0, element.bits - 1)):
            return operand
        count = self.fresh(operand.type)
        modulus = Literal(element.bits - 1, TensorType(_element(operand.type)))
        to.append(Let(results=(count,), operation=Binary(operator="and", left=operand, right=modulus), span=span))
        return count

    def narrowed(self, call: Call, to: list[Statement], span: Span) -> Call:
        """A call that reads what it read before: wide operands are cut, but a store converts by itself."""
        is_free = {("store", "value")}
        operands = tuple(
            (name, o if (call.intrinsic, name) in is_free else self.cut(o, to, span)) for name, o in call.operands
        )
        return replace(call, operands=operands)

    def apply(self, apply: Apply, to: list[Statement], span: Span) -> Apply:
        parameters = (p.value for p in self.functions[apply.function].parameters)
        pairs = zip(apply.operands, parameters, strict=True)
        operands = tuple(
            self.convert(o, self.value(p).type, to, span) if p.id in self.narrow else self.cut(o, to, span)
            for o, p in pairs
        )
        constants = tuple((n, o if isinstance(o, Extent) else self.cut(o, to, span)) for n, o in apply.constants)
        return replace(apply, operands=operands, constants=constants)

    def applied_types(self, apply: Apply, let: Let) -> tuple[Type, ...]:
        slots = self.slots.get(apply.function)
        types = tuple(v.type for v in let.results)
        return types if slots is None else self.slot_types(types, slots)

    def slot_types(self, types: tuple[Type, ...], slots: tuple[int, ...]) -> tuple[Type, ...]:
        return tuple(_as_i64(t) if s in self.narrow else t for t, s in zip(types, slots, strict=True))

    def cut(self, operand: Operand, to: list[Statement], span: Span) -> Operand:
        """A wide operand in the type that it had."""
        if not self.is_wide(operand) or not isinstance(operand, Value):
            return operand
        return self.convert(operand, TensorType(self.narrow[operand.id]), to, span)

    def is_wide(self, operand: Operand) -> bool:
        return isinstance(operand, Value) and operand.id in self.narrow


def _as_i64(type: Type) -> Type:
    return replace(type, element=I64) if isinstance(type, TensorType) else type


def _element(type: Type) -> Element:
    assert isinstance(type, TensorType), "an integer or pointer"
    return type.element
