"""Ranges of integers: a program and its flow go in, an interval that holds every number of each value comes out.

The values that reach an address are taken as exact integers, which do not wrap; all others wrap in their type. Nothing
is taken from the values that `--set` gives to constants. The intervals of loops, parameters and results of functions
grow over whole rounds through the program until none changes, by jumps to infinity after the first few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import assert_never

from teenyc.ir.flow import TRANSPARENT, Flow, flowing
from teenyc.ir.intervals import FULL, UNBOUNDED, Interval, absolute, binary, bounded, clip, fits, hull, negate, of_type
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
from teenyc.ir.walk import applied_names, bodies_of, values_of
from teenyc.record import field, state
from teenyc.types import I32, Extent, Quotient, Shape, TensorType, is_integer
from teenyc.types import DType as DType

NUMEL = 1 << 20
"""The most elements that Triton lets a tensor have, and so the greatest extent."""

_PATIENCE = 3
"""Rounds before an interval that still grows is taken to be infinite at that end."""

_LAST = 10
"""The round after which everything that could still grow is unknown."""


def ranges(program: Program, flow: Flow) -> Mapping[int, Interval]:
    """The interval of each integer value by id, and of the results of functions by slot."""
    analysis = _Analysis(flow, {f.name: f for f in program.functions})
    called = {*applied_names(program)} & flow.slots.keys()
    while analysis.begin_round():
        for body in bodies_of(program):
            analysis.body(body, is_open=isinstance(body, Kernel) or body.name not in called)
    return {**analysis.joins, **analysis.now}


@state
class _Analysis:
    """What is known after the rounds so far: joined over rounds, and in the round at hand."""

    flow: Flow
    functions: Mapping[str, Function]
    joins: dict[int, Interval] = field(default_factory=dict)
    now: dict[int, Interval] = field(default_factory=dict)
    operations: dict[int, Binary | Compare] = field(default_factory=dict)
    extents: frozenset[str] = frozenset()
    slots: tuple[int, ...] = ()
    round: int = 0
    has_changed: bool = True

    def begin_round(self) -> bool:
        """Whether another round is needed."""
        is_needed = self.has_changed
        self.round += 1
        self.has_changed = False
        return is_needed

    def body(self, body: Kernel | Function, *, is_open: bool) -> None:
        """One kernel or function; if it is open, its parameters may be anything."""
        self.extents = frozenset(extent_names(body))
        self.slots = self.flow.slots.get(body.name, ())
        for parameter in body.parameters:
            is_known = not is_open and parameter.value.id in self.flow.sources
            self.define(parameter.value, self.joins.get(parameter.value.id) if is_known else _whole(parameter.value))
        self.block(body.body)

    # ---- facts ------------------------------------------------------------------------------------------------------

    def of(self, operand: Operand) -> Interval | None:
        """The interval of an integer operand; None for what is none, or is not reached yet."""
        match operand:
            case Value():
                return self.now.get(operand.id, self.joins.get(operand.id))
            case Literal():
                return (operand.value, operand.value) if type(operand.value) is int else None
            case Constant():
                if operand.type.element != I32:
                    return None
                return (1, NUMEL) if operand.name in self.extents else of_type(I32)
            case _:
                assert_never(operand)

    def define(self, value: Value, interval: Interval | None) -> None:
        """Notes the interval of a value: exact where it reaches an address, otherwise wrapped to its type."""
        whole = _whole(value)
        if whole is None or interval is None:
            return
        is_exact = value.id in self.flow.addresses or fits(interval, whole)
        self.now[value.id] = bounded(interval) if is_exact else whole

    def grow(self, id: int, interval: Interval | None, whole: Interval | None) -> None:
        """Joins an interval to what is known of a place that is reached in several ways.

        An end that still grows after some rounds jumps to that of the type, `whole`, and then to infinity: a loop whose
        condition bounds what it counts stays within the type.
        """
        if interval is None or whole is None:
            return
        old = self.joins.get(id)
        new = interval if old is None else hull(old, interval)
        if self.round > _LAST:
            new = FULL
        elif old is not None and self.round > _PATIENCE:
            low = whole[0] if new[0] >= whole[0] else -UNBOUNDED
            high = whole[1] if new[1] <= whole[1] else UNBOUNDED
            new = (old[0] if new[0] == old[0] else low, old[1] if new[1] == old[1] else high)
        if new != old:
            self.joins[id] = new
            self.has_changed = True

    # ---- statements -------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        for statement in block.statements:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Let():
                self.let(statement)
            case For():
                self.define(statement.counter, self.counter(statement))
                self.loop(statement)
            case While():
                self.loop(statement)
            case If():
                self.block(statement.then)
                self.block(statement.otherwise)
                pairs = (self.pairs(statement, block) for block in (statement.then, statement.otherwise))
                for value, interval in (pair for each in pairs for pair in each):
                    known = self.now.get(value.id)
                    self.define(value, hull(known, interval) if known else interval)
            case Return():
                for slot, operand in zip(self.slots, statement.values, strict=False):
                    self.grow(slot, self.of(operand), _whole(operand))
            case _:
                assert_never(statement)

    def pairs(self, statement: If, block: Block) -> Iterator[tuple[Value, Interval]]:
        for value, operand in zip(statement.results, block.yields, strict=False):
            interval = self.of(operand)
            if interval is not None:
                yield value, interval

    def counter(self, loop: For) -> Interval | None:
        start, stop = self.of(loop.start), self.of(loop.stop)
        return None if start is None or stop is None else (start[0], max(start[0], stop[1] - 1))

    def loop(self, loop: For | While) -> None:
        for carried in loop.carried:
            whole = _whole(carried.inside)
            if whole is not None:
                self.grow(carried.inside.id, self.of(carried.initial), whole)
                self.define(carried.inside, self.joins.get(carried.inside.id))
        if isinstance(loop, While):
            self.block(loop.condition)
            for test in loop.condition.yields:
                self.assume(test, loop)
        self.block(loop.body)
        for carried, following in zip(loop.carried, loop.body.yields, strict=True):
            whole = _whole(carried.inside)
            if whole is not None:
                self.grow(carried.inside.id, self.of(following), whole)
                for value in (carried.inside, carried.result):
                    self.define(value, self.joins.get(carried.inside.id))

    def assume(self, test: Operand, loop: While) -> None:
        """Narrows, for the body, the carried values that the condition of a `while` compares."""
        operation = self.operations.get(test.id) if isinstance(test, Value) else None
        if isinstance(operation, Binary) and operation.operator == "and":
            self.assume(operation.left, loop)
            self.assume(operation.right, loop)
        elif isinstance(operation, Compare):
            carried = {c.inside.id for c in loop.carried}
            swapped = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}.get(operation.operator, operation.operator)
            sides = ((operation.left, operation.right, operation.operator), (operation.right, operation.left, swapped))
            for value, limit, operator in sides:
                if isinstance(value, Value) and value.id in carried:
                    self.narrow(value, operator, self.of(limit))

    def narrow(self, value: Value, operator: str, limit: Interval | None) -> None:
        known = self.now.get(value.id)
        if known is None or limit is None:
            return
        allowed: dict[str, Interval] = {
            "lt": (-UNBOUNDED, limit[1] - 1),
            "le": (-UNBOUNDED, limit[1]),
            "gt": (limit[0] + 1, UNBOUNDED),
            "ge": (limit[0], UNBOUNDED),
            "eq": limit,
        }
        self.now[value.id] = clip(known, allowed.get(operator, FULL)) or known

    def let(self, let: Let) -> None:
        operation = let.operation
        if isinstance(operation, Apply):
            self.apply(let, operation)
            return
        for value in let.results:
            whole = _whole(value)
            if whole is not None:
                self.define(value, self.result(let, value, whole))
            elif isinstance(operation, Binary | Compare):
                self.operations[value.id] = operation

    def apply(self, let: Let, apply: Apply) -> None:
        slots = self.flow.slots.get(apply.function)
        if slots is not None:
            for parameter, operand in zip(self.functions[apply.function].parameters, apply.operands, strict=True):
                if parameter.value.id in self.flow.sources:
                    self.grow(parameter.value.id, self.of(operand), _whole(operand))
        for index, value in enumerate(let.results):
            flows = value.id in self.flow.sources and slots is not None
            self.define(value, self.joins.get(slots[index]) if flows and slots is not None else _whole(value))

    # ---- operations -------------------------------------------------------------------------------------------------

    def result(self, let: Let, value: Value, whole: Interval) -> Interval | None:
        """The interval of an integer result before it wraps; None where an operand is not reached yet."""
        operation, dtype = let.operation, _dtype(value)
        match operation:
            case Copy() | ExpandDims():
                return self.of(operation.operand)
            case Unary():
                operand = self.of(operation.operand)
                if operand is None:
                    return None
                return negate(operand) if operation.operator == "neg" else (-operand[1] - 1, -operand[0] - 1)
            case Binary():
                left, right = self.of(operation.left), self.of(operation.right)
                return None if left is None or right is None else binary(operation.operator, left, right, dtype)
            case Cast():
                return self.cast(operation, whole)
            case Call():
                rule = _CALLS.get(operation.intrinsic)
                return whole if rule is None or len(let.results) > 1 else rule(self, operation, whole)
            case Compare() | Offset() | Apply():
                return whole
            case _:
                assert_never(operation)

    def cast(self, cast: Cast, whole: Interval) -> Interval | None:
        type = cast.operand.type
        if not isinstance(type, TensorType) or not isinstance(type.element, DType):
            return whole
        if type.element.bits == 1:
            return (0, 1)
        if not is_integer(type.element):
            return whole
        source = self.of(cast.operand)
        return source if source is None or fits(source, whole) else whole

    def extent(self, extent: object) -> Interval:
        """The interval of an extent over constants."""
        if isinstance(extent, int):
            return (extent, extent)
        if not isinstance(extent, Extent):
            return of_type(I32)
        total: Interval = (0, 0)
        for monomial, coefficient in extent.terms:
            term: Interval = (coefficient, coefficient)
            for atom in monomial:
                known = (1, NUMEL) if atom in self.extents and not isinstance(atom, Quotient) else of_type(I32)
                term = binary("mul", term, known, I32)
            total = binary("add", total, term, I32)
        return total


# ---- intrinsics -----------------------------------------------------------------------------------------------------

Rule = Callable[[_Analysis, Call, Interval], "Interval | None"]


def _arange(analysis: _Analysis, call: Call, whole: Interval) -> Interval:
    start = analysis.extent(call.attribute("start", 0))
    end = analysis.extent(call.attribute("end"))
    return (start[0], max(start[0], min(end[1], start[1] + NUMEL) - 1))


def _joined(analysis: _Analysis, call: Call, whole: Interval) -> Interval | None:
    """Every element of the result is an element of an integer operand."""
    intervals = [analysis.of(operand) for operand in flowing(call) if _whole(operand) is not None]
    total: Interval | None = None
    for interval in intervals:
        if interval is None:
            return None
        total = interval if total is None else hull(total, interval)
    return whole if total is None else total


def _binary_with(combine: Callable[[Interval, Interval], Interval]) -> Rule:
    def rule(analysis: _Analysis, call: Call, whole: Interval) -> Interval | None:
        operands = flowing(call)
        if len(operands) != 2:
            return whole
        a, b = analysis.of(operands[0]), analysis.of(operands[1])
        return None if a is None or b is None else combine(a, b)

    return rule


def _minimum(a: Interval, b: Interval) -> Interval:
    return (min(a[0], b[0]), min(a[1], b[1]))


def _maximum(a: Interval, b: Interval) -> Interval:
    return (max(a[0], b[0]), max(a[1], b[1]))


def _ceiling(a: Interval, b: Interval) -> Interval:
    return binary("div", binary("add", a, (b[0] - 1, b[1] - 1), I32), b, I32)


def _absolute(analysis: _Analysis, call: Call, whole: Interval) -> Interval | None:
    operand = _joined(analysis, call, whole)
    return None if operand is None else absolute(operand)


def _total(analysis: _Analysis, call: Call, whole: Interval) -> Interval | None:
    """At most as many elements are summed as the operand has."""
    element = _joined(analysis, call, whole)
    count = max((_numel(o.type.shape) for o in flowing(call) if isinstance(o.type, TensorType)), default=NUMEL)
    return None if element is None else hull(element, binary("mul", element, (1, count), I32))


def _numel(shape: Shape) -> int:
    total = 1
    for extent in shape:
        total *= NUMEL if extent.known is None else max(extent.known, 1)
    return min(total, NUMEL)


_CALLS: Mapping[str, Rule] = {
    **dict.fromkeys(TRANSPARENT, _joined),
    "program_id": lambda analysis, call, whole: (0, I32.maximum - 1),
    "num_programs": lambda analysis, call, whole: (1, I32.maximum),
    "arange": _arange,
    "zeros": lambda analysis, call, whole: (0, 0),
    "argmax": lambda analysis, call, whole: (0, NUMEL),
    "argmin": lambda analysis, call, whole: (0, NUMEL),
    "minimum": _binary_with(_minimum),
    "maximum": _binary_with(_maximum),
    "cdiv": _binary_with(_ceiling),
    "abs": _absolute,
    "sum": _total,
    "cumsum": _total,
}


def extent_names(body: Kernel | Function) -> Iterator[str]:
    """The constants that are extents by themselves, and so positive and no more than a tensor may have elements.

    So is what is padded to such an extent.
    """
    extents = {e for value in values_of(body) if isinstance(value.type, TensorType) for e in value.type.shape}
    names = {c.name for c in body.constants}
    yield from (name for name in names if Extent.of(name) in extents)
    for padded in body.padded if isinstance(body, Kernel) else ():
        if Extent.of(padded.name) in extents:
            yield from (padded.name, padded.of)


def _dtype(value: Operand) -> DType:
    element = value.type.element if isinstance(value.type, TensorType) else None
    assert isinstance(element, DType), "only integers have intervals"
    return element


def _whole(value: Operand) -> Interval | None:
    """All numbers of an integer value's type; None for what is no integer."""
    element = value.type.element if isinstance(value.type, TensorType) else None
    return of_type(element) if isinstance(element, DType) and is_integer(element) else None
