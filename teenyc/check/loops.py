"""Loops: what the body assigns to variables from outside is carried from one iteration to the next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from teenyc.check import expressions
from teenyc.check.assigned import carried_symbols
from teenyc.check.backwards import lowered_backwards
from teenyc.check.context import Context, Group, Invalid, Symbol
from teenyc.check.jumps import jumps, lowered_for, lowered_while
from teenyc.check.loop_options import lost_options, range_options, tested
from teenyc.check.statements import block_value, scoped_block
from teenyc.ir import nodes as ir
from teenyc.record import replace
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import BOOL, I32, TensorType, Unsuffixed, is_integer, scalar


def for_loop(context: Context, node: ast.For) -> None:
    """`for i in a..b`, with a step, an inclusive end, or through `range` and `static_range`."""
    upwards = lowered_backwards(node)
    if upwards is not None:
        scoped_block(context, upwards)
        return
    if isinstance(node.pattern, ast.TuplePattern):
        from teenyc.diagnostics.catalog.values import LoopPattern

        context.report(LoopPattern(span=node.pattern.span))
        return
    if jumps(node.body, node.label):
        _jumping_for(context, node)
        return
    bounds = _bounds(context, node.iterable)
    symbols = carried_symbols(context, (node.body,))
    insides = _enter(context, symbols)
    type = bounds[0].type if bounds is not None else TensorType(I32)
    name = node.pattern.name.text if isinstance(node.pattern, ast.NamePattern) else "_"
    counter = context.value(type, "" if name == "_" else name.partition("'")[0])
    with _inner(context) as statements:
        if name != "_":
            assert isinstance(node.pattern, ast.NamePattern)
            symbol = Symbol(name, node.pattern.name.span, counter, is_counter=True, is_read=bounds is None)
            context.declare(symbol)
        block_value(context, node.body)
    carried, yields = _leave(context, symbols, insides)
    if bounds is None:
        return
    start, stop, step = bounds
    called = _called(node.iterable)
    options = range_options(context, node.iterable, called) if isinstance(node.iterable, ast.Call) and called else ()
    loop = ir.For(
        counter=counter,
        start=start,
        stop=stop,
        step=step,
        carried=carried,
        body=ir.Block(statements=tuple(statements), yields=yields),
        inclusive=_is_inclusive(node.iterable),
        unroll=called == "static_range",
        options=options,
        span=node.span,
    )
    context.statements.append(loop)


def while_loop(context: Context, node: ast.While) -> None:
    """`while condition`; `loop` has none and ends by `break`."""
    test, options = tested(context, node.condition)
    if jumps(node.body, node.label):
        lost_options(context, node.condition)
        scoped_block(context, lowered_while(replace(node, condition=test)))
        return
    symbols = carried_symbols(context, (node.body,))
    insides = _enter(context, symbols)
    with context.block() as condition_statements:
        condition = expressions.condition(context, test) if test is not None else ir.Literal(True, scalar(BOOL))
    with _inner(context) as statements:
        block_value(context, node.body)
    carried, yields = _leave(context, symbols, insides)
    if isinstance(condition, Invalid):
        return
    loop = ir.While(
        condition=ir.Block(statements=tuple(condition_statements), yields=(condition,)),
        carried=carried,
        body=ir.Block(statements=tuple(statements), yields=yields),
        options=options,
        span=node.span,
    )
    context.statements.append(loop)


def _jumping_for(context: Context, node: ast.For) -> None:
    """A `for` with `break` or `continue` of its own."""
    lost_options(context, node.iterable)
    range, step = _parts(node.iterable)
    if range is None or range.stop is None:
        _bounds(context, node.iterable)
        return
    one = ast.IntegerLiteral(value=1, span=node.span)
    start = range.start or ast.IntegerLiteral(value=0, span=node.span)
    scoped_block(context, lowered_for(node, replace(range, start=start), step or one))


def jump(context: Context, node: ast.Jump) -> None:
    """`break` and `continue`."""
    if context.loop_depth == 0:
        from teenyc.diagnostics.catalog.structure import JumpOutsideLoop

        context.report(JumpOutsideLoop(span=node.span, keyword=node.keyword))
        return
    from teenyc.diagnostics.catalog.structure import JumpOutsideLoop

    label = node.label.text if node.label else ""
    context.report(JumpOutsideLoop(span=node.span, keyword=node.keyword, target=label))


@contextmanager
def _inner(context: Context) -> Iterator[list[ir.Statement]]:
    """The block of a loop's body, inside which `return` is an error."""
    context.loop_depth += 1
    with context.block() as statements:
        yield statements
    context.loop_depth -= 1


