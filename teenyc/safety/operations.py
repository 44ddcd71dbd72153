"""Operations on symbols: a `Let` goes in, and what its results are comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, assert_never

from teenyc.ir.intervals import of_type
from teenyc.ir.lanes import Lanes, lanes_of, order_of
from teenyc.ir.masks import moved as moved_positions
from teenyc.ir.nodes import (
    Apply,
    Binary,
    Call,
    Cast,
    Compare,
    Copy,
    ExpandDims,
    Let,
    Offset,
    Operand,
    Unary,
    Value,
)
from teenyc.ir.polynomials import Polynomial
from teenyc.safety.formulas import All, Formula, Some, at_most, below, equal, negated
from teenyc.safety.symbols import WIDE, Address, Flag, Number, Symbol, moved
from teenyc.safety.terms import ONE, ZERO, constant, known_number, minus, negative, plus, scaled, times
from teenyc.types import DType, Extent, TensorType, is_integer

if TYPE_CHECKING:
    from teenyc.safety.machine import Machine

COMPARE: Mapping[str, Callable[[Polynomial, Polynomial], Formula]] = {
    "lt": below,
    "le": at_most,
    "gt": lambda a, b: below(b, a),
    "ge": lambda a, b: at_most(b, a),
    "eq": equal,
    "ne": lambda a, b: negated(equal(a, b)),
}


def operation_of(machine: Machine, let: Let) -> tuple[Symbol, ...]:
    """The symbols of the results of a statement."""
    operation = let.operation
    if len(let.results) != 1:
        return tuple(_unknown(machine, let, value) for value in let.results)
    (value,) = let.results
    match operation:
        case Copy():
            found = machine.of(operation.operand)
        case ExpandDims():
            found = _expanded(machine, operation, value)
        case Offset():
            found = _offset(machine, operation)
        case Compare():
            found = _compared(machine, operation)
        case Unary() | Binary():
            found = _computed(machine, operation, value)
        case Cast():
            found = _cast(machine, operation, value)
        case Call():
            rule = _CALLS.get(operation.intrinsic)
            found = rule(machine, let, operation) if rule is not None else _laned(machine, operation, value)
        case Apply():
            found = None
        case _:
            assert_never(operation)
    return (_checked(machine, let, value, found),)


def _checked(machine: Machine, let: Let, value: Value, found: Symbol) -> Symbol:
    """What was computed, if it is what the kernel computes: a number that may wrap is not."""
    if found is None:
        return _unknown(machine, let, value)
    if isinstance(found, Number) and not machine.holds(value, found.polynomial):
        return machine.unknown(value, "arithmetic that may wrap", let.span, wraps=True)
    return found


def _unknown(machine: Machine, let: Let, value: Value) -> Symbol:
    operation = let.operation
    if isinstance(operation, Call):
        why = "what is loaded" if operation.intrinsic == "load" else f"the result of `{operation.intrinsic}`"
    elif isinstance(operation, Cast):
        why = "a cast"
    else:
        why = "arithmetic"
    return machine.unknown(value, why, let.span, wraps=isinstance(operation, Cast) and _is_integer(operation.operand))


def _is_integer(operand: Operand) -> bool:
    return isinstance(operand.type, TensorType) and is_integer(operand.type.element)


# ---- operators ------------------------------------------------------------------------------------------------------


def _expanded(machine: Machine, operation: ExpandDims, value: Value) -> Symbol:
    symbol, rank = machine.of(operation.operand), len(_shape(value))
    positions = tuple(range(len(operation.axes) - rank, 0))
    return moved(symbol, dict(zip(positions, moved_positions(positions, operation.axes, rank), strict=True)))


def _offset(machine: Machine, operation: Offset) -> Symbol:
    pointer, offset = machine.of(operation.pointer), machine.number(operation.offset)
    if not isinstance(pointer, Address) or offset is None:
        return None
    steps = {operation.offset.id} if isinstance(operation.offset, Value) else set[int]()
    return Address(pointer.root, plus(pointer.offset, offset), pointer.steps | steps)


def _compared(machine: Machine, operation: Compare) -> Symbol:
    left, right = machine.of(operation.left), machine.of(operation.right)
    match left, right:
        case Number(), Number():
            if machine.fits(left.polynomial, WIDE) and machine.fits(right.polynomial, WIDE):
                return Flag(COMPARE[operation.operator](left.polynomial, right.polynomial))
            return None
        case Flag(), Flag() if operation.operator in ("eq", "ne"):
            both = All((left.formula, right.formula))
            neither = All((negated(left.formula), negated(right.formula)))
            same = Some((both, neither))
            return Flag(same if operation.operator == "eq" else negated(same))
        case _:
            return None


def _computed(machine: Machine, operation: Unary | Binary, value: Value) -> Symbol:
    if isinstance(operation, Unary):
        symbol = machine.of(operation.operand)
        if isinstance(symbol, Flag):
            return Flag(negated(symbol.formula))
        if not isinstance(symbol, Number):
            return None
        return Number(
            negative(symbol.polynomial) if operation.operator == "neg" else minus({(): -1}, symbol.polynomial)
        )
    left, right = machine.of(operation.left), machine.of(operation.right)
    match left, right:
        case Flag(), Flag():
            return _joined(operation.operator, left.formula, right.formula)
        case Number(), Number():
            found = _BINARY[operation.operator](machine, left.polynomial, right.polynomial, value)
            return None if found is None else Number(found)
        case _:
            return None


def _joined(operator: str, a: Formula, b: Formula) -> Symbol:
    match operator:
        case "and":
            return Flag(All((a, b)))
        case "or":
            return Flag(Some((a, b)))
        case "xor":
            return Flag(Some((All((a, negated(b))), All((negated(a), b)))))
        case _:
            return None


Rule = Callable[["Machine", Polynomial, Polynomial, Value], "Polynomial | None"]


def _quotient(machine: Machine, a: Polynomial, b: Polynomial, value: Value) -> Polynomial | None:
    if not machine.fits(a, WIDE) or not machine.fits(b, WIDE):
        return None
    return machine.numbers.quotient(a, b, machine.here)


def _remainder(machine: Machine, a: Polynomial, b: Polynomial, value: Value) -> Polynomial | None:
    quotient = _quotient(machine, a, b, value)
    whole = None if quotient is None else times(quotient, b)
    return None if whole is None else machine.terms.rewritten(minus(a, whole))


def _and(machine: Machine, a: Polynomial, b: Polynomial, value: Value) -> Polynomial | None:
    """`x & (2ⁿ - 1)` is a remainder."""
    for number, mask in ((a, known_number(b)), (b, known_number(a))):
        if mask is not None and mask > 0 and mask & (mask + 1) == 0:
            return _remainder(machine, number, constant(mask + 1), value)
    return None


def _shifted(machine: Machine, a: Polynomial, b: Polynomial, value: Value, *, is_left: bool) -> Polynomial | None:
    count, element = known_number(b), _element(value)
    if count is None or not isinstance(element, DType) or not 0 <= count < element.bits:
        return None
    return scaled(a, 1 << count) if is_left else _quotient(machine, a, constant(1 << count), value)


_BINARY: Mapping[str, Rule] = {
    "add": lambda machine, a, b, value: plus(a, b),
    "sub": lambda machine, a, b, value: minus(a, b),
    "mul": lambda machine, a, b, value: times(a, b),
    "div": _quotient,
    "rem": _remainder,
    "and": _and,
    "or": lambda machine, a, b, value: None,
    "xor": lambda machine, a, b, value: None,
    "shl": lambda machine, a, b, value: _shifted(machine, a, b, value, is_left=True),
    "shr": lambda machine, a, b, value: _shifted(machine, a, b, value, is_left=False),
}


def _cast(machine: Machine, operation: Cast, value: Value) -> Symbol:
    """A conversion that keeps every number, as it is; of a flag 0 or 1."""
    symbol, element = machine.of(operation.operand), _element(value)
    if not isinstance(element, DType):
        return None
    if isinstance(symbol, Flag) and is_integer(element):
        return Number(machine.numbers.flag(symbol.formula, ("flag", value.id)))
    if not isinstance(symbol, Number) or not is_integer(element):
        return None
    source = _element(operation.operand)
    is_wide = isinstance(source, DType) and source.bits == 64 and not machine.fits(symbol.polynomial, WIDE)
    return None if is_wide or not machine.fits(symbol.polynomial, of_type(element)) else symbol


# ---- calls ----------------------------------------------------------------------------------------------------------


def _laned(machine: Machine, call: Call, value: Value) -> Symbol:
    """A call that gives an operand as it is, broadcast or with its axes in another order."""
    match lanes_of(call.intrinsic):
        case Lanes.STRETCHED if len(call.operands) == 1:
            return machine.of(call.operands[0][1])
        case Lanes.PERMUTED:
            rank = len(_shape(value))
            order, symbol = order_of(call, rank), machine.of(call.operands[0][1])
            return moved(symbol, {axis - rank: order.index(axis) - rank for axis in range(rank)})
        case _:
            return None


def _arange(machine: Machine, let: Let, call: Call) -> Symbol:
    """The lane of an axis: the same one wherever the ends are the same."""
    start, end = (_extent(machine, call.attribute(name, 0)) for name in ("start", "end"))
    if start is None or end is None:
        return None
    name = let.results[0].name or "lane"
    return Number(machine.numbers.lane(name, start, end))


def _extent(machine: Machine, extent: object) -> Polynomial | None:
    if isinstance(extent, int):
        return constant(extent)
    return machine.launch.extent(extent) if isinstance(extent, Extent) else None


def _program_id(machine: Machine, let: Let, call: Call) -> Symbol:
    axis = call.attribute("axis", 0)
    return Number(machine.launch.index(axis, let.results[0].name)) if isinstance(axis, int) else None


def _num_programs(machine: Machine, let: Let, call: Call) -> Symbol:
    axis = call.attribute("axis", 0)
    return Number(machine.launch.programs[axis]) if isinstance(axis, int) else None


def _extremum(machine: Machine, let: Let, call: Call) -> Symbol:
    a, b = (machine.number(operand) for _, operand in call.operands[:2])
    if a is None or b is None or not machine.fits(a, WIDE) or not machine.fits(b, WIDE):
        return None
    choose = machine.numbers.least if call.intrinsic == "minimum" else machine.numbers.most
    return Number(choose(a, b, machine.here))


def _clamp(machine: Machine, let: Let, call: Call) -> Symbol:
    numbers = [machine.number(operand) for _, operand in call.operands[:3]]
    if len(numbers) != 3 or not all(n is not None and machine.fits(n, WIDE) for n in numbers):
        return None
    x, low, high = (n for n in numbers if n is not None)
    return Number(machine.numbers.least(machine.numbers.most(x, low, machine.here), high, machine.here))


def _cdiv(machine: Machine, let: Let, call: Call) -> Symbol:
    over, under = (machine.number(operand) for _, operand in call.operands[:2])
    if over is None or under is None or not machine.fits(over, WIDE) or not machine.fits(under, WIDE):
        return None
    found = machine.numbers.quotient(minus(plus(over, under), ONE), under, machine.here)
    return None if found is None else Number(found)


def _absolute(machine: Machine, let: Let, call: Call) -> Symbol:
    number = machine.number(call.operands[0][1])
    if number is None or not machine.fits(number, WIDE):
        return None
    return Number(machine.numbers.most(number, negative(number), machine.here))


def _where(machine: Machine, let: Let, call: Call) -> Symbol:
    condition = machine.flag(call.operand("condition"))
    one, two = (machine.of(operand) for _, operand in call.operands[1:3])
    (value,) = let.results
    if condition is None:
        return one if one is not None and one == two else None
    return machine.merged(value, condition, one, two, let.span)


def _zeros(machine: Machine, let: Let, call: Call) -> Symbol:
    element = _element(let.results[0])
    return Number(ZERO) if isinstance(element, DType) and is_integer(element) else None


def _first(machine: Machine, let: Let, call: Call) -> Symbol:
    """The value itself: of a hint, of `full`."""
    return machine.of(call.operands[0][1])


_CALLS: Mapping[str, Callable[[Machine, Let, Call], Symbol]] = {
    "abs": _absolute,
    "arange": _arange,
    "cdiv": _cdiv,
    "clamp": _clamp,
    "full": _first,
    "max_constancy": _first,
    "max_contiguous": _first,
    "maximum": _extremum,
    "minimum": _extremum,
    "multiple_of": _first,
    "num_programs": _num_programs,
    "program_id": _program_id,
    "where": _where,
    "zeros": _zeros,
}


def _shape(value: Value) -> tuple[Extent, ...]:
    return value.type.shape if isinstance(value.type, TensorType) else ()


def _element(operand: Operand) -> object:
    return operand.type.element if isinstance(operand.type, TensorType) else None
