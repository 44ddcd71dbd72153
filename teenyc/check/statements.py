"""Statements: variables, assignments, branches and loops become blocks of IR with explicit carried values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from teenyc.check import expressions, operators
from teenyc.check.assigned import assigned_names
from teenyc.check.context import INVALID, NOTHING, Checked, Context, Group, Invalid, Symbol, describe
from teenyc.check.descriptors import stands_for
from teenyc.check.types import annotated, is_tensor
from teenyc.ir import nodes as ir
from teenyc.record import replace
from teenyc.source import Comments, Span
from teenyc.syntax import ast
from teenyc.types import DescriptorType, TensorType


def block_value(context: Context, block: ast.Block) -> Checked:
    """Checks the statements of a block in the current scope; its value."""
    if context.is_too_deep(Span(block.span.start, block.span.start + 1)):
        return INVALID
    context.depth += 1
    value = _in_order(context, block)
    context.depth -= 1
    return value


def _in_order(context: Context, block: ast.Block) -> Checked:
    jump: Span | None = None
    for statement in block.statements:
        if jump is not None:
            from teenyc.diagnostics.catalog.lints import UnreachableCode

            context.report(UnreachableCode(span=statement.span, jump=jump))
            break
        _statement(context, statement)
        jump = statement.span if isinstance(statement, ast.Jump) else None
    if block.value is None:
        return NOTHING
    start = len(context.statements)
    value = expressions.expression(context, block.value)
    _comment(context, start, block.comments)
    return value


def scoped_block(context: Context, block: ast.Block) -> Checked:
    """`{ … }` as an expression: a scope of its own in the same run of statements."""
    context.scopes.append({})
    value = block_value(context, block)
    context.close_scope()
    return value


def _statement(context: Context, statement: ast.Statement) -> None:
    start = len(context.statements)
    match statement:
        case ast.Let():
            _let(context, statement)
        case ast.Assign():
            _assign(context, statement)
        case ast.ExpressionStatement():
            expressions.expression(context, statement.value)
        case ast.For():
            from teenyc.check.loops import for_loop

            for_loop(context, statement)
        case ast.While():
            from teenyc.check.loops import while_loop

            while_loop(context, statement)
        case ast.Jump():
            _jump(context, statement)
        case ast.Function():
            _nested_function(context, statement)
            return
        case ast.ConstItem():
            context.declarations = replace(
                context.declarations,
                constants={**context.declarations.constants, statement.name.text: statement},
            )
            return
        case _:
            assert_never(statement)
    _comment(context, start, statement.comments)


def _comment(context: Context, start: int, comments: Comments) -> None:
    """Puts the comments of a source statement on the last of the operations that it became."""
    if comments and len(context.statements) > start:
        last = context.statements[-1]
        merged = Comments((*last.comments.leading, *comments.leading), last.comments.trailing or comments.trailing)
        context.statements[-1] = replace(last, comments=merged)


def _nested_function(context: Context, function: ast.Function) -> None:
    if any(a.name.text == "kernel" for a in function.attributes):
        from teenyc.diagnostics.catalog.structure import NestedKernel

        context.report(NestedKernel(span=function.name.span, name=function.name.text))
        return
    functions = {**context.declarations.functions, function.name.text: function}
    context.declarations = replace(context.declarations, functions=functions)


# ---- variables ------------------------------------------------------------------------------------------------------


def _let(context: Context, node: ast.Let) -> None:
    if node.value is None:
        from teenyc.diagnostics.catalog.types import NeverInitialised

        name = node.pattern.name if isinstance(node.pattern, ast.NamePattern) else None
        context.report(NeverInitialised(span=node.span, name=name.text if name else "_"))
        value: Checked = INVALID
    else:
        value = expressions.expression(context, node.value)
        value = _annotated(context, node, node.value.span, value)
    span = node.value.span if node.value else node.span
    if isinstance(node.pattern, ast.NamePattern) and _is_alias(node, node.pattern):
        _bind_name(context, node.pattern, value, span, is_alias=True)
    else:
        _bind(context, node.pattern, value, span)


def _is_alias(node: ast.Let, pattern: ast.NamePattern) -> bool:
    """Whether a `let` that the lowering of jumps made only passes a value on."""
    names = [pattern.name.text]
    if isinstance(node.value, ast.PathExpression):
        names.append(node.value.segments[-1].name.text)
    return not pattern.mutable and any("'" in name for name in names)


def _annotated(context: Context, node: ast.Let, span: Span, value: Checked) -> Checked:
    if node.annotation is None or isinstance(value, Invalid | Group):
        return value
    element = annotated(context, node.annotation)
    if element is not None and stands_for(value, element):
        return value
    type = context.tensor_of(value)
    if element is None or type is None:
        return INVALID
    shape = type.shape if is_tensor(node.annotation) else ()
    return expressions.expect(context, value, TensorType(element, shape), span, "the type that `let` states")


def _bind(context: Context, pattern: ast.Pattern, value: Checked, span: Span) -> None:
    match pattern:
        case ast.NamePattern():
            _bind_name(context, pattern, value, span)
        case ast.TuplePattern():
            items = value.items if isinstance(value, Group) else ()
            if not isinstance(value, Invalid) and len(items) != len(pattern.items):
                from teenyc.diagnostics.catalog.types import NoValue

                needed = f"a tuple of {len(pattern.items)} values"
                context.report(NoValue(span=span, needed=needed, found=describe(value, context)))
                items = ()
            for index, item in enumerate(pattern.items):
                _bind(context, item, items[index] if index < len(items) else INVALID, span)
        case _:
            assert_never(pattern)


def _bind_name(
    context: Context, pattern: ast.NamePattern, value: Checked, span: Span, *, is_alias: bool = False
) -> None:
    name = pattern.name.text
    if isinstance(value, Group):
        from teenyc.diagnostics.catalog.types import NoValue

        if name != "_" or value.items:
            context.report(NoValue(span=span, found=describe(value, context)))
        value = INVALID
    if name == "_":
        return
    if not is_alias:
        value = context.named(value, name, span)
    silent = isinstance(value, Invalid) or pattern.is_silent
    symbol = Symbol(name, pattern.name.span, value, mutable=pattern.mutable, is_read=silent, is_assigned=silent)
    context.declare(symbol)
    if pattern.mutable and not is_alias:
        _note_assignment(context, symbol, pattern.name.span)


def _assign(context: Context, node: ast.Assign) -> None:
    symbol = _target(context, node.target)
    value = expressions.operand(context, node.value)
    if symbol is None or isinstance(value, Invalid) or isinstance(symbol.current, Invalid | Group):
        if symbol is not None and isinstance(value, Invalid):
            symbol.is_read = True
        return
    if node.operator != "=":
        spans = (node.target.span, node.value.span, node.span)
        combined = operators.binary(context, node.operator[:-1], symbol.current, value, spans)
        if isinstance(combined, Invalid | Group):
            return
        value = combined
    if not _keeps_type(context, symbol, symbol.current, value, node.value.span):
        return
    symbol.current = context.named(value, symbol.name, node.span)
    _note_assignment(context, symbol, node.target.span)


def _note_assignment(context: Context, symbol: Symbol, span: Span) -> None:
    """Keeps what a mutable variable was given, to see at the end whether anything reads it."""
    if isinstance(symbol.current, ir.Value):
        context.assignments.append((symbol.current.id, symbol, span))


def _target(context: Context, node: ast.Expression) -> Symbol | None:
    if not isinstance(node, ast.PathExpression) or len(node.segments) != 1:
        from teenyc.diagnostics.catalog.names import NotAssignable

        context.report(NotAssignable(span=node.span))
        return None
    name = node.segments[0].name.text
    symbol = context.lookup(name)
    if symbol is None:
        expressions.expression(context, node)
        return None
    if not symbol.mutable and not isinstance(symbol.current, Invalid):
        from teenyc.diagnostics.catalog.names import AssignedImmutable

        context.report(AssignedImmutable(span=node.span, name=name, declared=symbol.span))
        symbol.is_read = True
        return None
    symbol.is_assigned = True
    return symbol


def _keeps_type(context: Context, symbol: Symbol, old: ir.Operand, new: ir.Operand, span: Span) -> bool:
    """Whether an assignment leaves the variable its type and shape; reports where not."""
    if isinstance(old.type, DescriptorType) and old.type == new.type:
        return True
    a, b = context.tensor_of(old), context.tensor_of(new)
    same_shape = a is not None and b is not None and a.shape == b.shape
    if same_shape and a and b and context.inference.unify(a.element, b.element) is not None:
        return True
    from teenyc.diagnostics.catalog.types import ChangedType

    declared, found = _kind(a, context), _kind(b, context)
    advice: str | None = (
        "reduce the value with `sum`, or declare the variable with `zeros::<…>(&[…])` in the shape it will have"
    )
    if a is not None and b is not None and a.shape == b.shape:
        advice = f"convert the value with `as {context.inference.final(a.element)}`"
    if a is None or b is None:
        declared, found, advice = describe(old, context), describe(new, context), None
    symbol.is_read = True
    context.report(
        ChangedType(
            span=span, name=symbol.name, declared=declared, found=found, declared_span=symbol.span, advice=advice
        )
    )
    return False


def _kind(type: TensorType | None, context: Context) -> str:
    if type is None:
        return "another kind of value"
    element = context.inference.final(type.element)
    return f"a scalar `{element}`" if not type.shape else f"`{replace(type, element=element)}`"


def _jump(context: Context, node: ast.Jump) -> None:
    if node.keyword != "return":
        from teenyc.check.loops import jump

        jump(context, node)
        return
    if context.calling:
        from teenyc.diagnostics.catalog.structure import Unsupported

        what = "an early `return` of a device function"
        context.report(Unsupported(span=node.span, what=what, instead="give the value of an `if … else …` instead"))
    elif context.loop_depth:
        from teenyc.diagnostics.catalog.structure import ReturnInLoop

        context.report(ReturnInLoop(span=node.span))
    elif node.value is not None:
        from teenyc.diagnostics.catalog.structure import KernelResult

        context.report(KernelResult(span=node.value.span))
    else:
        context.statements.append(ir.Return(span=node.span))


# ---- branches -------------------------------------------------------------------------------------------------------


def carried_symbols(context: Context, nodes: Sequence[ast.Expression | ast.Block | None]) -> list[Symbol]:
    """The variables from outside that inner code assigns to, in order of assignment."""
    names = assigned_names(nodes)
    found = [context.lookup(name) for name in names]
    return [s for s in found if s is not None and s.mutable and not isinstance(s.current, Invalid | Group)]


def conditional(context: Context, node: ast.If) -> Checked:
    """`if c { } else { }`: both branches are checked from the same state, and what they assign is merged."""
    condition = expressions.condition(context, node.condition)
    symbols = carried_symbols(context, (node.then, node.otherwise))
    before = [s.current for s in symbols]
    then, first = _branch(context, node.then, symbols)
    after = [s.current for s in symbols]
    for symbol, current in zip(symbols, before, strict=True):
        symbol.current = current
    otherwise, second = _branch(context, node.otherwise, symbols)
    values = _merged(context, node, first, second)
    if isinstance(condition, Invalid) or values is None:
        return INVALID
    pairs = [(a, s.current) for a, s in zip(after, symbols, strict=True)]
    return _if(context, node, condition, (then, otherwise), values, (symbols, pairs))


Pair = tuple[ir.Operand, ir.Operand]


def _if(
    context: Context,
    node: ast.If,
    condition: ir.Operand,
    branches: tuple[list[ir.Statement], list[ir.Statement]],
    values: list[Pair],
    state: tuple[list[Symbol], list[tuple[Checked, Checked]]],
) -> Checked:
    symbols, pairs = state
    sound = [(s, a, b) for s, (a, b) in zip(symbols, pairs, strict=True) if _is_operand(a) and _is_operand(b)]
    operands: list[Pair] = [*values, *((a, b) for _, a, b in sound)]  # type: ignore[list-item]
    names = [*("" for _ in values), *(s.shown for s, _, _ in sound)]
    results = tuple(context.value(a.type, name) for (a, _), name in zip(operands, names, strict=True))
    then, otherwise = (_closed(b, [pair[i] for pair in operands]) for i, b in enumerate(branches))
    context.statements.append(
        ir.If(condition=condition, then=then, otherwise=otherwise, results=results, span=node.span)
    )
    for (symbol, _, _), result in zip(sound, results[len(values) :], strict=True):
        symbol.current = result
    given = results[: len(values)]
    return given[0] if len(given) == 1 else Group(given)


def _is_operand(checked: Checked) -> bool:
    return not isinstance(checked, Invalid | Group)


def _closed(statements: list[ir.Statement], yields: list[ir.Operand]) -> ir.Block:
    """A branch's block; one that returns yields nothing."""
    if statements and isinstance(statements[-1], ir.Return):
        return ir.Block(statements=tuple(statements))
    return ir.Block(statements=tuple(statements), yields=tuple(yields))


