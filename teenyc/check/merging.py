"""What two branches give: their values go in, pairs of operands of one type come out, and results grouped as before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from teenyc.check.context import INVALID, NOTHING, Checked, Context, Group, Invalid, Undefined, describe
from teenyc.check.infer import is_bool
from teenyc.ir import nodes as ir
from teenyc.record import replace
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import I32, Pointer, TensorType, is_float, scalar

Pair: TypeAlias = "tuple[ir.Operand, ir.Operand]"
Given: TypeAlias = "tuple[Checked, Span] | None"
"""The value of a branch and its place; None for a branch that leaves."""


def merged(
    context: Context, node: ast.If, values: tuple[Given, Given], blocks: tuple[list[ir.Statement], list[ir.Statement]]
) -> tuple[Checked, list[Pair]] | None:
    """The value whose form the results have, and its operands in pairs; None after a report.

    What one branch leaves undefined gets a stand-in of the type that the other gives, at the end of its block.
    """
    first, second = values
    if first is None or second is None:  # who leaves yields nothing, so the pair's other half is never looked at
        only = (first or second or (NOTHING, node.span))[0]
        return None if _is_broken(only) else (only, [(o, o) for o in operands(only)])
    if _is_broken(first[0]) or _is_broken(second[0]):
        return None
    one = _defined(context, first[0], second[0], blocks[0], node.span)
    two = _defined(context, second[0], first[0], blocks[1], node.span)
    if isinstance(one, Invalid) or isinstance(two, Invalid):
        return None
    pairs = list(zip(operands(one), operands(two), strict=False))
    if _form(one) == _form(two) and all(_alike(context, a, b) for a, b in pairs):
        return one, pairs
    from teenyc.diagnostics.catalog.types import MismatchedBranches

    span = second[1] if node.otherwise is not None else node.span
    texts = [describe(checked, context).strip("`") for checked, _ in (first, second)]
    context.report(MismatchedBranches(span=span, first=texts[0], second=texts[1], first_span=first[1]))
    return None


def operands(checked: Checked) -> Iterator[ir.Operand]:
    """The operands in a value, from left to right."""
    match checked:
        case Group():
            for item in checked.items:
                yield from operands(item)
        case ir.Value() | ir.Literal() | ir.Constant():
            yield checked
        case Invalid():
            return


def regrouped(form: Checked, given: Iterator[ir.Operand]) -> Checked:
    """The operands in the form of a value."""
    if isinstance(form, Group):
        return Group(tuple(regrouped(item, given) for item in form.items))
    return form if isinstance(form, Invalid) else next(given)


def _form(checked: Checked) -> object:
    """How a value is grouped."""
    return tuple(map(_form, checked.items)) if isinstance(checked, Group) else None


def _is_broken(checked: Checked) -> bool:
    if isinstance(checked, Undefined):
        return False
    return isinstance(checked, Invalid) or (isinstance(checked, Group) and any(map(_is_broken, checked.items)))


def _alike(context: Context, a: ir.Operand, b: ir.Operand) -> bool:
    one, two = context.tensor_of(a), context.tensor_of(b)
    if one is None or two is None:
        return context.type_of(a) == context.type_of(b)
    return one.shape == two.shape and context.inference.unify(one.element, two.element) is not None


# ---- stand-ins ------------------------------------------------------------------------------------------------------


def _defined(context: Context, checked: Checked, other: Checked, block: list[ir.Statement], span: Span) -> Checked:
    """The value with what it leaves undefined made like the other."""
    if isinstance(checked, Undefined):
        return _like(context, other, block, span)
    if isinstance(checked, Group) and isinstance(other, Group) and len(checked.items) == len(other.items):
        pairs = zip(checked.items, other.items, strict=True)
        items = tuple(_defined(context, a, b, block, span) for a, b in pairs)
        return INVALID if any(map(_is_broken, items)) else Group(items)
    return checked


def _like(context: Context, other: Checked, block: list[ir.Statement], span: Span) -> Checked:
    """Something of the type of `other`, which nobody reads."""
    if isinstance(other, Group):
        return Group(tuple(_like(context, item, block, span) for item in other.items))
    if isinstance(other, Invalid):
        return other
    type = context.tensor_of(other)
    if type is not None and isinstance(type.element, Pointer):
        pointer = _pointer(context, type.element)
        if pointer is not None:
            return pointer if not type.shape else _moved(context, pointer, type, block, span)
    elif type is not None:
        return _zero(type) if not type.shape else _zeros(context, type, block, span)
    from teenyc.diagnostics.catalog.functions import NoStandIn

    return context.report(NoStandIn(span=span, type=str(context.type_of(other))))


def _zero(type: TensorType) -> ir.Literal:
    if is_bool(type.element):
        return ir.Literal(False, type)
    return ir.Literal(0.0 if is_float(type.element) else 0, type)


def _zeros(context: Context, type: TensorType, block: list[ir.Statement], span: Span) -> ir.Value:
    """A tensor of zeros; its element is known by then, or takes its default."""
    type = replace(type, element=context.inference.final(type.element))
    result = context.value(type)
    call = ir.Call(intrinsic="zeros", attributes=(("shape", type.shape), ("dtype", type.element)))
    block.append(ir.Let(results=(result,), operation=call, span=span))
    return result


def _pointer(context: Context, element: Pointer) -> ir.Operand | None:
    """A pointer of that type that is in scope."""
    for symbol in (s for scope in reversed(context.scopes) for s in scope.values()):
        for operand in operands(symbol.current):
            if operand.type == scalar(element):
                return operand
    return None


def _moved(context: Context, pointer: ir.Operand, type: TensorType, block: list[ir.Statement], span: Span) -> ir.Value:
    offsets = _zeros(context, TensorType(I32, type.shape), block, span)
    result = context.value(type)
    block.append(ir.Let(results=(result,), operation=ir.Offset(pointer=pointer, offset=offsets), span=span))
    return result
