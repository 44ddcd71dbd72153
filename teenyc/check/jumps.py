"""`break` and `continue` as flags: a loop that jumps goes in, syntax with the same meaning and without jumps comes out.

Triton has neither. What follows a jump in the same iteration moves into the `else` of the `if` that jumps, or under a
flag `skip`; a loop that may end early becomes a `while` that asks a flag `done`. The flags' names hold a quote, so no
name of a source can be meant; values show only what stands before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from teenyc.check.assigned import assigned_names
from teenyc.record import record, replace
from teenyc.source import Span
from teenyc.syntax import ast


@record
class Loop:
    """The loop whose jumps are lowered: its label, and a number that tells its flags apart."""

    label: str | None
    number: int

    @property
    def done(self) -> str:
        return f"done'{self.number}"

    @property
    def skip(self) -> str:
        return f"skip'{self.number}"


def jumps(body: ast.Block, label: ast.Name | None) -> bool:
    """Whether a loop's body leaves or restarts that loop."""
    return _block_jumps(body, Loop(label.text if label else None, 0), nested=False)


def lowered_for(node: ast.For, range: ast.Range, step: ast.Expression) -> ast.Block:
    """A `for` over a range as statements without jumps of its own. No counter is ever beyond the range's end."""
    assert range.start is not None, "the caller states it"
    assert range.stop is not None, "ranges without an end are reported"
    loop = Loop(node.label.text if node.label else None, node.span.start)
    body = _body(node.body, loop)
    if not _mentions(body, loop.done):
        return _scope([replace(node, body=body, label=None)], node.span)
    counter = f"{_counter(node)}'{node.span.start}"
    at = node.span
    given = ast.Let(pattern=counting(node.pattern), annotation=None, value=_path(counter, at), span=at)
    stop = _path(f"stop'{at.start}", at)
    onward: ast.Statement = _assign(counter, "+=", step, at)
    is_single = isinstance(step, ast.IntegerLiteral) and step.value == 1
    if range.inclusive and is_single:
        onward = _guarded(onward, _infix(">=", _path(counter, at), stop, at), loop)
    elif not is_single:
        sign = ">" if range.inclusive else ">="
        onward = _guarded(onward, _infix(sign, _path(counter, at), _infix("-", stop, step, at), at), loop)
    inner = ast.Block(statements=(given, *_statements(body), onward), value=None, span=node.body.span)
    in_range = _infix("<=" if range.inclusive else "<", _path(counter, at), stop, at)
    condition = _infix("&&", in_range, _not(_path(loop.done, at), at), at)
    whole = ast.While(condition=condition, body=inner, span=at, comments=node.comments)
    first = _let(f"stop'{at.start}", range.stop, range.stop.span, mutable=False)
    return _scope([first, _let(counter, range.start, at), _flag(loop.done, at), whole], at)


def counting(pattern: ast.Pattern) -> ast.Pattern:
    """The pattern of a counter that a lowered loop declares by a `let`: no body changes it, `mut` or not."""
    is_name = isinstance(pattern, ast.NamePattern)
    return replace(pattern, mutable=False, is_counter=True) if is_name else pattern


def _guarded(onward: ast.Statement, is_last: ast.Expression, loop: Loop) -> ast.Statement:
    """A step that is not taken from where it would pass the end, since it might pass the greatest number too."""
    at = is_last.span
    then = _scope([_assign(loop.done, "=", _true(at), at)], at)
    test = ast.If(condition=is_last, then=then, otherwise=_scope([onward], at), span=at)
    return ast.ExpressionStatement(value=test, span=at)


def lowered_while(node: ast.While) -> ast.Block:
    """A `while` or `loop` as statements without jumps of its own."""
    loop = Loop(node.label.text if node.label else None, node.span.start)
    body = _body(node.body, loop)
    at = node.span
    if not _mentions(body, loop.done):
        return _scope([replace(node, body=body, label=None)], at)
    going = _not(_path(loop.done, at), at)
    condition = going if node.condition is None else _infix("&&", going, node.condition, at)
    return _scope([_flag(loop.done, at), replace(node, condition=condition, body=body, label=None)], at)


# ---- bodies ---------------------------------------------------------------------------------------------------------


def _body(block: ast.Block, loop: Loop) -> ast.Block:
    lowered = _lowered(_statements(block), loop, block.span, is_last=True)
    if not _mentions(lowered, loop.skip):
        return lowered
    return replace(lowered, statements=(_flag(loop.skip, block.span), *lowered.statements))