def _branch(
    context: Context, node: ast.Block | ast.If | None, symbols: list[Symbol]
) -> tuple[list[ir.Statement], tuple[Checked, Span] | None]:
    """The statements and the value of a branch; None for one that leaves."""
    if node is None:
        return [], (NOTHING, Span(0, 0))
    with context.block() as statements:
        value = conditional(context, node) if isinstance(node, ast.If) else block_value(context, node)
    if statements and isinstance(statements[-1], ir.Return):
        return statements, None
    inner = node.value if isinstance(node, ast.Block) and node.value is not None else node
    return statements, (value, inner.span)


def _merged(
    context: Context, node: ast.If, first: tuple[Checked, Span] | None, second: tuple[Checked, Span] | None
) -> list[Pair] | None:
    """The values of the branches in pairs of one type; None after a report."""
    if first is None or second is None:
        only = first or second
        items = only[0].items if only is not None and isinstance(only[0], Group) else ()
        return [] if only is None or (isinstance(only[0], Group) and not items) else None
    if _is_broken(first[0]) or _is_broken(second[0]):
        return None
    one, two = _items(first[0]), _items(second[0])
    pairs = list(zip(one, two, strict=False))
    if len(one) == len(two) and all(_alike(context, a, b) for a, b in pairs):
        return pairs
    from teenyc.diagnostics.catalog.types import MismatchedBranches

    span = second[1] if node.otherwise is not None else node.span
    texts = [describe(checked, context).strip("`") for checked, _ in (first, second)]
    context.report(MismatchedBranches(span=span, first=texts[0], second=texts[1], first_span=first[1]))
    return None


def _is_broken(checked: Checked) -> bool:
    return isinstance(checked, Invalid) or (isinstance(checked, Group) and any(map(_is_broken, checked.items)))


def _items(checked: Checked) -> list[ir.Operand]:
    if isinstance(checked, Group):
        return [operand for item in checked.items for operand in _items(item)]
    assert not isinstance(checked, Invalid)
    return [checked]


def _alike(context: Context, a: ir.Operand, b: ir.Operand) -> bool:
    one, two = context.tensor_of(a), context.tensor_of(b)
    if one is None or two is None:
        return context.type_of(a) == context.type_of(b)
    return one.shape == two.shape and context.inference.unify(one.element, two.element) is not None
