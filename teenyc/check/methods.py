"""Calls of methods: a receiver with a method of Rust's numbers goes in, the value of what it stands for comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from teenyc.check import expressions
from teenyc.check.context import INVALID, Checked, Context, Group, Invalid, Symbol
from teenyc.check.number_methods import EXTREMA, FORMS, power
from teenyc.check.numbers import Number
from teenyc.diagnostics.model import Reporter, Severity
from teenyc.intrinsics import TABLE
from teenyc.intrinsics.methods import METHODS, MISSING, RECEIVERS, RENAMED, Method
from teenyc.ir import nodes as ir
from teenyc.syntax import ast
from teenyc.types import I32, U32, Element, is_integer

MOST_FACTORS = 64
"""The greatest exponent of `pow` and `powi` that is written as products."""

POWERS = ("pow", "powi", "wrapping_pow")

COUNTED = (*POWERS, "rotate_left", "rotate_right", "wrapping_shl", "wrapping_shr")
"""The methods whose argument is a count, of a type of its own."""


def number_method(context: Context, node: ast.MethodCall) -> Checked:
    """The value of a method of `METHODS`."""
    receiver = expressions.operand(context, node.receiver)
    if isinstance(receiver, Invalid):
        return INVALID
    method = METHODS[node.method.name.text]
    type = context.tensor_of(receiver)
    element = context.inference.final(type.element) if type is not None else None
    if element is None or not RECEIVERS[method.of](element):
        from teenyc.diagnostics.catalog.types import WrongReceiver

        found = str(context.type_of(receiver))
        return context.report(WrongReceiver(span=node.method.name.span, name=method.name, needs=method.of, found=found))
    _settle(context, receiver, element)
    if not _has_arguments(context, node, method):
        return INVALID
    given = [expressions.operand(context, a.value) for a in node.arguments]
    if any(isinstance(g, Invalid) for g in given):
        return INVALID
    form = FORMS[method.name]
    if method.name in EXTREMA and type is not None and type.shape and _is_axis(node.arguments[0].value):
        form = EXTREMA[method.name]
    exponent = _exponent(context, element, given[0]) if method.name in POWERS else None
    if exponent is not None and abs(exponent) <= MOST_FACTORS and (exponent >= 0 or not is_integer(element)):
        form, given = _power(exponent, wraps=method.name == "wrapping_pow"), []
    if method.name not in COUNTED and form is not EXTREMA.get(method.name):
        for each in given:
            _settle(context, each, element)
    return _evaluated(context, node, form, element, (receiver, *given))


def _settle(context: Context, operand: Checked, element: Element) -> None:
    """Gives a literal without a type the one that the method is chosen by: its form may look at the bits alone."""
    type = context.tensor_of(operand) if not isinstance(operand, Group | Invalid) else None
    if type is not None:
        context.inference.unify(type.element, element)


def _has_arguments(context: Context, node: ast.MethodCall, method: Method) -> bool:
    """Whether the arguments are as many as the method takes, and go by place."""
    named = [a for a in node.arguments if a.name is not None]
    if len(node.arguments) == len(method.arguments) and not named:
        return True
    from teenyc.diagnostics.catalog.types import WrongCount

    count, found, span = len(method.arguments), len(node.arguments) - len(named), node.method.name.span
    context.report(
        WrongCount(
            span=span,
            function=method.name,
            expected=str(count),
            found=found,
            missing=method.arguments[found:],
            signature=method.arguments,
        )
    )
    return False


def _is_axis(node: ast.Expression) -> bool:
    return isinstance(node.operand if isinstance(node, ast.Unary) else node, ast.IntegerLiteral)


def _exponent(context: Context, element: Element, operand: ir.Operand | Invalid) -> int | None:
    """The exponent, where it is known; a literal takes Rust's type for it."""
    type = None if isinstance(operand, Invalid) else context.tensor_of(operand)
    if isinstance(operand, Invalid) or type is None or not is_integer(type.element):
        return None
    context.inference.unify(type.element, U32 if is_integer(element) else I32)
    extent = context.extent_of(operand)
    return extent.known if extent is not None else None


def _power(exponent: int, *, wraps: bool) -> Callable[[Number], Number]:
    return lambda x: power(x, exponent).wrapped() if wraps else power(x, exponent)


def _evaluated(
    context: Context,
    node: ast.MethodCall,
    form: Callable[..., Number],
    element: Element,
    operands: tuple[Checked, ...],
) -> Checked:
    """The expression of a form, checked with the operands under names that no source has."""
    spans = (node.receiver.span, *(a.value.span for a in node.arguments))
    context.scopes.append({})
    scope = context.scopes[-1]

    def keep(given: ast.Expression, operand: Checked | None = None) -> ast.Expression:
        name = f"operand {len(scope)}"
        value = expressions.operand(context, given) if operand is None else operand
        scope[name] = Symbol(name, given.span, value, is_read=True)
        return ast.PathExpression(segments=(ast.Segment(name=ast.Name(name, given.span)),), span=given.span)

    try:
        paths = [keep(ast.Tuple(items=(), span=s), o) for s, o in zip(spans, operands, strict=False)]
        with _first_report(context):
            return expressions.expression(context, form(*(Number(p, element, keep, context.trait) for p in paths)).node)
    finally:
        context.scopes.pop()


@contextmanager
def _first_report(context: Context) -> Iterator[None]:
    """Of what is reported inside only the first error stays: an operand that fits nowhere is one mistake."""
    outer, context.reporter = context.reporter, Reporter()
    try:
        yield
    finally:
        inner, context.reporter = context.reporter, outer
        errors = [r for r in inner.made if r.severity is Severity.ERROR]
        for report in errors[:1] or inner.made:
            context.report(report)


def unknown_method(context: Context, node: ast.MethodCall) -> Checked:
    """Reports a method that kernels have not."""
    from teenyc.check import other_names
    from teenyc.diagnostics.catalog.names import UnknownMethod
    from teenyc.diagnostics.catalog.types import MissingMethod
    from teenyc.diagnostics.suggest import closest

    receiver = expressions.operand(context, node.receiver)
    if isinstance(receiver, Invalid):
        return INVALID
    name, span = node.method.name.text, node.method.name.span
    if name in MISSING:
        return context.report(MissingMethod(span=span, name=name, instead=MISSING[name]))
    known = [*TABLE, *METHODS, *RENAMED, "lt", "le", "gt", "ge", "eq", "ne"]
    type = str(context.type_of(receiver))
    similar, advice = closest(name, known), other_names.method(name)
    return context.report(UnknownMethod(span=span, name=name, type=type, similar=similar, advice=advice))