def _statements(block: ast.Block) -> tuple[ast.Statement, ...]:
    """The statements of a block whose value nobody takes."""
    if block.value is None:
        return block.statements
    last = ast.ExpressionStatement(value=block.value, span=block.value.span, comments=block.comments)
    return (*block.statements, last)


def _lowered(statements: Sequence[ast.Statement], loop: Loop, span: Span, *, is_last: bool) -> ast.Block:
    """Statements without jumps; `is_last` says that nothing of the loop's body follows them."""
    done: list[ast.Statement] = []
    for index, statement in enumerate(statements):
        if not _jumps(statement, loop, nested=False):
            done.append(statement)
            continue
        rest = statements[index + 1 :]
        if isinstance(statement, ast.Jump):
            done += _flags(statement, loop, is_last)
        elif rest and (moved := _moved(statement, rest, loop, is_last)) is not None:
            done.append(moved)
        else:
            done.append(_inner(statement, loop, is_last and not rest))
            if rest:
                done.append(_unless_skipped(rest, loop, is_last))
        break
    return ast.Block(statements=tuple(done), value=None, span=span)


def _flags(jump: ast.Jump, loop: Loop, is_last: bool) -> list[ast.Statement]:
    flags: list[ast.Assign] = [] if is_last else [_assign(loop.skip, "=", _true(jump.span), jump.span)]
    if jump.keyword == "break":
        flags.append(_assign(loop.done, "=", _true(jump.span), jump.span))
    if flags:
        flags[-1] = replace(flags[-1], comments=jump.comments)
    return list(flags)


def _moved(statement: ast.Statement, rest: Sequence[ast.Statement], loop: Loop, is_last: bool) -> ast.Statement | None:
    """`if c { …; continue; } rest` as `if c { … } else { rest }`; None where the statement is of another form."""
    if not isinstance(statement, ast.ExpressionStatement) or not isinstance(statement.value, ast.If):
        return None
    chain = statement.value
    inside = _statements(chain.then)
    if chain.otherwise is not None or not inside or not isinstance(inside[-1], ast.Jump):
        return None
    if any(_jumps(s, loop, nested=False) for s in inside[:-1]) or not _jumps(inside[-1], loop, nested=False):
        return None
    then = _lowered(inside, loop, chain.then.span, is_last=is_last)
    otherwise = _lowered(rest, loop, rest[0].span.to(rest[-1].span), is_last=is_last)
    if not then.statements:
        turned = replace(chain, condition=_not(chain.condition, chain.condition.span), then=otherwise)
        return replace(statement, value=turned)
    return replace(statement, value=replace(chain, then=then, otherwise=otherwise))


def _unless_skipped(rest: Sequence[ast.Statement], loop: Loop, is_last: bool) -> ast.Statement:
    span = rest[0].span.to(rest[-1].span)
    then = _lowered(rest, loop, span, is_last=is_last)
    test = ast.If(condition=_not(_path(loop.skip, span), span), then=then, otherwise=None, span=span)
    return ast.ExpressionStatement(value=test, span=span)


def _inner(statement: ast.Statement, loop: Loop, is_last: bool) -> ast.Statement:
    """A statement with the jumps inside it lowered."""
    match statement:
        case ast.ExpressionStatement():
            return replace(statement, value=_expression(statement.value, loop, is_last))
        case ast.For() | ast.While():  # only labelled jumps get here: they end the inner loop too
            return replace(statement, body=_through(statement.body, loop))
        case _:
            return statement


def _expression(node: ast.Expression, loop: Loop, is_last: bool) -> ast.Expression:
    match node:
        case ast.If():
            then = _lowered(_statements(node.then), loop, node.then.span, is_last=is_last)
            return replace(node, then=then, otherwise=_otherwise(node.otherwise, loop, is_last))
        case ast.Block():
            return _lowered(_statements(node), loop, node.span, is_last=is_last)
        case ast.Match():
            arms = tuple(replace(a, value=_arm(a.value, loop, is_last)) for a in node.arms)
            return replace(node, arms=arms)
        case _:
            return node


def _otherwise(node: ast.Block | ast.If | None, loop: Loop, is_last: bool) -> ast.Block | ast.If | None:
    if node is None:
        return None
    lowered = _expression(node, loop, is_last)
    assert isinstance(lowered, ast.Block | ast.If)
    return lowered


def _arm(value: ast.Expression, loop: Loop, is_last: bool) -> ast.Expression:
    block = value if isinstance(value, ast.Block) else ast.Block(statements=(), value=value, span=value.span)
    return _lowered(_statements(block), loop, block.span, is_last=is_last)


