"""Combine functions: a function on elements goes in, one of the program in straight code comes out."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.check.context import Checked, Context, Kept, Symbol
from teenyc.check.inlining import Called
from teenyc.check.instances import (
    View,
    applied,
    checked_body,
    declare_constants,
    declare_parameters,
    inner_context,
    view_of,
)
from teenyc.check.signature import Generics
from teenyc.ir import nodes as ir
from teenyc.ir.straight import is_pure, lifted, straightened
from teenyc.record import record, replace
from teenyc.types import Shape, TensorType


@record
class Combined:
    """A function that an intrinsic combines with, and the constants that are carried along as values."""

    kept: Kept
    carried: tuple[ir.Operand, ...]


def combine(context: Context, called: Called, *, is_map: bool = False) -> Combined | None:
    """The function on elements, as straight code; None where it cannot be that, or has errors.

    A function that is mapped over elements may loop, and takes numbers only for constants.

    Constants that are numbers stand in its text. Others become parameters: one behind the elements on the left, and one
    behind those on the right that is not read.
    """
    constants = called.generics.constants
    carried = {n: o for n, o in constants.items() if _literal(context, o) is None}
    numbers = {n: literal for n, o in constants.items() if (literal := _literal(context, o)) is not None}
    view = view_of(context, replace(called, generics=Generics(called.generics.elements, {})))
    key = ("combine", is_map, called.function.span, *view.key, tuple(numbers.items()), tuple(carried))
    kept = context.library.kept
    if key not in kept:
        can_be = not is_map or not carried
        kept[key] = _instance(context, called, view, (numbers, carried), is_map=is_map) if can_be else None
    found = kept[key]
    return None if found is None else Combined(found, tuple(carried.values()))


def _literal(context: Context, operand: ir.Operand) -> ir.Literal | None:
    """A constant as a number, where it is one."""
    extent, type = context.extent_of(operand), operand.type
    assert isinstance(type, TensorType)
    type = replace(type, element=context.inference.final(type.element))
    if isinstance(operand, ir.Literal):
        return replace(operand, type=type)
    return None if extent is None or extent.known is None else ir.Literal(extent.known, type)


Constants = tuple[Mapping[str, ir.Literal], Mapping[str, ir.Operand]]


def _instance(context: Context, called: Called, view: View, constants: Constants, *, is_map: bool) -> Kept | None:
    """Functions that it calls stay functions where these are straight, and are written into it where they branch."""
    for keeps_functions in (True, False):
        inner = inner_context(context, called, view)
        inner.keeps_functions = keeps_functions
        found = _checked(inner, called, view, constants, is_map=is_map)
        if found is not None:
            for lint in inner.reporter:
                context.report(lint)
            return found
    return None


def _checked(inner: Context, called: Called, view: View, constants: Constants, *, is_map: bool) -> Kept | None:
    numbers, carried = constants
    inner.scopes.append({})
    extra = {n: inner.value(o.type, n) for n, o in carried.items()}
    known: dict[str, ir.Operand] = {**numbers, **extra}
    for name, operand in known.items():
        inner.declare(Symbol(name, called.span, operand, is_read=True))
    parameters = declare_parameters(inner, called, view)
    if parameters is None:
        return None
    half = len(parameters) // 2
    left = tuple(ir.Parameter(value=v, span=called.span) for v in extra.values())
    right = tuple(ir.Parameter(value=inner.value(v.type, f"_{n}"), span=called.span) for n, v in extra.items())
    ordered = (*parameters[:half], *left, *parameters[half:], *right)
    made = checked_body(inner, called, view, (), ordered, tuple(extra.values()))
    if made is None or not (is_map or made[0].results == tuple(p.value.type for p in ordered[: len(ordered) // 2])):
        return None
    functions = {k.function.name: k.function for k in inner.library.kept.values() if k is not None}
    straight = made[0] if is_map and is_pure(made[0], functions) else straightened(made[0], functions)
    if straight is None:
        return None
    return Kept(straight, made[1], tuple(dict.fromkeys(inner.requirements)), inner.others)


# ---- element by element ---------------------------------------------------------------------------------------------


def mapped(context: Context, called: Called, whole: Called) -> Checked | None:
    """A function of elements on whole tensors; None where it is not straight. `whole` has these for arguments."""
    view, inward = view_of(context, whole), view_of(context, called)
    key = ("map", called.function.span, *view.key)
    kept = context.library.kept
    if key not in kept:
        shapes = [s for own, _ in view.arguments.values() for s in own]
        kept[key] = _lifted(context, called, inward, shapes)
    found = kept[key]
    return None if found is None else applied(context, whole, view, found)


def _lifted(context: Context, called: Called, view: View, shapes: list[Shape]) -> Kept | None:
    inner = inner_context(context, called, view)
    inner.keeps_functions = False
    constants = declare_constants(inner, called)
    parameters = declare_parameters(inner, called, view)
    made = None if parameters is None else checked_body(inner, called, view, constants, parameters)
    straight = None if made is None else straightened(made[0], {})
    whole = None if straight is None else lifted(straight, shapes)
    if made is None or whole is None:
        return None
    for lint in inner.reporter:
        context.report(lint)
    return Kept(whole, made[1], tuple(dict.fromkeys(inner.requirements)), inner.others)
