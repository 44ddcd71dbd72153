"""Device functions: a call goes in, a call in the IR comes out, or the function's body where that cannot be.

A function is checked at each call with the types and constants of that call, as a template would be. It becomes a
function of the program, which reads as the author wrote it, unless something in it cannot go through a call of Triton:
a descriptor, a function as an argument, a number that the body or the caller needs at compile time (an axis, an extent)
though no constant parameter holds it. Then its body stands at the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from teenyc.check import arguments, expressions
from teenyc.check.context import INVALID, Checked, Context, FunctionValue, Invalid
from teenyc.check.generics import stated_generics
from teenyc.check.inlining import Called, inlined, inside
from teenyc.check.merging import operands
from teenyc.check.signature import PARAMETER, Generics, bind_types, conformed, open_names
from teenyc.intrinsics.spec import REQUIRED, Intrinsic, Param, Role
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import F32, Element

Written: TypeAlias = "tuple[ast.TypeExpression | ast.Expression, ...]"


def call(context: Context, function: ast.Function, node: ast.Call, generics: Written) -> Checked:
    """The value of `function(arguments)`."""
    name, shown = function.name.text, context.declarations.shown(function)
    context.library.mentioned.add(function.span)
    if shown in context.calling:
        from teenyc.diagnostics.catalog.structure import Recursion

        start = context.calling.index(shown)
        return context.report(Recursion(span=node.span, path=(*context.calling[start:], shown)))
    params = tuple(Param(p.name.text, Role.VALUE) for p in function.parameters)
    bound = arguments.bind(context, name, params, node.arguments, node.callee.span)
    if bound is None:
        return INVALID
    functions = {p.name.text for p in function.parameters if is_function_type(p.type)}
    given = {n: (expressions.expression(context, e), e.span) for n, e in bound.items() if n not in functions}
    passed = {n: function_value(context, bound[n], called=function.name.text) for n in bound if n in functions}
    stated = stated_generics(context, function, generics, node.callee.span)
    if stated is None or any(isinstance(v, Invalid) for v, _ in given.values()) or None in passed.values():
        return INVALID
    values = {n: f for n, f in passed.items() if f is not None}
    return applied(context, function, given, stated, values, node.span)


def applied(
    context: Context,
    function: ast.Function,
    given: Mapping[str, tuple[Checked, Span]],
    generics: Generics,
    functions: Mapping[str, FunctionValue],
    span: Span,
) -> Checked:
    """A function on arguments that are checked but for their types."""
    context.library.called.add(function.span)
    elements = dict(generics.elements)
    context.call_span = span
    if not bind_types(context, function, given, elements):
        return INVALID
    called = Called(function, {}, Generics(elements, generics.constants), functions, span)
    with inside(context, called):
        open = open_names(function)
        types = {p.name.text: p.type for p in function.parameters}
        values = {n: conformed(context, v, types[n], at, PARAMETER, open) for n, (v, at) in given.items()}
    if any(isinstance(v, Invalid) for v in values.values()):
        return INVALID
    return _kept_or_inlined(context, Called(function, values, called.generics, functions, span))


def _kept_or_inlined(context: Context, called: Called) -> Checked:
    """A call in the IR; the body where that cannot be.

    A function with constants is kept with constants of its own, which says less than the numbers of this call: so it is
    also checked with these. What is a number at compile time stays one.
    """
    from teenyc.check.instances import concrete_key, is_number, kept

    key = concrete_key(context, called)
    is_tried = key not in context.library.sound and (called.generics.constants or _is_computed(context, called))
    if not is_tried:
        found = kept(context, called)
        return inlined(context, called) if found is None else found
    with context.block() as statements:
        value = inlined(context, called)
    if isinstance(value, Invalid):
        return INVALID
    found = None if is_number(context, value) else kept(context, called)
    if found is not None:
        context.library.sound.add(key)
        return found
    context.statements += statements
    return value


def _is_computed(context: Context, called: Called) -> bool:
    """Whether all arguments are known at compile time, so that the result may be too."""
    given = [o for v in called.arguments.values() for o in operands(v)]
    return all(map(context.is_known, given))


# ---- functions as arguments -----------------------------------------------------------------------------------------


def is_function_type(type: ast.TypeExpression) -> bool:
    """Whether a parameter takes a function: `f: fn(f32, f32) -> f32`."""
    return isinstance(type, ast.OtherType) and type.text.startswith("fn")


def function_value(
    context: Context, node: ast.Expression, element: Element = F32, *, called: str, operands: str = ""
) -> FunctionValue | None:
    """The function that an argument of `called` names, with a turbofish or without; None after a report.

    `element` is what it will be given, for a report that writes a function out; `operands` are the other arguments.
    """
    if isinstance(node, ast.PathExpression):
        name = node.segments[-1].name.text
        symbol = context.lookup(name) if len(node.segments) == 1 else None
        if symbol is not None and symbol.function is not None:
            symbol.is_read = True
            return symbol.function
        function = context.declarations.function([s.name.text for s in node.segments])
        if function is not None:
            context.library.mentioned.add(function.span)
            return FunctionValue(function, tuple(g for s in node.segments for g in s.generics))
    if isinstance(node, ast.Closure):
        expressions.closure(context, node, element)
        return None
    _not_a_function(context, node, element, called, operands)
    return None


def _not_a_function(context: Context, node: ast.Expression, element: Element, called: str, operands: str) -> None:
    from teenyc.check.misfits import form_of, word
    from teenyc.diagnostics.catalog.functions import NotAFunction
    from teenyc.intrinsics import find

    name = word(node) if isinstance(node, ast.PathExpression) else ""
    record = find(name) if name else None
    context.report(
        NotAFunction(
            span=node.span,
            function=called,
            found=form_of(context, node),
            known=tuple(context.declarations.functions),
            name=name,
            is_intrinsic=record is not None,
            operands=operands,
            example=_wrapped(record, element) if record is not None else "",
        )
    )


def _wrapped(record: Intrinsic, element: Element) -> str:
    """A function on elements that calls an intrinsic of one or two values; nothing for other intrinsics."""
    needed = [p for p in record.params if p.default is REQUIRED]
    if len(needed) not in (1, 2) or any(p.role is not Role.VALUE for p in needed):
        return ""
    names = ("a", "b")[: len(needed)]
    return expressions.written_out(element, names, f"{record.name}({', '.join(names)})")