def _through(block: ast.Block, loop: Loop) -> ast.Block:
    """An inner loop's body, where a jump to the outer loop sets its flags and breaks the inner loop."""
    statements: list[ast.Statement] = []
    for statement in _statements(block):
        if isinstance(statement, ast.Jump) and _is_own(statement, loop, nested=True):
            stop = ast.Jump(keyword="break", span=statement.span)
            statements += [*_flags(statement, loop, False), stop]
        elif _jumps(statement, loop, nested=True):
            statements.append(_through_statement(statement, loop))
        else:
            statements.append(statement)
    return replace(block, statements=tuple(statements), value=None)


def _through_statement(statement: ast.Statement, loop: Loop) -> ast.Statement:
    match statement:
        case ast.ExpressionStatement():
            return replace(statement, value=_through_expression(statement.value, loop))
        case ast.For() | ast.While():
            body = _through(statement.body, loop)
            stop = ast.If(
                condition=_path(loop.skip, statement.span),
                then=ast.Block(
                    statements=(ast.Jump(keyword="break", span=statement.span),), value=None, span=statement.span
                ),
                otherwise=None,
                span=statement.span,
            )
            after = ast.ExpressionStatement(value=stop, span=statement.span)
            inner = ast.Block(statements=(replace(statement, body=body), after), value=None, span=statement.span)
            return ast.ExpressionStatement(value=inner, span=statement.span)
        case _:
            return statement


def _through_expression(node: ast.Expression, loop: Loop) -> ast.Expression:
    match node:
        case ast.If():
            otherwise = None if node.otherwise is None else _through_expression(node.otherwise, loop)
            assert otherwise is None or isinstance(otherwise, ast.Block | ast.If)
            return replace(node, then=_through(node.then, loop), otherwise=otherwise)
        case ast.Block():
            return _through(node, loop)
        case _:
            return node


# ---- asking ---------------------------------------------------------------------------------------------------------


def _is_own(jump: ast.Jump, loop: Loop, *, nested: bool) -> bool:
    if jump.keyword == "return":
        return False
    if jump.label is None:
        return not nested
    return jump.label.text == loop.label


def _jumps(statement: ast.Statement, loop: Loop, *, nested: bool) -> bool:
    match statement:
        case ast.Jump():
            return _is_own(statement, loop, nested=nested)
        case ast.ExpressionStatement():
            return _expression_jumps(statement.value, loop, nested)
        case ast.For() | ast.While():
            return _block_jumps(statement.body, loop, nested=True)
        case _:
            return False


def _block_jumps(block: ast.Block, loop: Loop, *, nested: bool) -> bool:
    return any(_jumps(s, loop, nested=nested) for s in _statements(block))


def _expression_jumps(node: ast.Expression | None, loop: Loop, nested: bool) -> bool:
    match node:
        case ast.If():
            return _block_jumps(node.then, loop, nested=nested) or _expression_jumps(node.otherwise, loop, nested)
        case ast.Block():
            return _block_jumps(node, loop, nested=nested)
        case ast.Match():
            return any(_expression_jumps(a.value, loop, nested) for a in node.arms)
        case _:
            return False


def _mentions(block: ast.Block, name: str) -> bool:
    """Whether a flag is set anywhere in a block."""
    return name in assigned_names((block,))


# ---- syntax ---------------------------------------------------------------------------------------------------------


def _counter(node: ast.For) -> str:
    return node.pattern.name.text if isinstance(node.pattern, ast.NamePattern) else "counter"


def _path(name: str, span: Span) -> ast.Expression:
    return ast.PathExpression(segments=(ast.Segment(name=ast.Name(name, span)),), span=span)


def _true(span: Span) -> ast.Expression:
    return ast.BoolLiteral(value=True, span=span)


def _not(node: ast.Expression, span: Span) -> ast.Expression:
    return ast.Unary(operator="!", operand=node, span=span)


def _infix(sign: str, left: ast.Expression, right: ast.Expression, span: Span) -> ast.Expression:
    return ast.Binary(operator=sign, left=left, right=right, operator_span=span, span=span)


def _assign(name: str, sign: str, value: ast.Expression, span: Span) -> ast.Assign:
    return ast.Assign(target=_path(name, span), operator=sign, value=value, span=span)


def _let(name: str, value: ast.Expression, span: Span, *, mutable: bool = True) -> ast.Let:
    pattern = ast.NamePattern(name=ast.Name(name, span), mutable=mutable)
    return ast.Let(pattern=pattern, annotation=None, value=value, span=span)


def _flag(name: str, span: Span) -> ast.Let:
    return _let(name, ast.BoolLiteral(value=False, span=span), span)


def _scope(statements: Sequence[ast.Statement], span: Span) -> ast.Block:
    return ast.Block(statements=tuple(statements), value=None, span=span)
