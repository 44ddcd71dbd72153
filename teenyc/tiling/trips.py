"""Trips: the bounds of a loop go in; out come those of the program that makes all iterations which any program makes.

That is the first along the blocked axes, where its bounds are the widest: `k_row..n` begins at 0 there.
"""

from __future__ import annotations

from collections.abc import Collection

from teenyc.ir.nodes import Binary, Call, Cast, Constant, Copy, For, Kernel, Literal, Operand, Value
from teenyc.record import record
from teenyc.tiling.slices import Slices, bits_of
from teenyc.types import Extent


@record
class Range:
    """From `start` on, a step of 1 each, as many iterations as `extent` says: polynomials over what a launch gives."""

    start: Extent
    extent: Extent


@record
class _Bound:
    """An integer of the first program, and how it changes with the index: it rises (1), falls (-1), or is the same."""

    first: Extent
    trend: int = 0


def range_of(kernel: Kernel, loop: For, slices: Slices, blocked: Collection[int]) -> Range | str:
    """The iterations of the first program along some axes, or why these are not those of all."""
    known = {c.name: int(c.known) for c in kernel.constants if c.known is not None}
    start = _bound(_without(loop.start, "minimum", loop.stop, slices), slices, blocked)
    stop = _bound(_without(loop.stop, "maximum", loop.start, slices), slices, blocked)
    if not isinstance(loop.step, Literal) or loop.step.value != 1:
        return "the loop leaves out numbers between its bounds"
    if start is None or stop is None:
        return "which iterations there are is no polynomial of the kernel's parameters"
    if start.trend < 0 or stop.trend > 0:
        return "the first program does not make all iterations that others make"
    return Range(start.first.substitute(known), (stop.first - start.first).substitute(known))


def _without(bound: Operand, limit: str, other: Operand, slices: Slices) -> Operand:
    """A bound that may lie beyond the other one, at which it was cut: there is no iteration there."""
    cut, end = _plain(bound, slices), _plain(other, slices)
    let = slices.lets.get(cut.id) if isinstance(cut, Value) else None
    match let.operation if let is not None else None:
        case Call(intrinsic=name, operands=((_, one), (_, two))) if name == limit:
            rest = [operand for operand in (one, two) if _plain(operand, slices) != end]
            return rest[0] if len(rest) == 1 else bound
    return bound


def _plain(operand: Operand, slices: Slices) -> Operand:
    """The integer that another one is in another type."""
    let = slices.lets.get(operand.id) if isinstance(operand, Value) else None
    match let.operation if let is not None else None:
        case Copy(operand=inner) | Cast(operand=inner) if bits_of(inner):
            return _plain(inner, slices)
    return operand


def _bound(operand: Operand, slices: Slices, blocked: Collection[int]) -> _Bound | None:
    match operand:
        case Literal(value=value):
            return _Bound(Extent.of(int(value)))
        case Constant(name=name):
            return _Bound(Extent.of(name))
    if operand.id in slices.free:
        is_number = bits_of(operand) and not slices.free[operand.id].counts
        return _Bound(Extent.of(operand.name)) if is_number else None
    let = slices.lets.get(operand.id)
    match let.operation if let is not None else None:
        case Copy(operand=inner) | Cast(operand=inner) if 0 < bits_of(inner) <= bits_of(operand):
            return _bound(inner, slices, blocked)
        case Call(intrinsic="program_id") as call if call.attribute("axis", 0) in blocked:
            return _Bound(Extent.of(0), 1)
        case Binary(operator=operator, left=one, right=other) if bits_of(operand):
            return _combined(operator, _bound(one, slices, blocked), _bound(other, slices, blocked))
        case Call(intrinsic="minimum" | "maximum" as operator, operands=((_, one), (_, other))) if bits_of(operand):
            return _combined(operator, _bound(one, slices, blocked), _bound(other, slices, blocked))
    return None


def _combined(operator: str, one: _Bound | None, other: _Bound | None) -> _Bound | None:
    """What an operation makes of two integers, where that is known."""
    if one is None or other is None:
        return None
    a, b = one.first, other.first
    match operator:
        case "add":
            return _changing(a + b, one.trend, other.trend)
        case "sub":
            return _changing(a - b, one.trend, -other.trend)
        case "mul" if one.trend == other.trend == 0:
            return _Bound(a * b)
        case "mul" if (factor := b.known) is not None and other.trend == 0:
            return _Bound(a * b, one.trend * ((factor > 0) - (factor < 0)))
        case "minimum" | "maximum" if a.known is not None and b.known is not None:
            chosen = min(a.known, b.known) if operator == "minimum" else max(a.known, b.known)
            return _changing(Extent.of(chosen), one.trend, other.trend)
    return None


def _changing(first: Extent, one: int, other: int) -> _Bound | None:
    """A number that changes with two others, unless these go opposite ways."""
    return _Bound(first, one or other) if one * other >= 0 else None
