"""Loops that count down: `(a..b).rev()`, `range(8, 0, -2)`; syntax with the same meaning that counts up comes out.

The names that this makes hold a quote, so that no name of a source can be meant.
"""

from __future__ import annotations

from teenyc.check.jumps import counting
from teenyc.record import replace
from teenyc.source import Span
from teenyc.syntax import ast


def lowered_backwards(node: ast.For) -> ast.Block | None:
    """A loop that counts down as a block with one that counts up; None for every other loop."""
    called = _downwards_call(node)
    if called is not None:
        return called
    methods: list[ast.MethodCall] = []
    inner = node.iterable
    while isinstance(inner, ast.MethodCall):
        methods.insert(0, inner)
        inner = inner.receiver
    names = [m.method.name.text for m in methods]
    if names not in _FORMS or not isinstance(inner, ast.Range) or inner.stop is None or inner.start is None:
        return None
    steps = [m.arguments[0].value for m in methods if m.method.name.text == "step_by" and len(m.arguments) == 1]
    if len(steps) != len(names) - 1:
        return None
    return _reversed(node, inner, inner.start, inner.stop, steps[0] if steps else None, is_outer=names[-1] == "rev")


_FORMS = (["rev"], ["rev", "step_by"], ["step_by", "rev"])


def _reversed(
    node: ast.For,
    whole: ast.Range,
    start: ast.Expression,
    stop: ast.Expression,
    step: ast.Expression | None,
    *,
    is_outer: bool,
) -> ast.Block:
    """The counter is as far below the last number as the count is above the first; `step_by` inside moves the last."""
    at = node.span
    first, end, by, last, count = (f"{n}'{at.start}" for n in ("first", "stop", "step", "last", "count"))
    top: ast.Expression = _path(end, at) if whole.inclusive else _infix("-", _path(end, at), _number(1, at))
    lets = [_let(first, start), _let(end, stop)]
    iterable: ast.Expression = replace(whole, start=_path(first, at), stop=_path(end, at))
    if step is not None:
        lets.append(_let(by, step))
        argument = ast.Argument(value=_path(by, at), span=step.span)
        method = ast.Segment(name=ast.Name("step_by", step.span))
        iterable = ast.MethodCall(receiver=iterable, method=method, arguments=(argument,), span=at)
        if is_outer:
            steps = _infix("/", _infix("-", top, _path(first, at)), _path(by, at))
            top = _infix("+", _path(first, at), _infix("*", steps, _path(by, at)))
    lets.append(_let(last, top))
    counter = _infix("-", _path(last, at), _infix("-", _path(count, at), _path(first, at)))
    return _block((*lets, _loop(node, count, iterable, counter)), at)


def _downwards_call(node: ast.For) -> ast.Block | None:
    """`range(start, stop, -step)` and `static_range`, as many steps from 0."""
    call = node.iterable
    if not isinstance(call, ast.Call) or not isinstance(call.callee, ast.PathExpression):
        return None
    places = [a for a in call.arguments if a.name is None]
    if call.callee.segments[-1].name.text not in ("range", "static_range") or len(places) != 3:
        return None
    step = places[2].value
    if not isinstance(step, ast.Unary) or step.operator != "-":
        return None
    at = node.span
    first, count = f"first'{at.start}", f"count'{at.start}"
    distance = _infix("-", _path(first, at), places[1].value)
    values = (_number(0, at), distance, step.operand)
    given = tuple(replace(place, value=value) for place, value in zip(places, values, strict=True))
    iterable = replace(call, arguments=(*given, *(a for a in call.arguments if a.name is not None)))
    counter = _infix("-", _path(first, at), _path(count, at))
    return _block((_let(first, places[0].value), _loop(node, count, iterable, counter)), at)


# ---- syntax ---------------------------------------------------------------------------------------------------------


def _loop(node: ast.For, count: str, iterable: ast.Expression, counter: ast.Expression) -> ast.For:
    """The loop over another iterable, with its own counter computed first."""
    given = ast.Let(pattern=counting(node.pattern), annotation=None, value=counter, span=node.span)
    is_read = not isinstance(node.pattern, ast.NamePattern) or node.pattern.name.text != "_"
    statements = (given, *node.body.statements) if is_read else node.body.statements
    pattern = ast.NamePattern(name=ast.Name(count, node.span))
    return replace(node, pattern=pattern, iterable=iterable, body=replace(node.body, statements=statements))


def _let(name: str, value: ast.Expression) -> ast.Let:
    return ast.Let(
        pattern=ast.NamePattern(name=ast.Name(name, value.span)), annotation=None, value=value, span=value.span
    )


def _path(name: str, span: Span) -> ast.Expression:
    return ast.PathExpression(segments=(ast.Segment(name=ast.Name(name, span)),), span=span)


def _number(value: int, span: Span) -> ast.Expression:
    return ast.IntegerLiteral(value=value, span=span)


def _infix(sign: str, left: ast.Expression, right: ast.Expression) -> ast.Expression:
    span = left.span
    return ast.Binary(operator=sign, left=left, right=right, operator_span=span, span=span)


def _block(statements: tuple[ast.Statement, ...], span: Span) -> ast.Block:
    return ast.Block(statements=statements, value=None, span=span)
