"""Padding, rule by rule: a statement goes in, the plan by which its padding lanes are never seen comes out.

An intrinsic that has no rule here and does not work element by element is refused where it meets a padded axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from teenyc.intrinsics.spec import Intrinsic
from teenyc.ir.nodes import (
    Apply,
    Binary,
    Call,
    Cast,
    Compare,
    Copy,
    ExpandDims,
    Literal,
    Offset,
    Operation,
    Unary,
    Value,
)
from teenyc.ir.pad.fills import Beyond, Fill, fill_of, met
from teenyc.ir.pad.plan import (
    Fills,
    Neutral,
    Plan,
    Repair,
    Site,
    element_of,
    misfit,
    refused,
    shape_of,
)
from teenyc.ir.pad.reductions import REDUCTIONS, Rule, axes_of, neutralised
from teenyc.ir.walk import operands_of
from teenyc.types import ONE, Extent, Pointer, Shape, TensorType, is_generic_number, is_integer

ELEMENTWISE = frozenset({"bits", "conversion", "hints", "libdevice", "math", "random"})
"""Families whose functions give each element from those at the same place."""

BLOCKS = "descriptors"
"""The family of accesses to blocks, which become accesses through pointers before anything is padded."""


def plan_of(site: Site) -> Plan:
    """The plan of one operation."""
    let = site.let
    extents = [e for operand in (*operands_of(let), *let.results) for e in shape_of(operand) if site.pads.touches(e)]
    if not extents and not _passes_constant(let.operation, site):
        return Plan(fills=site.unknown())
    for extent in extents:
        if not site.pads.is_sound(extent):
            return refused(f"an axis of extent `{extent}` does not become a power of two with its constants")
    match let.operation:
        case ExpandDims():
            return _expanded(site, let.operation)
        case Copy() | Unary() | Binary() | Compare() | Cast() | Offset():
            return _elementwise(site, let.operation)
        case Apply():
            return refused(f"the function `{let.operation.function}` is called as such")
        case Call():
            return _call(site, let.operation)
        case _:
            assert_never(let.operation)


def _passes_constant(operation: Operation, site: Site) -> bool:
    """Whether a function gets a padded constant, of which it may make axes."""
    given = operation.constants if isinstance(operation, Apply) else ()
    return any(isinstance(o, Value) or getattr(o, "name", "") in site.pads.constants for _, o in given)


def _call(site: Site, call: Call) -> Plan:
    from teenyc.intrinsics import TABLE

    record = TABLE.get(call.intrinsic)
    rule = _RULES.get(call.intrinsic)
    if rule is not None:
        return rule(site, call)
    if record is not None and record.family == BLOCKS:
        return _unknown(site, call)
    if record is not None and _is_elementwise(record):
        return _elementwise(site, call)
    return refused(f"`{call.intrinsic}` would see the padding")


def _is_elementwise(record: Intrinsic) -> bool:
    return not record.effects and record.family in ELEMENTWISE


# ---- element by element ---------------------------------------------------------------------------------------------


def _elementwise(site: Site, operation: Operation) -> Plan:
    operands = operands_of(operation)
    why = misfit([*map(shape_of, operands), *map(shape_of, site.let.results)], site.pads)
    if why is not None:
        return refused(why)
    ranks = {len(shape_of(result)) for result in site.let.results}
    if ranks != {max(len(shape_of(operand)) for operand in operands)}:
        return refused("its result has other axes than its operands")
    repairs = _divisor(site, operation)
    return Plan(fills=site.results(_met_fills(site, operation)), repairs=repairs)


def _met_fills(site: Site, operation: Operation) -> Fills:
    """The fill of each axis of an element-wise result."""
    result = site.let.results[0]
    if not isinstance(result.type, TensorType) or isinstance(result.type.element, Pointer):
        return (None,) * len(shape_of(result))
    element, rank, operands = result.type.element, len(result.type.shape), operands_of(operation)
    places = range(-rank, 0)
    return tuple(fill_of(operation, element, tuple(site.fill(o, place) for o in operands)) for place in places)


def _divisor(site: Site, operation: Operation) -> tuple[Repair, ...]:
    """Integers are never divided by what padding lanes happen to hold: that has no meaning to a compiler."""
    match operation:
        case Binary(operator="div" | "rem", right=divisor):
            name = "right"
        case Call(intrinsic="cdiv"):
            name, divisor = "div", dict(operation.operands)["div"]
        case _:
            return ()
    if not is_integer(element_of(divisor)) and not is_generic_number(element_of(divisor)):
        return ()
    return site.repair(name, divisor, site.padded(divisor), Neutral.ONE) or ()


def _expanded(site: Site, operation: ExpandDims) -> Plan:
    fills = list(site.held(operation.operand))
    for axis in operation.axes:
        fills.insert(axis, None)
    return Plan(fills=site.results(fills))


def _uniform(number: Callable[[Call], Fill]) -> Rule:
    """A tensor whose elements are all one number."""

    def rule(site: Site, call: Call) -> Plan:
        return Plan(fills=site.results((number(call),) * len(shape_of(site.let.results[0]))))

    return rule


def _stated(call: Call) -> Fill:
    value = call.operand("value")
    return value.value if isinstance(value, Literal) else None


def _counted(site: Site, call: Call) -> Plan:
    """Padding lanes of a range from 0 count on from its extent."""
    (extent,) = shape_of(site.let.results[0])
    starts = call.attribute("start", 0) in (0, Extent.of(0))
    return Plan(fills=site.results((Beyond(extent) if starts else None,)))


def _unknown(site: Site, call: Call) -> Plan:
    return Plan(fills=site.unknown())


# ---- memory ---------------------------------------------------------------------------------------------------------


def _load(site: Site, call: Call) -> Plan:
    """Padding lanes hold `other`, or zero."""
    result, mask, other = site.let.results[0], call.operand("mask"), call.operand("other")
    rank = len(shape_of(result))
    guarded = site.guarded(shape_of(result), mask)
    if isinstance(element_of(result), Pointer):
        return Plan(fills=site.unknown(), guarded=guarded)
    return Plan(
        fills=site.results(0 if other is None else site.fill(other, n) for n in range(-rank, 0)), guarded=guarded
    )


def _written(site: Site, call: Call) -> Plan:
    pointer = call.operand("pointer")
    return Plan(fills=site.unknown(), guarded=site.guarded(shape_of(pointer), call.operand("mask")))


def _swapped(site: Site, call: Call) -> Plan:
    if site.padded(call.operand("pointer")):
        return refused(f"`{call.intrinsic}` takes no mask")
    return Plan(fills=site.unknown())


# ---- shapes ---------------------------------------------------------------------------------------------------------


def _stretched(site: Site, call: Call) -> Plan:
    """Each result is one of the operands, with more axes and extents of 1 stretched."""
    operands = [o for _, o in call.operands]
    why = misfit([*map(shape_of, operands), *map(shape_of, site.let.results)], site.pads)
    if why is not None:
        return refused(why)
    places = range(-len(shape_of(site.let.results[0])), 0)
    rows = [tuple(site.fill(operand, place) for place in places) for operand in operands]
    results = site.let.results
    return Plan(fills=tuple(site.settled(result, row) for result, row in zip(results, rows, strict=False)))


def _permuted(site: Site, call: Call) -> Plan:
    fills = site.held(call.operand("input"))
    rank = len(fills)
    dims = call.attribute("dims") or (*range(rank - 2), rank - 1, rank - 2)
    assert isinstance(dims, tuple), "the checker reads axes"
    return Plan(fills=site.results(fills[d] for d in dims if isinstance(d, int)))


def _reshaped(site: Site, call: Call) -> Plan:
    """Elements keep their places if each padded axis stays whole, with as many elements before it as it had."""
    source, (result,) = call.operands[0][1], site.let.results
    before, after = _places(site, shape_of(source)), _places(site, shape_of(result))
    if {key for key, _ in before} != {key for key, _ in after}:
        return refused("the elements of a padded axis would get other places")
    fills = site.held(source)
    moved = {key: fills[axis] for key, axis in before}
    known = {axis: moved[key] for key, axis in after}
    return Plan(fills=site.results(known.get(axis) for axis in range(len(shape_of(result)))))


def _places(site: Site, shape: Shape) -> list[tuple[tuple[Extent, Extent], int]]:
    """Each padded axis with its extent and the number of elements in front of it."""
    places = []
    total = ONE
    for axis, extent in enumerate(shape):
        if site.pads.touches(extent):
            places.append(((total, extent), axis))
        total = total * extent
    return places


def _reversed(site: Site, call: Call) -> Plan:
    source = call.operand("x")
    if set(axes_of(call, "dim", len(shape_of(source)))) & set(site.padded(source)):
        return refused("the padding would come to the front")
    return Plan(fills=site.results(site.held(source)))


def _joined(site: Site, call: Call) -> Plan:
    operands = [o for _, o in call.operands]
    why = misfit(map(shape_of, operands), site.pads)
    if why is not None:
        return refused(why)
    (result,) = site.let.results
    is_new = call.intrinsic == "join"
    places = range(-len(shape_of(result)) + is_new, 0)
    row = tuple(met(site.fill(operands[0], place), site.fill(operands[1], place)) for place in places)
    return Plan(fills=site.results((*row, None) if is_new else row))


def _split(site: Site, call: Call) -> Plan:
    return Plan(fills=site.results(site.held(call.operand("a"))[:-1]))


def _concatenated(site: Site, call: Call) -> Plan:
    first, second = call.operands[0][1], call.operands[1][1]
    dim = call.attribute("dim", 0)
    if site.pads.touches(shape_of(site.let.results[0])[dim if isinstance(dim, int) else 0]):
        return refused("the padding would come between the two")
    row = tuple(map(met, site.held(first), site.held(second)))
    return Plan(fills=site.results(row))


def _gathered(site: Site, call: Call) -> Plan:
    """Padding lanes take the first element: what they hold is no place."""
    return neutralised(site, call, "index", site.padded(call.operand("index")), Neutral.ZERO)


# ---- products, reports ----------------------------------------------------------------------------------------------


def _dot(site: Site, call: Call) -> Plan:
    """Both operands are zero in the padding of what is summed: a number times zero may be NaN."""
    repairs: tuple[Repair, ...] = ()
    for name, from_last in (("input", 1), ("other", 2)):
        operand = dict(call.operands)[name]
        repairs += site.repair(name, operand, (len(shape_of(operand)) - from_last,), Neutral.ZERO) or ()
    return Plan(fills=site.unknown(), repairs=repairs)


def _assembly(site: Site, call: Call) -> Plan:
    if call.attribute("is_pure") is not True:
        return refused("assembly that is not pure would run for the padding too")
    return _elementwise(site, call)


def _held(name: str, neutral: Neutral) -> Rule:
    """Something that is looked at in every lane."""

    def rule(site: Site, call: Call) -> Plan:
        repairs: tuple[Repair, ...] = ()
        for given, operand in call.operands:
            if given.rstrip("0123456789") == name:
                repairs += site.repair(given, operand, site.padded(operand), neutral) or ()
        return Plan(fills=site.unknown(), repairs=repairs)

    return rule


_ATOMICS = ("add", "max", "min", "and", "or", "xor", "xchg")

_RULES: Mapping[str, Rule] = {
    "arange": _counted,
    "arange_f32": _unknown,
    "zeros": _uniform(lambda call: 0),
    "zeros_like": _uniform(lambda call: 0),
    "full": _uniform(_stated),
    "cat": _concatenated,
    "load": _load,
    "store": _written,
    **{f"atomic_{name}": _written for name in _ATOMICS},
    **dict.fromkeys(("atomic_load", "atomic_store"), _written),
    **dict.fromkeys(("atomic_cas", "atomic_poll"), _swapped),
    **REDUCTIONS,
    **dict.fromkeys(("broadcast", "broadcast_to"), _stretched),
    **dict.fromkeys(("reshape", "view", "ravel", "squeeze"), _reshaped),
    **dict.fromkeys(("permute", "trans"), _permuted),
    "flip": _reversed,
    "join": _joined,
    "interleave": _joined,
    "split": _split,
    "gather": _gathered,
    "dot": _dot,
    **dict.fromkeys(("to_tensor", "map_elementwise"), _elementwise),
    "inline_asm_elementwise": _assembly,
    "assume": _held("cond", Neutral.TRUE),
    "device_assert": _held("cond", Neutral.TRUE),
    "device_print": _held("args", Neutral.ZERO),
}
