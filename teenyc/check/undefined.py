"""Reports of undefined lanes, each with the `other` that makes no difference where they are used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from teenyc.check.context import Context
from teenyc.check.facts import Facts
from teenyc.diagnostics.model import Diagnostic, Fix
from teenyc.intrinsics import TABLE, spoken
from teenyc.intrinsics.spec import Effect
from teenyc.ir import nodes as ir
from teenyc.ir.fills import SOME, Number, folded
from teenyc.ir.undefined import UndefinedUse, undefined_uses
from teenyc.ir.walk import definitions, operands_of, statements_of
from teenyc.record import replace
from teenyc.source import Span
from teenyc.types import BOOL, DType, Element, Kind, TensorType, is_float, is_generic_number, is_integer

if TYPE_CHECKING:
    from teenyc.check.places import Places

NEUTRAL: Mapping[str, float] = {
    "argmax": -math.inf,
    "argmin": math.inf,
    "atomic_and": -1.0,
    "atomic_max": -math.inf,
    "atomic_min": math.inf,
    "cumprod": 1.0,
    "max": -math.inf,
    "max_with_indices": -math.inf,
    "min": math.inf,
    "min_with_indices": math.inf,
    "prod": 1.0,
    "reduce_and": -1.0,
    "softmax": -math.inf,
    "sort": math.inf,
    "topk": -math.inf,
}
"""The number that makes no difference to an operation; 0 for those that are not here."""

NO_NEUTRAL = frozenset({"histogram", "reduce", "associative_scan", "map_elementwise"})
"""Operations for which no number is known to make no difference."""

_WORDS: Mapping[str, str] = {
    "address": "an address",
    "mask": "a mask",
    "condition": "a condition",
    "bound": "a bound of a loop",
}

_DEEPEST = 64
"""So many operations between a load and its use are followed to find the number to fill in."""


def check_undefined(context: Context, facts: Facts) -> None:
    """Reports every place of a kernel where undefined lanes make a difference."""
    found = [replace(each, sink=spoken(each.sink)) for each in undefined_uses(facts.kernel, facts.masks)]
    if not found:
        return
    made = {value.id: s for _, s in statements_of(facts.kernel.body) for value in definitions(s)}
    others = [neutral_other(each, made) for each in found]
    wanted: dict[int, set[str | None]] = {}
    for each, other in zip(found, others, strict=True):
        if not writes_lanes(each):
            wanted.setdefault(each.load.results[0].id, set()).add(other)
    for each, other in zip(found, others, strict=True):
        is_one = wanted.get(each.load.results[0].id, set()) <= {other}
        context.report(_report(context, facts.places, each, made, other, is_one=is_one))


def _report(
    context: Context,
    places: Places,
    found: UndefinedUse,
    made: Mapping[int, ir.Statement],
    other: str | None,
    *,
    is_one: bool,
) -> Diagnostic:
    """The report of a use; `is_one` if all that would see the lanes could do with the same number."""
    from teenyc.diagnostics.catalog.memory import UndefinedLanes, UndefinedStore

    name, load = found.operand.name, found.load.span
    edit = _edit(context, found.load.results[0].id, other) if is_one else None
    if writes_lanes(found):
        edit = _guard(places, found) or (edit if not _is_plain_store(found) else None)
        return UndefinedStore(span=found.use.span, function=found.sink, name=name, load=load, other=other, edit=edit)
    sink = _WORDS.get(found.sink, f"`{found.sink}`")
    span = _place(found, made)
    return UndefinedLanes(span=span, name=name, sink=sink, load=load, other=other, is_one=is_one, edit=edit)


def writes_lanes(found: UndefinedUse) -> bool:
    """Whether the lanes are stored, and not used for more than that."""
    record = TABLE.get(found.sink)
    return record is not None and Effect.WRITES in record.effects


def _place(found: UndefinedUse, made: Mapping[int, ir.Statement]) -> Span:
    """The use; of an `if` or a loop what is computed in its head, or the word with which it begins."""
    span = found.use.span
    if isinstance(found.use, ir.Let):
        return span
    head = made[found.operand.id].span if found.operand.id in made else span
    if span.start < head.start and head.end < span.end:
        return head
    return Span(span.start, span.start + (2 if isinstance(found.use, ir.If) else 1))


# ---- what to fill in ------------------------------------------------------------------------------------------------


def neutral_other(found: UndefinedUse, made: Mapping[int, ir.Statement]) -> str | None:
    """The text of a number for the load that makes no difference at the use; None where none is known."""
    if found.sink in NO_NEUTRAL:
        return None
    use = found.use.operation if isinstance(found.use, ir.Let) else None
    neutral = NEUTRAL.get(found.sink, 0.0)
    if isinstance(use, ir.Call) and use.attribute("descending") is True and neutral == math.inf:
        neutral = -math.inf
    loaded = found.load.results[0].type
    if not isinstance(loaded, TensorType):
        return None
    if writes_lanes(found):
        return number_text(0.0, loaded.element)
    lowest = _finite(neutral, found.operand)
    for candidate in dict.fromkeys((neutral, 0.0, -math.inf, math.inf, 1.0)):
        number = _finite(candidate, found.load.results[0])
        if _reached(found.operand, {found.load.results[0].id: number}, made, _DEEPEST) == lowest:
            return number_text(candidate, loaded.element)
    return None


def _finite(number: float, value: ir.Value) -> float:
    """The number as the value's element type has it: the least integer for minus infinity."""
    element = value.type.element if isinstance(value.type, TensorType) else None
    if not isinstance(element, DType) or not is_integer(element) or not math.isinf(number):
        return number
    return float(element.minimum if number < 0 else element.maximum)


