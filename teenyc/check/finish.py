"""The end of a kernel's check: literals take their types, and what constants must satisfy is checked where known."""

from __future__ import annotations

from math import isfinite
from typing import Any

from teenyc.check.context import Context
from teenyc.check.facts import Facts
from teenyc.check.hazards import lint_hazards
from teenyc.check.lints import report_unused
from teenyc.check.meetings import races_of
from teenyc.diagnostics.model import Reporter
from teenyc.ir import nodes as ir
from teenyc.ir.expand import expanded
from teenyc.ir.walk import uses
from teenyc.record import fields, is_record, replace
from teenyc.types import DTYPES, I32, I64, DType, Extent, Kind, Pointer, TensorType, Unsuffixed


def finish(context: Context, kernel: ir.Kernel) -> ir.Kernel | None:
    """The kernel without open types; None where the file has errors."""
    _check_literals(context)
    _check_requirements(context, kernel)
    if context.reporter.has_errors:
        return None
    settled: ir.Kernel = _settled(kernel, context, {})
    functions = {k.function.name: k for k in context.library.kept.values() if k is not None}
    whole = expanded(settled, {n: k.function for n, k in functions.items()})
    facts = Facts(whole.kernel, context.declarations.tree, context.library)
    for id, (function, inner) in whole.origins.items():
        if inner in functions[function].others:
            context.others[id] = functions[function].others[inner]
    if context.others:  # only loads under a mask and without `other` leave lanes undefined
        from teenyc.check.undefined import check_undefined

        check_undefined(context, facts)
        if context.reporter.has_errors:
            return None
    _lint_assignments(settled, context)
    found = Reporter()
    lint_hazards(facts, found)
    for lint in found.made:
        context.report(lint)
    if context.idle_masks:
        from teenyc.check.idle_masks import lint_idle_masks

        lint_idle_masks(context, facts)
    return replace(settled, races=races_of(facts, found.made))


def finish_function(context: Context, function: ir.Function) -> ir.Function | None:
    """The device function without open types; None where it has errors. What constants must satisfy, callers check."""
    _check_literals(context)
    if context.reporter.has_errors:
        return None
    settled: ir.Function = _settled(function, context, {})
    _lint_assignments(settled, context)
    for mask in context.idle_masks:
        report_unused(mask, context.reporter)
    return settled


def _lint_assignments(kernel: ir.Kernel | ir.Function, context: Context) -> None:
    """Reports values of variables that are overwritten, or end with the kernel, before anything reads them."""
    read = uses(kernel.body)
    for value, symbol, span in context.assignments:
        if read[value] or not symbol.is_read or symbol.is_silent:
            continue
        from teenyc.diagnostics.catalog.lints import ValueNeverRead

        context.report(ValueNeverRead(span=span, name=symbol.name))


def _check_literals(context: Context) -> None:
    """Every literal must fit its type."""
    for literal, span in context.literals:
        element = context.inference.final(literal.type.element)
        if not isinstance(element, DType) or _fits(literal.value, element):
            continue
        from teenyc.diagnostics.catalog.types import LiteralRange

        is_integer = element.kind in (Kind.SIGNED, Kind.UNSIGNED)
        wider = [d for d in (I32, I64, DTYPES["u64"]) if is_integer and _fits(literal.value, d)]
        context.report(
            LiteralRange(
                span=span,
                value=literal.value,
                type=str(element),
                limits=(element.minimum, element.maximum) if is_integer else None,
                wider=str(wider[0]) if wider else "",
            )
        )


def _fits(value: float, element: DType) -> bool:
    """Whether a number is in the range of a type; infinities and NaN are in that of every float."""
    if element.kind in (Kind.SIGNED, Kind.UNSIGNED):
        return element.minimum <= value <= element.maximum
    return element.name != "f32" or not isfinite(value) or abs(value) < F32_LIMIT


F32_LIMIT = (2 - 2.0**-24) * 2.0**127
"""The least number that is rounded to an infinity of f32."""


def _check_requirements(context: Context, kernel: ir.Kernel) -> None:
    """Constants that an option fixed must satisfy what the kernel needs."""
    known = {c.name: int(c.known) for c in kernel.constants if c.known is not None}
    seen: set[tuple[Extent, str]] = set()
    for requirement in _requirements(kernel):
        if (requirement.extent, requirement.rule) in seen:
            continue
        seen.add((requirement.extent, requirement.rule))
        value = requirement.extent.substitute(known).known
        if value is None:
            continue
        need = _need(requirement.rule, value)
        if need is not None:
            from teenyc.diagnostics.catalog.types import BrokenRequirement

            context.report(
                BrokenRequirement(
                    span=requirement.span,
                    what=requirement.what,
                    extent=str(requirement.extent),
                    value=value,
                    need=need,
                )
            )


def _requirements(kernel: ir.Kernel) -> tuple[ir.Requirement, ...]:
    """What constants must satisfy, with those padded that are to be."""
    if not kernel.attributes.pad:
        return kernel.requirements
    from teenyc.ir.pad.extents import pads_of

    return pads_of(kernel, kernel.attributes.pad).requirements(kernel.requirements)


def _need(rule: str, value: int) -> str | None:
    """What a value lacks, in words; None where it satisfies the rule."""
    if rule == "power-of-two":
        return None if value > 0 and value & (value - 1) == 0 else "a power of two"
    if rule == "positive":
        return None if value > 0 else "positive"
    kind, _, bound = rule.partition(":")
    if kind == "at-least":
        return None if value >= int(bound) else f"at least {bound}"
    if kind == "at-most":
        return None if value <= int(bound) else f"at most {bound}"
    if kind == "multiple-of":
        return None if value % int(bound) == 0 else f"a multiple of {bound}"
    raise AssertionError(f"unknown rule {rule!r}")


def _settled(node: Any, context: Context, memo: dict[int, ir.Value]) -> Any:
    """The node with every open literal type replaced; the node itself where it has none."""
    match node:
        case ir.Value():
            if node.id not in memo:
                memo[node.id] = _typed(node, context)
            typed = memo[node.id]
            return node if typed.type == node.type else replace(typed, name=node.name)
        case ir.Literal():
            return _number(_typed(node, context))
        case TensorType():
            element = node.element
            if isinstance(element, Unsuffixed):
                return replace(node, element=context.inference.final(element))
            return node
        case Unsuffixed():
            return context.inference.final(node)
        case tuple():
            changed = tuple(_settled(item, context, memo) for item in node)
            return changed if any(a is not b for a, b in zip(changed, node, strict=True)) else node
        case _ if is_record(node) and type(node).__module__ == ir.__name__:
            values = {f.name: getattr(node, f.name) for f in fields(node)}
            changes = {n: _settled(v, context, memo) for n, v in values.items()}
            kept = all(changes[n] is values[n] for n in values)
            return node if kept else replace(node, **changes)
        case _:
            return node


def _typed(node: Any, context: Context) -> Any:
    type = node.type
    if not isinstance(type, TensorType) or not isinstance(type.element, Unsuffixed | Pointer):
        return node
    if isinstance(type.element, Pointer):
        return node
    return replace(node, type=replace(type, element=context.inference.final(type.element)))


def _number(literal: ir.Literal) -> ir.Literal:
    """Float literals hold Python floats."""
    element = literal.type.element
    is_float = not isinstance(element, DType) or element.kind is Kind.FLOAT
    if is_float and type(literal.value) is int:
        return replace(literal, value=float(literal.value)) if isinstance(element, DType) else literal
    return literal
