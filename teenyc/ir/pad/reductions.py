"""Padding of reductions, scans and orders: the lanes beyond an extent get a number that changes no result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from teenyc.ir.nodes import Call
from teenyc.ir.pad.fills import Fill
from teenyc.ir.pad.plan import Neutral, Plan, Site, element_of, refused, repaired, shape_of
from teenyc.types import is_float

Rule: TypeAlias = Callable[[Site, Call], Plan]


def axes_of(call: Call, name: str, rank: int, default: int | None = None) -> tuple[int, ...]:
    """The axis that a call states; all axes where it states none."""
    stated = call.attribute(name, default)
    return (stated % rank,) if isinstance(stated, int) else tuple(range(rank))


def neutralised(site: Site, call: Call, name: str, axes: tuple[int, ...], neutral: Neutral) -> Plan:
    """A plan with repairs only, or a refusal."""
    operand = dict(call.operands)[name]
    repairs = site.repair(name, operand, axes, neutral)
    if repairs is None:
        return refused(f"no number of `{element_of(operand)}` leaves `{call.intrinsic}` as it is")
    return Plan(fills=site.unknown(), repairs=repairs)


def _reduced(neutral: Neutral, kept: Callable[[Fill], Fill]) -> Rule:
    """A reduction; `kept` is what lines of equal elements reduce to."""

    def rule(site: Site, call: Call) -> Plan:
        source = dict(call.operands)["input"]
        rank = len(shape_of(source))
        axes = axes_of(call, "axis", rank)
        plan = neutralised(site, call, "input", axes, neutral)
        if plan.refusal is not None:
            return plan
        fills = repaired(site.held(source), plan.repairs, "input")
        rest = [kept(fill) for axis, fill in enumerate(fills) if axis not in axes]
        if call.attribute("keep_dims", False):
            for axis in axes:
                rest.insert(axis, None)
        return Plan(fills=site.results(rest), repairs=plan.repairs)

    return rule


def _zero_stays(fill: Fill) -> Fill:
    return fill if fill == 0 else None


def _ones_stay(fill: Fill) -> Fill:
    return fill if fill in (0, 1) else None


def _combined(site: Site, call: Call) -> Plan:
    """A reduction by a function of the author's, for which no number is known that changes nothing."""
    source = dict(call.operands)["input"]
    if set(axes_of(call, "axis", len(shape_of(source)))) & set(site.padded(source)):
        return refused(f"no number is known that the function of `{call.intrinsic}` ignores, as `sum` ignores 0")
    return Plan(fills=site.unknown())


def _extremum(neutral: Neutral, pair: Neutral) -> Rule:
    """The place of an extremum is that of a true lane: the first of equal ones, and below the extent among NaNs."""
    plain = _reduced(neutral, lambda fill: fill)

    def rule(site: Site, call: Call) -> Plan:
        if not call.intrinsic.startswith("arg") and len(site.let.results) == 1:
            return plain(site, call)
        source = dict(call.operands)["input"]
        axes = axes_of(call, "axis", len(shape_of(source)))
        plan = neutralised(site, call, "input", axes, pair)
        if plan.refusal is not None or not site.pads.touches(shape_of(source)[axes[0]]):
            return plan
        ties = "return_indices_tie_break_left" if call.intrinsic in ("max", "min") else "tie_break_left"
        limited = (len(site.let.results) - 1, shape_of(source)[axes[0]]) if is_float(element_of(source)) else None
        return Plan(fills=plan.fills, repairs=plan.repairs, limited=limited, dropped=(ties,))

    return rule


def _softmax(site: Site, call: Call) -> Plan:
    axes = axes_of(call, "dim", len(shape_of(call.operand("x"))), -1)
    return neutralised(site, call, "x", axes, Neutral.LEAST)


def _scanned(neutral: Neutral) -> Rule:
    """A scan from the front does not see what is behind; one from the end starts there."""

    def rule(site: Site, call: Call) -> Plan:
        axes = axes_of(call, "axis", len(shape_of(call.operand("input"))), 0)
        return _forward(site, call) or neutralised(site, call, "input", axes, neutral)

    return rule


def _forward(site: Site, call: Call) -> Plan | None:
    is_open = call.operand("reverse") is not None
    return None if is_open or call.attribute("reverse", False) else Plan(fills=site.unknown())


def _scanned_with(site: Site, call: Call) -> Plan:
    return _forward(site, call) or refused(
        "the scan starts in the padding, and no number is known that its function ignores"
    )


def _ordered(default: bool) -> Rule:
    """Padding lanes go, or stay, at the end; `default` is whether an order is descending unless it says so."""

    def rule(site: Site, call: Call) -> Plan:
        if call.operand("descending") is not None:
            return refused(f"`{call.intrinsic}` must know here whether it is descending")
        last = len(shape_of(call.operand("x"))) - 1
        neutral = Neutral.LEAST if call.attribute("descending", default) else Neutral.GREATEST
        return neutralised(site, call, "x", (last,), neutral)

    return rule


def _first(site: Site, call: Call) -> Plan:
    wanted = shape_of(site.let.results[0])[-1]
    if site.pads.touches(wanted):
        return refused(f"`{wanted}` elements are asked for, which padding would make more")
    return _ordered(True)(site, call)


def _merged(site: Site, call: Call) -> Plan:
    if site.pads.touches(shape_of(call.operand("x"))[-1]):
        return refused("what first rises and then falls does not do so with padding behind it")
    return Plan(fills=site.unknown())


def _histogram(site: Site, call: Call) -> Plan:
    source = call.operand("input")
    return Plan(fills=site.unknown(), guarded=site.guarded(shape_of(source), call.operand("mask")))


REDUCTIONS: Mapping[str, Rule] = {
    "prod": _reduced(Neutral.ONE, _ones_stay),
    "sum": _reduced(Neutral.ZERO, _zero_stays),
    "reduce": _combined,
    "reduce_and": _reduced(Neutral.ALL_BITS, lambda fill: fill),
    "reduce_or": _reduced(Neutral.ZERO, _zero_stays),
    "xor_sum": _reduced(Neutral.ZERO, _zero_stays),
    **dict.fromkeys(("max", "max_with_indices", "argmax"), _extremum(Neutral.IGNORED_BY_MAX, Neutral.LEAST)),
    **dict.fromkeys(("min", "min_with_indices", "argmin"), _extremum(Neutral.IGNORED_BY_MIN, Neutral.GREATEST)),
    "softmax": _softmax,
    "cumsum": _scanned(Neutral.ZERO),
    "cumprod": _scanned(Neutral.ONE),
    "associative_scan": _scanned_with,
    "sort": _ordered(False),
    "topk": _first,
    "bitonic_merge": _merged,
    "histogram": _histogram,
}
