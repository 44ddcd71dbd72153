"""Early returns: the body of a device function goes in, a block with the same meaning and no `return` comes out.

What follows a statement that returns moves into the branch that does not. Where a branch may or may not return, it
gives a flag and the result instead, and what follows stands under that flag. So no function leaves in the middle, which
Triton allows in few places. A `return` in a loop stays, for the checker to report. The names made here hold a quote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto

from teenyc.check.context import NEVER_KNOWN
from teenyc.record import record, replace
from teenyc.source import Span
from teenyc.syntax import ast


class Leaves(Enum):
    """Whether a piece of code returns."""

    NEVER = auto()
    MAYBE = auto()
    ALWAYS = auto()


Unreachable = Callable[[Span, Span], None]
"""Told of a statement behind which another never runs: first the unreachable one, then the `return`."""


def without_returns(body: ast.Block, unreachable: Unreachable) -> ast.Block:
    """The body of a function as a block whose value is the function's."""
    if leaves(body) is Leaves.NEVER:
        return body
    return _Lowering(unreachable, is_flagged=False).block(body)


def leaves(node: ast.Statement | ast.Expression | None) -> Leaves:
    """Whether a statement or expression returns from the function; loops are looked at elsewhere."""
    match node:
        case ast.Jump():
            return Leaves.ALWAYS if node.keyword == "return" else Leaves.NEVER
        case ast.ExpressionStatement() | ast.Let():
            return leaves(node.value)
        case ast.Block():
            return _in_order([*map(leaves, node.statements), leaves(node.value)])
        case ast.If():
            return _either([leaves(node.then), leaves(node.otherwise)])
        case ast.Match():
            return _either([leaves(arm.value) for arm in node.arms])
        case _:
            return Leaves.NEVER


def _in_order(parts: Sequence[Leaves]) -> Leaves:
    if Leaves.ALWAYS in parts:
        return Leaves.ALWAYS
    return Leaves.MAYBE if Leaves.MAYBE in parts else Leaves.NEVER


def _either(branches: Sequence[Leaves]) -> Leaves:
    first = branches[0] if branches else Leaves.NEVER
    return first if all(b is first for b in branches) else Leaves.MAYBE


