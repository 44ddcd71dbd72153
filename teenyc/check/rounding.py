"""Lints for values that a loop carries and rounds in every iteration, so that errors or lost terms add up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import frexp
from typing import TypeAlias

from teenyc.check.facts import Facts
from teenyc.diagnostics.model import Reporter
from teenyc.intrinsics import TABLE
from teenyc.ir import nodes as ir
from teenyc.ir.walk import operands_of, statements_of
from teenyc.types import F32, F64, DType, Element, Kind, TensorType

Origins: TypeAlias = "Mapping[int, tuple[ir.Statement | None, tuple[ir.Operand, ...]]]"
"""The statement that gives each value, and what it is made of or may be."""

_ROUNDING = frozenset({"math", "libdevice", "linear algebra"})
_EXACT = frozenset({"abs", "ceil", "clamp", "copysign", "floor", "maximum", "minimum", "where"})
_ADDING = frozenset({"sum", "prod", "softmax", "cumsum", "cumprod"})


def lint_carried(facts: Facts, reporter: Reporter) -> None:
    """Reports what a cast in a loop makes narrow that was computed from its last value."""
    origins = _origins(facts.kernel)
    for _, statement in statements_of(facts.kernel.body):
        if isinstance(statement, ir.For | ir.While):
            for carried, following in zip(statement.carried, statement.body.yields, strict=True):
                for let in _ends(following, origins):
                    _lint(facts, carried.inside, let, origins, reporter)


def is_narrow(element: Element) -> bool:
    """Whether an element is a float of less than 32 bits, by its name."""
    return isinstance(element, DType) and element.kind is Kind.FLOAT and element.bits < 32


def _ends(operand: ir.Operand, origins: Origins) -> Iterator[ir.Let]:
    """The operations that give an operand, in each branch that may."""
    source, operands = _origin(operand, origins)
    if isinstance(source, ir.Let) and not isinstance(source.operation, ir.Copy):
        yield source
    elif isinstance(source, ir.Let | ir.If):
        for each in operands:
            yield from _ends(each, origins)


def _lint(facts: Facts, inside: ir.Value, let: ir.Let, origins: Origins, reporter: Reporter) -> None:
    cast, result = let.operation, let.results[0]
    if not isinstance(cast, ir.Cast) or cast.implicit or not _is_narrower(result, cast.operand):
        return
    narrow, wide = (str(value.type.element) for value in (result, cast.operand) if isinstance(value.type, TensorType))
    is_sum = narrow != "f32" and _is_sum(cast.operand, inside, origins)
    if is_sum or _is_rounded_on(cast.operand, inside, origins):
        from teenyc.check.widening import widened
        from teenyc.diagnostics.catalog.lints import NarrowSum, RoundedInLoop

        kind = NarrowSum if is_sum else RoundedInLoop
        fix = widened(facts.places, let.span, wide, narrow)
        reporter.report(kind(span=let.span, element=narrow, name=inside.name, edit=fix))


def _is_narrower(following: ir.Operand, operand: ir.Operand) -> bool:
    """Whether a cast loses digits: to a named narrow float from whatever float, or to f32 from f64."""
    if not isinstance(following.type, TensorType) or not isinstance(operand.type, TensorType):
        return False
    return is_narrow(following.type.element) or (following.type.element, operand.type.element) == (F32, F64)


def _is_sum(operand: ir.Operand, inside: ir.Value, origins: Origins) -> bool:
    """Whether an operand is the carried value plus or minus something, perhaps under another name or type."""
    total = next((let.operation for let in _ends(operand, origins)), None)
    if not isinstance(total, ir.Binary) or total.operator not in ("add", "sub"):
        return False
    return any(_is_same(side, inside, origins) for side in (total.left, total.right))


def _is_same(operand: ir.Operand, value: ir.Value, origins: Origins) -> bool:
    while isinstance(operand, ir.Value) and operand.id != value.id:
        source, _ = _origin(operand, origins)
        if not isinstance(source, ir.Let) or not isinstance(source.operation, ir.Copy | ir.Cast):
            return False
        operand = source.operation.operand
    return isinstance(operand, ir.Value)


def _is_rounded_on(operand: ir.Operand, inside: ir.Value, origins: Origins) -> bool:
    """Whether an operand is computed from a value by a way on which something is rounded."""
    waiting, seen = [(operand, False)], set()
    while waiting:
        current, rounds = waiting.pop()
        if not isinstance(current, ir.Value) or (current.id, rounds) in seen:
            continue
        if current.id == inside.id:
            if rounds:
                return True
            continue
        seen.add((current.id, rounds))
        source, operands = _origin(current, origins)
        rounds = rounds or (isinstance(source, ir.Let) and _rounds(source.operation))
        waiting += [(each, rounds) for each in operands]
    return False


def _rounds(operation: ir.Operation) -> bool:
    match operation:
        case ir.Binary():
            is_scaled = operation.operator in ("mul", "div") and any(map(_is_power, (operation.left, operation.right)))
            return operation.operator in ("add", "sub", "mul", "div", "rem") and not is_scaled
        case ir.Call():
            record = TABLE[operation.intrinsic]
            return record.name in _ADDING or (record.family in _ROUNDING and record.name not in _EXACT)
        case _:
            return False


def _is_power(operand: ir.Operand) -> bool:
    """Whether an operand is a power of two, by which nothing is rounded."""
    return isinstance(operand, ir.Literal) and abs(frexp(float(operand.value))[0]) == 0.5


def _origins(kernel: ir.Kernel) -> Origins:
    found: dict[int, tuple[ir.Statement | None, tuple[ir.Operand, ...]]] = {}
    for _, statement in statements_of(kernel.body):
        match statement:
            case ir.Let():
                found.update((value.id, (statement, operands_of(statement))) for value in statement.results)
            case ir.If():
                for n, result in enumerate(statement.results):  # a side that returns gives nothing
                    sides = (block.yields[n : n + 1] for block in (statement.then, statement.otherwise))
                    found[result.id] = statement, tuple(each for side in sides for each in side)
            case ir.For() | ir.While():
                for carried, following in zip(statement.carried, statement.body.yields, strict=True):
                    found[carried.inside.id] = found[carried.result.id] = (statement, (carried.initial, following))
            case ir.Return():
                pass
    return found


def _origin(operand: ir.Operand, origins: Origins) -> tuple[ir.Statement | None, tuple[ir.Operand, ...]]:
    return origins.get(operand.id, (None, ())) if isinstance(operand, ir.Value) else (None, ())
