"""What padding asks of one statement: the plan that a rule makes, and what the rule sees of the statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from math import inf, nan
from typing import TypeAlias

from teenyc.ir.nodes import Let, Literal, Operand, Value
from teenyc.ir.pad.extents import Pads
from teenyc.ir.pad.fills import Fill
from teenyc.record import record
from teenyc.types import (
    ONE,
    DescriptorType,
    DType,
    Element,
    Extent,
    Kind,
    Pointer,
    Shape,
    TensorType,
    is_float,
)

Fills: TypeAlias = "tuple[Fill, ...]"
"""The fill of each axis of a value; None on an axis that is not padded."""


class Neutral(Enum):
    """What padding lanes hold so that an operation does not see them."""

    ZERO = "zero"
    ONE = "one"
    TRUE = "true"
    ALL_BITS = "all bits"
    LEAST = "least"  # below or equal to every number
    GREATEST = "greatest"
    IGNORED_BY_MAX = "ignored by max"  # of floats NaN: it changes no maximum, not even that of NaNs alone
    IGNORED_BY_MIN = "ignored by min"


@record
class Repair:
    """An operand whose padding lanes along some axes must hold a number; it is called as the operation calls it."""

    operand: str
    axes: tuple[int, ...]
    number: int | float | bool


@record
class Plan:
    """What becomes of one statement.

    `fills` are those of the results. `repairs` come before it. An access is `guarded`: the padding lanes of its shape,
    along these axes, touch no memory. The places that result number `limited[0]` holds are kept below an extent.
    Arguments that are `dropped` get their default again; `refusal` says why there is no plan.
    """

    fills: tuple[Fills, ...] = ()
    repairs: tuple[Repair, ...] = ()
    guarded: tuple[int, ...] = ()
    limited: tuple[int, Extent] | None = None
    dropped: tuple[str, ...] = ()
    refusal: str | None = None


def refused(why: str) -> Plan:
    """No plan."""
    return Plan(refusal=why)


@record
class Site:
    """One statement for a rule to judge. Shapes and axes are the source's; `fills` gives what is known of a value."""

    let: Let
    pads: Pads
    fills: Callable[[Value], Fills]

    def padded(self, operand: Operand | None) -> tuple[int, ...]:
        """The padded axes of an operand."""
        return self.pads.axes(shape_of(operand))

    def fill(self, operand: Operand, from_last: int) -> Fill:
        """What an operand holds where the axis `from_last` (-1 is the last one) of the statement has padding lanes."""
        if isinstance(operand, Literal):
            return operand.value
        shape = shape_of(operand)
        place = len(shape) + from_last
        if place < 0 or not isinstance(operand, Value) or not self.pads.touches(shape[place]):
            return None
        return self.fills(operand)[place]

    def held(self, operand: Operand | None) -> Fills:
        """The fills of an operand by its own axes."""
        return self.fills(operand) if isinstance(operand, Value) else ()

    def guarded(self, shape: Shape, mask: Operand | None) -> tuple[int, ...]:
        """The padded axes of an access along which its mask may be true in padding lanes."""
        rank = len(shape)
        return tuple(a for a in self.pads.axes(shape) if mask is None or self.fill(mask, a - rank) is not False)

    def repair(self, name: str, operand: Operand, axes: Iterable[int], neutral: Neutral) -> tuple[Repair, ...] | None:
        """What makes the padding lanes along those axes that are padded neutral; None where no number is."""
        wanted = [axis for axis in axes if axis in self.padded(operand)]
        if not wanted or not isinstance(operand, Value):
            return ()
        number = number_of(neutral, element_of(operand))
        if number is None:
            return None
        open_axes = tuple(axis for axis in wanted if self.fills(operand)[axis] != number)
        return (Repair(name, open_axes, number),) if open_axes else ()

    def results(self, fills: Iterable[Fill]) -> tuple[Fills, ...]:
        """One row of fills for every result; axes that are not padded have none."""
        row = tuple(fills)
        return tuple(self.settled(result, row) for result in self.let.results)

    def unknown(self) -> tuple[Fills, ...]:
        """Results of which nothing is known."""
        return tuple((None,) * len(shape_of(result)) for result in self.let.results)

    def settled(self, result: Value, row: Fills) -> Fills:
        """A row of fills without those of axes that are not padded."""
        pairs = zip(row, shape_of(result), strict=True)
        return tuple(fill if self.pads.touches(extent) else None for fill, extent in pairs)


def repaired(fills: Fills, repairs: Iterable[Repair], name: str) -> Fills:
    """The fills of an operand after its repairs: what another axis holds stays known only if it is the same number."""
    for repair in repairs:
        if repair.operand == name:
            number = repair.number if repair.number == repair.number else None  # NaN is not told apart later
            fills = tuple(
                number if axis in repair.axes else fill if fill == number else None for axis, fill in enumerate(fills)
            )
    return fills


def number_of(neutral: Neutral, element: Element) -> int | float | bool | None:
    """The number that is neutral among elements of a type; None where that depends on what a `D: Num` stands for."""
    match neutral:
        case Neutral.ZERO:
            return _plain(0, element)
        case Neutral.ONE:
            return _plain(1, element)
        case Neutral.TRUE:
            return True
        case Neutral.ALL_BITS:
            return _all_bits(element)
        case Neutral.LEAST | Neutral.IGNORED_BY_MAX:
            special = nan if neutral is Neutral.IGNORED_BY_MAX else -inf
            return special if is_float(element) else _bound(element, "minimum")
        case Neutral.GREATEST | Neutral.IGNORED_BY_MIN:
            special = nan if neutral is Neutral.IGNORED_BY_MIN else inf
            return special if is_float(element) else _bound(element, "maximum")


def _plain(number: int, element: Element) -> int | float | bool | None:
    if isinstance(element, Pointer):
        return None
    if isinstance(element, DType) and element.kind is Kind.BOOL:
        return bool(number)
    return float(number) if is_float(element) else number


def _all_bits(element: Element) -> int | bool | None:
    if not isinstance(element, DType):
        return None
    return True if element.kind is Kind.BOOL else -1 if element.kind is Kind.SIGNED else element.maximum


def _bound(element: Element, end: str) -> int | None:
    """The least or greatest number of a named integer type."""
    if not isinstance(element, DType) or element.kind not in (Kind.SIGNED, Kind.UNSIGNED):
        return None
    return element.minimum if end == "minimum" else element.maximum


def shape_of(operand: Operand | None) -> Shape:
    """The shape of an operand; that of a descriptor is its block's."""
    match operand.type if operand is not None else None:
        case TensorType(shape=shape):
            return shape
        case DescriptorType(block=block):
            return block
        case _:
            return ()


def element_of(operand: Operand) -> Element:
    """The element type of a tensor or scalar."""
    assert isinstance(operand.type, TensorType), "a descriptor has no lanes"
    return operand.type.element


def misfit(shapes: Iterable[Shape], pads: Pads) -> str | None:
    """Why shapes do not meet once they are padded: extents of two names, equal by a `static_assert`, stay apart."""
    extents: dict[int, Extent] = {}
    for shape in shapes:
        for place, extent in enumerate(reversed(shape)):
            other = extents.setdefault(place, extent)
            if other == ONE:
                extents[place] = extent
            elif extent not in (other, ONE) and (pads.touches(extent) or pads.touches(other)):
                return f"axes of extents `{other}` and `{extent}` meet, whose padding differs"
    return None