@record
class _Lowering:
    """The rewrite of one block and what is inside. If it is flagged, blocks give `(returned, result)`."""

    unreachable: Unreachable
    is_flagged: bool

    def block(self, block: ast.Block) -> ast.Block:
        lowered = self.run(block.statements, block.value, block.span)
        return replace(lowered, comments=block.comments) if lowered.value is block.value else lowered

    def run(self, statements: Sequence[ast.Statement], value: ast.Expression | None, span: Span) -> ast.Block:
        """Statements and a value, as a block that gives what the function returns."""
        for index, statement in enumerate(statements):
            if leaves(statement) is Leaves.NEVER:
                continue
            rest = _Rest(statements[index + 1 :], value, span)
            before = tuple(statements[:index])
            last = self.leaving(statement, rest)
            return replace(last, statements=(*before, *last.statements), span=span)
        if value is not None and leaves(value) is not Leaves.NEVER:
            as_statement = ast.ExpressionStatement(value=value, span=value.span)
            last = self.leaving(as_statement, _Rest((), None, span))
            return replace(last, statements=(*statements, *last.statements), span=span)
        return self.end(tuple(statements), value, span)

    def end(self, statements: tuple[ast.Statement, ...], value: ast.Expression | None, span: Span) -> ast.Block:
        """The end of a block behind which the function goes on, or which is the function's own."""
        if not self.is_flagged:
            return ast.Block(statements=statements, value=value, span=span)
        if value is not None:
            statements = (*statements, ast.ExpressionStatement(value=value, span=value.span))
        nothing = ast.Tuple(items=(_bool(False, span), _path(NEVER_KNOWN, span)), span=span)
        return ast.Block(statements=statements, value=nothing, span=span)

    def leaving(self, statement: ast.Statement, rest: _Rest) -> ast.Block:
        """A statement that may return, with what follows it."""
        match statement:
            case ast.Jump():
                return self.returning(statement, rest)
            case ast.ExpressionStatement():
                return self.branching(statement.value, rest, statement)
            case ast.Let():
                return self.binding(statement, rest)
            case _:
                raise AssertionError("other statements do not return")

    def returning(self, jump: ast.Jump, rest: _Rest) -> ast.Block:
        if rest.statements or rest.value is not None:
            following = rest.statements[0].span if rest.statements else rest.value.span  # type: ignore[union-attr]  # one of them is there
            self.unreachable(following, jump.span)
        value: ast.Expression | None = jump.value
        if self.is_flagged:
            given = value if value is not None else ast.Tuple(items=(), span=jump.span)
            value = ast.Tuple(items=(_bool(True, jump.span), given), span=jump.span)
        return ast.Block(statements=(), value=value, span=jump.span, comments=jump.comments)

    def branching(self, node: ast.Expression, rest: _Rest, statement: ast.ExpressionStatement) -> ast.Block:
        """An `if`, `match` or block that may return."""
        match node:
            case ast.If():
                return self.choice(node, rest, statement)
            case ast.Match():
                return self.selection(node, rest, statement)
            case ast.Block():
                return self.inner(node, rest, statement)
            case _:
                raise AssertionError("other expressions do not return")

    def inner(self, node: ast.Block, rest: _Rest, statement: ast.ExpressionStatement) -> ast.Block:
        """`{ … }`: the same run of statements, where its variables hide none that is used behind it."""
        if leaves(node) is Leaves.ALWAYS and not rest.is_empty:
            self.unreachable(rest.first, node.span)
            rest = _Rest((), None, rest.span)
        if not rest.is_empty and not _may_be_followed(node):
            always = ast.If(condition=_bool(True, node.span), then=node, otherwise=None, span=node.span)
            return self.flagged(always, rest, statement)
        return self.otherwise(node, rest)

    def choice(self, node: ast.If, rest: _Rest, statement: ast.ExpressionStatement) -> ast.Block:
        """What follows moves into the only branch that goes on; a branch that may go on needs a flag."""
        first, second = leaves(node.then), leaves(node.otherwise)
        if rest.is_empty:
            then, otherwise = self.block(node.then), self.otherwise(node.otherwise, rest)
        elif first is Leaves.ALWAYS and second is Leaves.ALWAYS:
            self.unreachable(rest.first, node.span)
            then, otherwise = self.block(node.then), self.otherwise(node.otherwise, _Rest((), None, rest.span))
        elif first is Leaves.ALWAYS and _may_be_followed(node.otherwise):
            then, otherwise = self.block(node.then), self.otherwise(node.otherwise, rest)
        elif second is Leaves.ALWAYS and _may_be_followed(node.then):
            then = self.otherwise(node.then, rest)
            otherwise = self.otherwise(node.otherwise, _Rest((), None, rest.span))
        else:
            return self.flagged(node, rest, statement)
        whole = replace(node, then=then, otherwise=otherwise)
        return ast.Block(statements=(), value=whole, span=node.span, comments=statement.comments)

    def selection(self, node: ast.Match, rest: _Rest, statement: ast.ExpressionStatement) -> ast.Block:
        """The same for the arms of a `match`."""
        nothing = _Rest((), None, rest.span)
        going = [arm for arm in node.arms if leaves(arm.value) is not Leaves.ALWAYS]
        if not going and not rest.is_empty:
            self.unreachable(rest.first, node.span)
            rest = nothing
        is_plain = len(going) == 1 and not _binds(going[0]) and _may_be_followed(_block(going[0].value))
        if not rest.is_empty and not is_plain:
            return self.flagged(node, rest, statement)
        arms = tuple(
            replace(arm, value=self.otherwise(_block(arm.value), rest if arm in going else nothing))
            for arm in node.arms
        )
        return ast.Block(statements=(), value=replace(node, arms=arms), span=node.span, comments=statement.comments)

    def otherwise(self, node: ast.Block | ast.If | None, rest: _Rest) -> ast.Block:
        """A branch with what follows behind it; its own variables are not seen there."""
        if node is None:
            return self.run(rest.statements, rest.value, rest.span)
        if isinstance(node, ast.If):
            first: tuple[ast.Statement, ...] = (ast.ExpressionStatement(value=node, span=node.span),)
        elif leaves(node) is Leaves.NEVER and not rest.is_empty:
            first = (ast.ExpressionStatement(value=node, span=node.span),)
        else:
            return self.run((*node.statements, *_valued(node), *rest.statements), rest.value, node.span)
        return self.run((*first, *rest.statements), rest.value, node.span)

    def flagged(self, node: ast.If | ast.Match, rest: _Rest, statement: ast.ExpressionStatement) -> ast.Block:
        """`let (returned, result) = if …; if returned { result } else { rest }`."""
        at = node.span
        returned, result = f"returned'{at.start}", f"result'{at.start}"
        inner = _Lowering(self.unreachable, is_flagged=True)
        nothing = _Rest((), None, at)
        given: ast.Expression
        if isinstance(node, ast.If):
            given = replace(node, then=inner.block(node.then), otherwise=inner.otherwise(node.otherwise, nothing))
        else:
            arms = (replace(arm, value=inner.otherwise(_block(arm.value), nothing)) for arm in node.arms)
            given = replace(node, arms=tuple(arms))
        names = ast.TuplePattern(items=(_pattern(returned, at), _pattern(result, at)), span=at)
        first = ast.Let(pattern=names, annotation=None, value=given, span=at, comments=statement.comments)
        value: ast.Expression = _path(result, at)
        if self.is_flagged:
            value = ast.Tuple(items=(_bool(True, at), value), span=at)
        then = ast.Block(statements=(), value=value, span=at)
        following = self.run(rest.statements, rest.value, rest.span)
        last = ast.If(condition=_path(returned, at), then=then, otherwise=following, span=at)
        return ast.Block(statements=(first,), value=last, span=at)

    def binding(self, node: ast.Let, rest: _Rest) -> ast.Block:
        """`let x = if c { return a; } else { b };`: the branch that gives a value goes on."""
        value = node.value
        going = [side for side in _sides(value) if leaves(side) is not Leaves.ALWAYS]
        if len(going) == 1:
            bound = replace(node, value=going[0])
            onward = self.run((bound, *rest.statements), rest.value, rest.span)
            whole = self.only(value, going[0], onward)
            return ast.Block(statements=(), value=whole, span=node.span)
        if isinstance(value, ast.Block) and _may_be_followed(value):
            bound = replace(node, value=value.value)
            return self.run((*value.statements, bound, *rest.statements), rest.value, node.span)
        return ast.Block(statements=(node, *rest.statements), value=rest.value, span=rest.span)

    def only(self, node: ast.Expression | None, going: ast.Expression, onward: ast.Block) -> ast.Expression:
        """A choice of which one branch goes on, and gives what follows; the others return."""
        nothing = _Rest((), None, onward.span)
        if isinstance(node, ast.Match):
            arms = (
                replace(a, value=onward if a.value is going else self.otherwise(_block(a.value), nothing))
                for a in node.arms
            )
            return replace(node, arms=tuple(arms))
        assert isinstance(node, ast.If), "other expressions have one side"
        then = onward if node.then is going else self.otherwise(node.then, nothing)
        otherwise = onward if node.otherwise is going else self.otherwise(node.otherwise, nothing)
        return replace(node, then=then, otherwise=otherwise)