def _enter(context: Context, symbols: list[Symbol]) -> list[tuple[ir.Operand, ir.Value]]:
    """Each carried variable's value before the loop, and the one that it has inside from here on."""
    insides: list[tuple[ir.Operand, ir.Value]] = []
    for symbol in symbols:
        assert not isinstance(symbol.current, Invalid | Group)
        inside = context.value(symbol.current.type, symbol.shown)
        insides.append((symbol.current, inside))
        symbol.current = inside
    return insides


def _leave(
    context: Context, symbols: list[Symbol], insides: list[tuple[ir.Operand, ir.Value]]
) -> tuple[tuple[ir.Carried, ...], tuple[ir.Operand, ...]]:
    carried: list[ir.Carried] = []
    yields: list[ir.Operand] = []
    for symbol, (initial, inside) in zip(symbols, insides, strict=True):
        assert not isinstance(symbol.current, Invalid | Group)
        yields.append(symbol.current)
        result = context.value(inside.type, inside.name)
        carried.append(ir.Carried(initial=initial, inside=inside, result=result))
        symbol.current = result
    return tuple(carried), tuple(yields)


Bounds = tuple[ir.Operand, ir.Operand, ir.Operand]


def _bounds(context: Context, node: ast.Expression) -> Bounds | None:
    """Start, stop and step of an iterable, of one integer type; None after a report."""
    whole, step = _parts(node)
    if whole is not None:
        return _range(context, whole, step)
    from teenyc.diagnostics.catalog.structure import Unsupported

    what = "this iterable"
    context.report(Unsupported(span=node.span, what=what, instead="iterate over a range: `for i in a..b`"))
    return None


def _parts(node: ast.Expression) -> tuple[ast.Range | None, ast.Expression | None]:
    """The range of an iterable and its step; no range where it has another form."""
    if isinstance(node, ast.Range) and node.stop is not None:
        return node, None
    if isinstance(node, ast.MethodCall) and node.method.name.text == "step_by" and len(node.arguments) == 1:
        stepped = node.receiver
        if isinstance(stepped, ast.Range) and stepped.stop is not None:
            return stepped, node.arguments[0].value
    if _called(node) is not None:
        assert isinstance(node, ast.Call)
        places = [a.value for a in node.arguments if a.name is None]
        if 1 <= len(places) <= 3:
            start = places[0] if len(places) > 1 else None
            stop = places[1] if len(places) > 1 else places[0]
            whole = ast.Range(start=start, stop=stop, span=node.span)
            return whole, places[2] if len(places) == 3 else None
    return None, None


def _is_inclusive(node: ast.Expression) -> bool:
    range, _ = _parts(node)
    return range is not None and range.inclusive


def _called(node: ast.Expression) -> str | None:
    """`range` or `static_range` where an iterable calls them."""
    if isinstance(node, ast.Call) and isinstance(node.callee, ast.PathExpression):
        name = node.callee.segments[-1].name.text
        return name if name in ("range", "static_range") else None
    return None


def _range(context: Context, node: ast.Range, step: ast.Expression | None) -> Bounds | None:
    assert node.stop is not None
    start = expressions.operand(context, node.start) if node.start is not None else _zero(context)
    stop = expressions.operand(context, node.stop)
    by = expressions.operand(context, step) if step is not None else _zero(context, 1)
    if isinstance(start, Invalid) or isinstance(stop, Invalid) or isinstance(by, Invalid):
        return None
    spans = (node.start.span if node.start else node.span, node.stop.span, step.span if step else node.span)
    if not _one_type(context, (start, stop, by), spans, node.span):
        return None
    known = context.extent_of(by)
    if known is not None and known.known is not None and known.known <= 0:
        from teenyc.diagnostics.catalog.types import StepNotPositive

        context.report(StepNotPositive(span=spans[2], step=known.known))
        return None
    return start, stop, by


def _zero(context: Context, value: int = 0) -> ir.Literal:
    return ir.Literal(value, context.inference.literal(False))


def _one_type(context: Context, operands: tuple[ir.Operand, ...], spans: tuple[Span, ...], whole: Span) -> bool:
    """Whether all bounds are scalars of one integer type; reports where not."""
    others = [o for o in operands if not isinstance(o, ir.Literal)]
    first = next((o for o in others if (t := context.tensor_of(o)) and _is_index(t)), operands[0])
    target = context.tensor_of(first)
    for operand, span in zip(operands, spans, strict=True):
        type = context.tensor_of(operand)
        fits = type is not None and target is not None and not type.shape and _is_index(type)
        if not fits or type is None or target is None or not context.inference.unify(target.element, type.element):
            from teenyc.diagnostics.catalog.types import MismatchedTypes

            is_named = target is not None and _is_index(target) and not isinstance(target.element, Unsuffixed)
            expected = str(target) if is_named and target is not None and not target.shape else "an integer"
            why = "the bounds of a range are integers of one type"
            context.report(MismatchedTypes(span=span or whole, expected=expected, found=str(type), why=why))
            return False
    return True


def _is_index(type: TensorType) -> bool:
    return is_integer(type.element)
