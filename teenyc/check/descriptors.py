"""Descriptors in the source: what a function means whose first argument is one, and where their types may stand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from teenyc.check import arguments, expressions
from teenyc.check.context import Checked, Context, Group, Invalid, Symbol
from teenyc.intrinsics import TABLE, block_pointers, descriptors
from teenyc.intrinsics.spec import Intrinsic, Operator
from teenyc.ir import nodes as ir
from teenyc.record import replace
from teenyc.syntax import ast
from teenyc.types import DescriptorType, Element, Pointer

OVERLOADED = frozenset({*descriptors.FORMS, *block_pointers.FORMS})
"""Functions that mean something else where their first argument is a descriptor."""


def place_of(record: Intrinsic | Operator, given: tuple[ast.Argument, ...]) -> int | None:
    """Where the arguments of a call have the one that decides what the function means."""
    if record.name not in OVERLOADED or not given:
        return None
    names = {"desc", record.params[0].name, *record.params[0].aliases}
    is_first = given[0].name is None
    place = 0 if is_first else next((i for i, a in enumerate(given) if a.name and a.name.text in names), None)
    if place is None or arguments.is_none(given[place].value) or isinstance(given[place].value, _WITHOUT_VALUE):
        return None
    return place


_WITHOUT_VALUE = (ast.StringLiteral, ast.Array, ast.Tuple, ast.Range, ast.Closure)
"""What the reading of arguments reports, with the name of the function."""


@contextmanager
def receiver(
    context: Context, given: tuple[ast.Argument, ...], place: int
) -> Iterator[tuple[DescriptorType | Invalid | None, tuple[ast.Argument, ...]]]:
    """The type of an argument if it is a descriptor or wrong, and the arguments with a name in its place.

    It is checked once, here, since what the other arguments are depends on it.
    """
    argument = given[place]
    checked = expressions.expression(context, argument.value)
    span = argument.value.span
    name = f"receiver {span.start}"  # no name of a source has a space
    path = ast.PathExpression(segments=(ast.Segment(name=ast.Name(name, span)),), span=span)
    context.scopes.append({name: Symbol(name, span, checked, is_read=True)})
    try:
        found = checked if isinstance(checked, Invalid) else descriptor_of(checked)
        yield found, (*given[:place], replace(argument, value=path), *given[place + 1 :])
    finally:
        context.scopes.pop()


def descriptor_of(checked: Checked) -> DescriptorType | None:
    """The type of a result that is a descriptor."""
    if isinstance(checked, Invalid | Group):
        return None
    return checked.type if isinstance(checked.type, DescriptorType) else None


def overload(record: Intrinsic | Operator, type: DescriptorType | None) -> Intrinsic | Operator:
    """What a function means on a descriptor of a type."""
    if type is None:
        return record
    forms = block_pointers.FORMS if type.is_block_pointer else descriptors.FORMS
    return TABLE[forms[record.name]] if record.name in forms else record


def stands_for(value: ir.Operand, element: Element) -> bool:
    """Whether a descriptor may stand where the source says `Pointer<…>`, as the trait does, or a descriptor."""
    return isinstance(value.type, DescriptorType) and element == Pointer(value.type.element)