def _reached(operand: ir.Operand, known: dict[int, Number], made: Mapping[int, ir.Statement], depth: int) -> Number:
    """The number in a lane of an operand, from those of the loads in `known`."""
    if isinstance(operand, ir.Literal):
        return float(operand.value)
    if not isinstance(operand, ir.Value):
        return SOME
    if operand.id not in known:
        statement = made.get(operand.id)
        known[operand.id] = SOME
        if depth and isinstance(statement, ir.Let) and isinstance(operand.type, TensorType):
            numbers = [_reached(o, known, made, depth - 1) for o in operands_of(statement)]
            known[operand.id] = folded(statement.operation, numbers, operand.type.element)
    return known[operand.id]


def number_text(number: float, element: Element) -> str | None:
    """A number as a source has it for `other` of a load of that element type."""
    if element == BOOL:
        return "true" if number else "false"
    if is_generic_number(element):
        return f"{element}::from_i32({int(number)})" if math.isfinite(number) else None
    if is_integer(element):
        names = {-math.inf: f"{element}::MIN", math.inf: f"{element}::MAX"}
        return names.get(number) or str(int(number))
    if not is_float(element):
        return None
    owner = element if isinstance(element, DType) and element.kind is Kind.FLOAT else "f32"
    names = {-math.inf: f"{owner}::NEG_INFINITY", math.inf: f"{owner}::INFINITY"}
    return names.get(number) or str(number)


def _edit(context: Context, load: int, other: str | None) -> Fix | None:
    """Puts `other` into the call."""
    place = context.others.get(load)
    if place is None or other is None:
        return None
    return Fix(place.span, f"Some({other})" if place.is_given else f", other = {other}")


def _guard(places: Places, found: UndefinedUse) -> Fix | None:
    """Puts the mask of the load into a store of the same lanes that has none."""
    if not _is_plain_store(found) or found.operand.type != found.load.results[0].type:
        return None
    call, load = places.call(found.use.span), places.call(found.load.span)
    mask = load.value("mask") if load is not None else None
    text = places.repeated(mask, found.use.span) if mask is not None else None
    return call.adding("mask", text) if call is not None and text is not None else None


def _is_plain_store(found: UndefinedUse) -> bool:
    """Whether lanes are stored by pointers: no extents keep them from what lies behind, as those of a block do."""
    store = found.use.operation if isinstance(found.use, ir.Let) else None
    return isinstance(store, ir.Call) and store.intrinsic == "store"
