"""Branches: `if` becomes an `If` of the IR; what both sides assign or give is merged."""

from __future__ import annotations

from teenyc.check import expressions
from teenyc.check.assigned import carried_symbols
from teenyc.check.context import INVALID, NOTHING, Checked, Context, Group, Invalid, Symbol
from teenyc.check.merging import Pair, merged, regrouped
from teenyc.check.statements import block_value
from teenyc.ir import nodes as ir
from teenyc.source import Span
from teenyc.syntax import ast

Branch = tuple[list[ir.Statement], "tuple[Checked, Span] | None"]
"""The statements of a branch, and its value with its place; None for a branch that leaves."""


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
    found = merged(context, node, (first, second), (then, otherwise))
    if isinstance(condition, Invalid) or found is None:
        return INVALID
    form, values = found
    pairs = [(a, s.current) for a, s in zip(after, symbols, strict=True)]
    given = _if(context, node, condition, (then, otherwise), values, (symbols, pairs))
    return regrouped(form, iter(given))


def _if(
    context: Context,
    node: ast.If,
    condition: ir.Operand,
    branches: tuple[list[ir.Statement], list[ir.Statement]],
    values: list[Pair],
    state: tuple[list[Symbol], list[tuple[Checked, Checked]]],
) -> tuple[ir.Operand, ...]:
    """Appends the `If`; its results that are the branches' values."""
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
    return results[: len(values)]


def _is_operand(checked: Checked) -> bool:
    return not isinstance(checked, Invalid | Group)


def _closed(statements: list[ir.Statement], yields: list[ir.Operand]) -> ir.Block:
    """A branch's block; one that returns yields nothing."""
    if statements and isinstance(statements[-1], ir.Return):
        return ir.Block(statements=tuple(statements))
    return ir.Block(statements=tuple(statements), yields=tuple(yields))


def _branch(context: Context, node: ast.Block | ast.If | None, symbols: list[Symbol]) -> Branch:
    if node is None:
        return [], (NOTHING, Span(0, 0))
    with context.block() as statements:
        value = conditional(context, node) if isinstance(node, ast.If) else block_value(context, node)
    if statements and isinstance(statements[-1], ir.Return):
        return statements, None
    inner = node.value if isinstance(node, ast.Block) and node.value is not None else node
    return statements, (value, inner.span)