def _sides(node: ast.Expression | None) -> list[ast.Expression]:
    """The branches of a choice that gives a value, one of which may go on with what follows it."""
    match node:
        case ast.If():
            return [s for s in (node.then, node.otherwise) if s is not None]
        case ast.Match() if not any(map(_binds, node.arms)):
            return [arm.value for arm in node.arms]
        case _:
            return []


def _binds(arm: ast.MatchArm) -> bool:
    """Whether an arm may give names to what it meets, which must not be seen behind the `match`."""
    parts = [p for pattern in arm.patterns for p in (pattern.items if isinstance(pattern, ast.Tuple) else (pattern,))]
    names = [p.segments[0].name.text for p in parts if isinstance(p, ast.PathExpression) and len(p.segments) == 1]
    return any(name != "_" and not name.isupper() for name in names)


def _block(value: ast.Expression) -> ast.Block:
    return value if isinstance(value, ast.Block) else ast.Block(statements=(), value=value, span=value.span)


@record
class _Rest:
    """What follows a statement in its block."""

    statements: Sequence[ast.Statement]
    value: ast.Expression | None
    span: Span

    @property
    def is_empty(self) -> bool:
        return not self.statements and self.value is None

    @property
    def first(self) -> Span:
        """Where it begins."""
        return self.statements[0].span if self.statements else self.value.span if self.value else self.span


def _may_be_followed(node: ast.Block | ast.If | None) -> bool:
    """Whether code may be put behind a branch without seeing variables of the branch that are not its own."""
    if not isinstance(node, ast.Block) or leaves(node) is Leaves.NEVER:
        return True
    return not any(isinstance(s, ast.Let | ast.Function | ast.ConstItem) for s in node.statements)


def _valued(block: ast.Block) -> tuple[ast.Statement, ...]:
    """The value of a block as its last statement."""
    if block.value is None:
        return ()
    return (ast.ExpressionStatement(value=block.value, span=block.value.span, comments=block.comments),)


# ---- syntax ---------------------------------------------------------------------------------------------------------


def _path(name: str, span: Span) -> ast.PathExpression:
    return ast.PathExpression(segments=(ast.Segment(name=ast.Name(name, span)),), span=span)


def _pattern(name: str, span: Span) -> ast.NamePattern:
    return ast.NamePattern(name=ast.Name(name, span))


def _bool(value: bool, span: Span) -> ast.Expression:
    return ast.BoolLiteral(value=value, span=span)
