"""Lints for integers: overflows and shifts that can be proven, and comparisons that a type decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import assert_never

from teenyc.check.facts import Facts
from teenyc.diagnostics.model import Reporter
from teenyc.ir import nodes as ir
from teenyc.ir.intervals import Interval, binary, clip, fits, hull, negate, of_type
from teenyc.ir.walk import all_operands
from teenyc.source import Span
from teenyc.types import DType, Extent, TensorType, is_integer

_WRAPPING = frozenset({"add", "sub", "mul"})
_SHIFTS = frozenset({"shl", "shr"})
_SWAPPED: Mapping[str, str] = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_SIGNS: Mapping[str, str] = {"add": "+", "sub": "-", "mul": "*", "shl": "<<", "shr": ">>"}


def lint_integers(facts: Facts, reporter: Reporter) -> None:
    """Reports what is certain for all values of the arguments, and for the constants that `--set` fixed."""
    kernel = facts.kernel
    known = {c.name: int(c.known) for c in kernel.constants if c.known is not None}
    walk = _Integers(known, reporter)
    walk.block(kernel.body)
    if not walk.overflows:
        return
    from teenyc.ir.flow import flow_of

    exact = flow_of(ir.Program(doc="", kernels=(kernel,))).addresses
    read = Counter(operand.id for operand in all_operands(kernel.body) if isinstance(operand, ir.Value))
    for let, operator, interval in walk.overflows:
        value = let.results[0]
        if value.id not in exact and walk.reinterpreted[value.id] < max(read[value.id], 1):
            from teenyc.diagnostics.catalog.lints import ArithmeticOverflow

            number = str(interval[0]) if interval[0] == interval[1] else None
            type = str(_dtype(value))
            reporter.report(ArithmeticOverflow(span=let.span, operator=operator, type=type, number=number))


class _Integers:
    """One walk down a kernel; what a loop carries may be anything of its type."""

    def __init__(self, known: Mapping[str, int], reporter: Reporter) -> None:
        self.known = known
        self.reporter = reporter
        self.intervals: dict[int, Interval] = {}
        self.overflows: list[tuple[ir.Let, str, Interval]] = []
        self.reinterpreted: Counter[int] = Counter()
        self.loops: set[Span] = set()

    def block(self, block: ir.Block) -> None:
        for statement in block.statements:
            match statement:
                case ir.Let():
                    self.let(statement)
                case ir.For():
                    self.loops.add(statement.span)
                    start, stop = self.of(statement.start), self.of(statement.stop)
                    if start is not None and stop is not None:
                        self.intervals[statement.counter.id] = hull(start, (start[0], max(start[0], stop[1] - 1)))
                    self.block(statement.body)
                case ir.While():
                    self.loops.add(statement.span)
                    self.block(statement.condition)
                    self.block(statement.body)
                case ir.If():
                    self.branch(statement)
                case ir.Return():
                    pass
                case _:
                    assert_never(statement)

    def branch(self, branch: ir.If) -> None:
        self.block(branch.then)
        self.block(branch.otherwise)
        for index, result in enumerate(branch.results):
            sides = [self.of(b.yields[index]) for b in (branch.then, branch.otherwise) if b.yields]
            joined = sides[0] if sides else None
            for side in sides[1:]:
                joined = hull(joined, side) if joined is not None and side is not None else None
            if joined is not None:
                self.intervals[result.id] = joined

    def of(self, operand: ir.Operand) -> Interval | None:
        """The numbers that an integer operand may be; None for what is no integer of a known type."""
        dtype = _dtype(operand)
        if dtype is None:
            return None
        if isinstance(operand, ir.Literal):
            return (int(operand.value), int(operand.value))
        if isinstance(operand, ir.Constant):
            number = self.known.get(operand.name)
            return of_type(dtype) if number is None else (number, number)
        return self.intervals.get(operand.id, of_type(dtype))

    def let(self, let: ir.Let) -> None:
        operation = let.operation
        if isinstance(operation, ir.Compare):
            self.compare(let, operation)
        dtype = _dtype(let.results[0]) if len(let.results) == 1 else None
        if dtype is None:
            return
        interval = self.result(let, operation, dtype)
        if interval is not None and fits(interval, of_type(dtype)):
            self.intervals[let.results[0].id] = interval

    def result(self, let: ir.Let, operation: ir.Operation, dtype: DType) -> Interval | None:
        match operation:
            case ir.Copy() | ir.ExpandDims():
                return self.of(operation.operand)
            case ir.Cast():
                return self.cast(operation, dtype)
            case ir.Unary():
                operand = self.of(operation.operand)
                return negate(operand) if operand is not None and operation.operator == "neg" else None
            case ir.Binary():
                return self.binary(let, operation, dtype)
            case ir.Call():
                return self.call(operation)
            case ir.Compare() | ir.Offset() | ir.Apply():
                return None
            case _:
                assert_never(operation)

    def cast(self, cast: ir.Cast, dtype: DType) -> Interval | None:
        """A cast to the other sign in the same width asks for the bits: `wrapping_add` is written so."""
        source = _dtype(cast.operand)
        if source is not None and source.bits == dtype.bits and source != dtype and isinstance(cast.operand, ir.Value):
            self.reinterpreted[cast.operand.id] += 1
        return self.of(cast.operand)

    def binary(self, let: ir.Let, operation: ir.Binary, dtype: DType) -> Interval | None:
        left, right = self.of(operation.left), self.of(operation.right)
        if left is None or right is None:
            return None
        if operation.operator in _SHIFTS and clip(right, (0, dtype.bits - 1)) is None:
            self.overflows.append((let, _SIGNS[operation.operator], right))
        interval = binary(operation.operator, left, right, dtype)
        if operation.operator in _WRAPPING and dtype.bits < 64 and clip(interval, of_type(dtype)) is None:
            self.overflows.append((let, _SIGNS[operation.operator], interval))
        return interval

    def call(self, call: ir.Call) -> Interval | None:
        if call.intrinsic == "arange":
            start, end = (self.extent(call.attribute(name, 0)) for name in ("start", "end"))
            return (start, max(start, end - 1)) if start is not None and end is not None else None
        sides = [self.of(o) for name, o in call.operands if name != "condition"]
        known = [side for side in sides if side is not None]
        if call.intrinsic not in _KEEPING or len(known) < max(len(sides), 1):
            return None
        return (min(side[0] for side in known), max(side[1] for side in known))

    def extent(self, extent: object) -> int | None:
        return extent.substitute(self.known).known if isinstance(extent, Extent) else None

    # ---- comparisons ------------------------------------------------------------------------------------------------

    def compare(self, let: ir.Let, compare: ir.Compare) -> None:
        """A comparison with a number at the end of its type's range, such as `unsigned >= 0`."""
        left, right, operator = compare.left, compare.right, compare.operator
        if isinstance(left, ir.Literal):
            left, right, operator = right, left, _SWAPPED.get(operator, operator)
        dtype = _dtype(left)
        if isinstance(left, ir.Literal) or not isinstance(right, ir.Literal) or dtype is None:
            return
        low, high = of_type(dtype)
        outcome = _OUTCOMES.get((operator, "low" if right.value == low else "high" if right.value == high else ""))
        if outcome is None or let.span in self.loops:  # the test of `0..=i32::MAX`, which no author wrote
            return
        from teenyc.diagnostics.catalog.lints import UnusedComparison

        self.reporter.report(UnusedComparison(span=let.span, type=str(dtype), outcome=outcome))


_KEEPING = frozenset(
    {"broadcast_to", "full", "max", "maximum", "min", "minimum", "reshape", "trans", "permute", "where"}
)

_OUTCOMES: Mapping[tuple[str, str], bool] = {
    ("lt", "low"): False,
    ("ge", "low"): True,
    ("le", "high"): True,
    ("gt", "high"): False,
}
"""What a comparison of a value with the least or the greatest number of its type gives."""


def _dtype(operand: ir.Operand) -> DType | None:
    element = operand.type.element if isinstance(operand.type, TensorType) else None
    return element if isinstance(element, DType) and is_integer(element) else None
