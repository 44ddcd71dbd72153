"""Statements: variables, assignments, branches and loops become blocks of IR with explicit carried values."""

from __future__ import annotations

from typing import Literal, assert_never

from teenyc.check import expressions, operators
from teenyc.check.context import INVALID, NOTHING, Checked, Context, Group, Invalid, Symbol, describe
from teenyc.check.descriptors import stands_for
from teenyc.check.lints import lint_result
from teenyc.check.outer import is_outer
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
        is_broken = context.calling and jump is not None and _is_return(block.statements[-1])
        return INVALID if is_broken else NOTHING
    start = len(context.statements)
    value = expressions.expression(context, block.value)
    _comment(context, start, block.comments)
    return value


def _is_return(statement: ast.Statement) -> bool:
    """Whether a statement of a device function is a `return`, which was reported: all others became branches."""
    return isinstance(statement, ast.Jump) and statement.keyword == "return"


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
            value = expressions.expression(context, statement.value)
            lint_result(context, statement.value, value, start)
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
    context.library.nested.append((function, context.declarations))
    around = {name: symbol for scope in context.scopes for name, symbol in scope.items()}
    context.library.outside[function.span] = (function, around)


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
    if isinstance(value, Group) and not (value.items or name == "_" or "'" in name):
        from teenyc.diagnostics.catalog.types import NoValue

        value = context.report(NoValue(span=span, found=describe(value, context)))
    elif isinstance(value, Group) and pattern.mutable:
        from teenyc.diagnostics.catalog.functions import MutableTuple

        value = context.report(MutableTuple(span=pattern.name.span, name=name, count=len(value.items)))
    if name == "_":
        return
    if not is_alias:
        value = context.named(value, name, span)
    silent = isinstance(value, Invalid) or pattern.is_silent
    symbol = Symbol(name, pattern.name.span, value, mutable=pattern.mutable, is_read=silent, is_assigned=silent)
    symbol.is_counter, symbol.mut = pattern.is_counter, pattern.mut
    context.declare(symbol)
    if pattern.mutable and not is_alias:
        _note_assignment(context, symbol, pattern.name.span)


def _assign(context: Context, node: ast.Assign) -> None:
    symbol = _target(context, node.target)
    if symbol is not None and isinstance(symbol.current, Invalid):
        expressions.expression(context, node.value)
        return
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
        if name in context.declarations.constants or name in context.ended:
            expressions.expression(context, node)
        else:
            _undeclared(context, name, node.span)
        return None
    if not symbol.mutable and not isinstance(symbol.current, Invalid):
        from teenyc.diagnostics.catalog.names import AssignedImmutable

        kind: Literal["parameter", "counter", "variable"] = "counter" if symbol.is_counter else "variable"
        kind = "parameter" if symbol.is_parameter else kind
        context.report(AssignedImmutable(span=node.span, name=name, declared=symbol.span, kind=kind))
        symbol.is_read = True
        return None
    symbol.is_assigned = True
    return symbol


def _undeclared(context: Context, name: str, span: Span) -> None:
    from teenyc.diagnostics.catalog.names import UnknownName
    from teenyc.diagnostics.suggest import closest

    if is_outer(context, name, span):
        return
    similar = closest(name, [n for scope in context.scopes for n in scope])
    advice = f"declare it before with `let mut {name} = …`" + (f", or assign to `{similar}`" if similar else "")
    context.report(UnknownName(span=span, name=name, advice=advice))
    context.declare(Symbol(name, span, INVALID, mutable=True, is_read=True, is_assigned=True))


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
    if context.loop_depth:
        from teenyc.diagnostics.catalog.structure import ReturnInLoop

        context.report(ReturnInLoop(span=node.span))
    elif context.calling:  # every other one became a branch
        from teenyc.diagnostics.catalog.functions import ReturnInside

        context.report(ReturnInside(span=node.span))
    elif node.value is not None:
        from teenyc.diagnostics.catalog.structure import KernelResult

        context.report(KernelResult(span=node.value.span))
    else:
        context.statements.append(ir.Return(span=node.span))
