"""Which variables from outside a piece of syntax assigns to: what a loop must carry and a branch must merge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teenyc.check.context import Context, Group, Invalid, Symbol
from teenyc.syntax import ast


def assigned_names(nodes: Sequence[ast.Expression | ast.Block | None]) -> list[str]:
    """The names, each once, in order of the first assignment; variables declared inside do not count."""
    found: dict[str, None] = {}
    for node in nodes:
        if node is not None:
            for name in _assigned(node, frozenset()):
                found[name] = None
    return list(found)


def _assigned(node: object, hidden: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Block():
            yield from _in_block(node, hidden)
        case ast.If():
            yield from _in_chain(node, hidden)
        case ast.Match():
            for arm in node.arms:
                yield from _assigned(arm.value, hidden)
        case _:
            return


def _in_chain(node: ast.If, hidden: frozenset[str]) -> Iterator[str]:
    """`if … else if …` without recursion along the chain."""
    branch: ast.Block | ast.If | None = node
    while isinstance(branch, ast.If):
        yield from _in_block(branch.then, hidden)
        branch = branch.otherwise
    if branch is not None:
        yield from _in_block(branch, hidden)


def _in_block(block: ast.Block, hidden: frozenset[str]) -> Iterator[str]:
    for statement in block.statements:
        match statement:
            case ast.Let():
                yield from _assigned(statement.value, hidden)
                hidden |= _bound(statement.pattern)
            case ast.Assign(target=ast.PathExpression(segments=(only,))):
                yield from _assigned(statement.value, hidden)
                if only.name.text not in hidden:
                    yield only.name.text
            case ast.ExpressionStatement():
                yield from _assigned(statement.value, hidden)
            case ast.For():
                yield from _in_block(statement.body, hidden | _bound(statement.pattern))
            case ast.While():
                yield from _in_block(statement.body, hidden)
            case _:
                pass
    yield from _assigned(block.value, hidden)


def _bound(pattern: ast.Pattern) -> frozenset[str]:
    if isinstance(pattern, ast.NamePattern):
        return frozenset((pattern.name.text,))
    return frozenset(name for item in pattern.items for name in _bound(item))


def carried_symbols(context: Context, nodes: Sequence[ast.Expression | ast.Block | None]) -> list[Symbol]:
    """The variables from outside that inner code assigns to, in order of assignment."""
    names = assigned_names(nodes)
    found = [context.lookup(name) for name in names]
    return [s for s in found if s is not None and s.mutable and not isinstance(s.current, Invalid | Group)]
