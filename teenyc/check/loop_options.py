"""What a loop tells Triton's compiler: `range(0, n, num_stages = 3)` and `while condition(c, disable_licm = true)`."""

from __future__ import annotations

from collections.abc import Iterable

from teenyc.check import expressions
from teenyc.check.context import Context
from teenyc.check.misfits import form, wrong
from teenyc.intrinsics.spec import Param, Role
from teenyc.ir import nodes as ir
from teenyc.syntax import ast
from teenyc.types import Extent

COUNTS = ("num_stages", "loop_unroll_factor")
FLAGS = ("flatten", "warp_specialize", "disallow_acc_multi_buffer", "disable_licm")
OPTIONS = (*COUNTS, *FLAGS)

Options = tuple[tuple[str, ir.Attribute], ...]


def range_options(context: Context, call: ast.Call, name: str) -> Options:
    """The options of `range`; `static_range` has none, since nothing of the loop is left."""
    options = _read(context, call, name, OPTIONS)
    if name == "static_range":
        _useless(context, call, name, "an unrolled loop is none for Triton")
        return ()
    return options


def tested(context: Context, node: ast.Expression | None) -> tuple[ast.Expression | None, Options]:
    """What a `while` tests, and the options of `condition` around it, if that stands there."""
    call = _condition(context, node)
    if call is None:
        return node, ()
    places = [a.value for a in call.arguments if a.name is None]
    if len(places) != 1:
        from teenyc.diagnostics.catalog.types import WrongCount

        context.report(WrongCount(span=call.span, function="condition", expected="1", found=len(places)))
        return ast.BoolLiteral(value=False, span=call.span), ()
    return places[0], _read(context, call, "condition", ("disable_licm",))


def lost_options(context: Context, node: ast.Expression | None) -> None:
    """Reports the options of a loop with `break` or `continue`, which Triton has not: its place takes another loop."""
    if isinstance(node, ast.Call) and isinstance(node.callee, ast.PathExpression):
        name = node.callee.segments[-1].name.text
        if name == "range" or _condition(context, node) is not None:
            _useless(context, node, name, "a loop with `break` or `continue` becomes a plain `while`")


def _condition(context: Context, node: ast.Expression | None) -> ast.Call | None:
    """The call of `condition`, where the file has no function of that name."""
    if not isinstance(node, ast.Call) or not isinstance(node.callee, ast.PathExpression):
        return None
    name = node.callee.segments[-1].name.text
    return node if name == "condition" and name not in context.declarations.functions else None


def _read(context: Context, call: ast.Call, function: str, known: tuple[str, ...]) -> Options:
    named = [a for a in call.arguments if a.name is not None]
    found: dict[str, ir.Attribute] = {}
    first: dict[str, ast.Argument] = {}
    for argument in named:
        assert argument.name is not None
        name = argument.name.text
        if name not in known:
            _unknown(context, argument.name, function, known)
        elif name in first:
            from teenyc.diagnostics.catalog.types import GivenTwice

            context.report(GivenTwice(span=argument.span, function=function, name=name, first=first[name].span))
        else:
            first[name] = argument
            value = _value(context, function, name, argument.value)
            found |= {} if value is None else {name: value}
    return tuple(found.items())


def _unknown(context: Context, name: ast.Name, function: str, known: tuple[str, ...]) -> None:
    from teenyc.diagnostics.catalog.names import UnknownArgument
    from teenyc.diagnostics.suggest import closest

    similar = closest(name.text, known)
    context.report(UnknownArgument(span=name.span, function=function, name=name.text, known=known, similar=similar))


def _value(context: Context, function: str, name: str, node: ast.Expression) -> bool | Extent | None:
    """A flag, or a count that may depend on constants; None after a report."""
    if name in FLAGS:
        if isinstance(node, ast.BoolLiteral):
            return node.value
        wrong(context, function, Param(name, Role.FLAG), node.span, form(context, node))
        return None
    extent = expressions.extent(context, node, f"`{name}` of `{function}`")
    if extent is None or extent.known is None or extent.known > 0:
        return extent
    from teenyc.diagnostics.catalog.calls import OutOfBounds

    need, found = "at least 1", str(extent.known)
    context.report(OutOfBounds(span=node.span, function=function, name=name, need=need, found=found))
    return None


def _useless(context: Context, call: ast.Call, function: str, why: str) -> None:
    from teenyc.diagnostics.catalog.calls import UselessOption

    options: Iterable[ast.Argument] = (a for a in call.arguments if a.name is not None and a.name.text in OPTIONS)
    for argument in options:
        assert argument.name is not None
        name = argument.name.text
        context.report(UselessOption(span=argument.span, function=function, name=name, why=why))
