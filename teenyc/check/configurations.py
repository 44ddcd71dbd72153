"""`configs = [config(BLOCK = 128, num_warps = 4), …]`: what the attribute says a launch may choose among."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from teenyc.check.context import Context
from teenyc.ir import nodes as ir
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import BOOL

BLOCKS = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "GROUP_N")
"""The constants that tiling adds to a kernel."""

Number = Callable[[Context, str, ast.Expression], tuple[int, ...]]
"""Checks the value of a launch option."""


def configs_of(
    context: Context, node: ast.Expression, constants: Sequence[ir.ConstantParameter], is_tiled: bool, number: Number
) -> tuple[tuple[ir.Configuration, Span], ...]:
    """The configurations of a kernel, each with the same names, and where they stand; none after a report."""
    own = [c.name for c in constants if c.type.element != BOOL]
    options = (*ir.OPTIONS, ir.DESCRIPTORS) if is_tiled else ir.OPTIONS
    known = (*(BLOCKS if is_tiled else own), *options)
    if not isinstance(node, ast.Array) or not node.items:
        _report(context, node.span, "`configs` needs a list of configurations", known)
        return ()
    found = [tuple(_pairs(context, item, known, number)) for item in node.items]
    first = [name for name, _ in found[0] if name not in options]
    for item, each in zip(node.items, found, strict=True):
        if each and {name for name, _ in each if name not in options} != set(first):
            words = ", ".join(f"`{name}`" for name in first) or "no constant"
            _report(context, item.span, f"each configuration names the same constants; the first has {words}", known)
            return ()
    return tuple(zip(found, (item.span for item in node.items), strict=True)) if all(found) else ()


def _pairs(context: Context, item: ast.Expression, known: Sequence[str], number: Number) -> Iterator[tuple[str, int]]:
    """The names of one configuration with their values."""
    callee = item.callee if isinstance(item, ast.Call) else None
    is_config = isinstance(callee, ast.PathExpression) and callee.segments[-1].name.text == "config"
    if not isinstance(item, ast.Call) or not is_config or not item.arguments:
        _report(context, item.span, "a configuration is written `config(NAME = value, …)`", known)
        return
    for argument in item.arguments:
        name = argument.name.text if argument.name is not None else ""
        if name not in known:
            _report(
                context,
                argument.span,
                f"a configuration cannot choose `{name}`" if name else "a configuration is made of names with values",
                known,
                name,
            )
        elif name == ir.DESCRIPTORS and isinstance(argument.value, ast.BoolLiteral):
            yield name, int(argument.value.value)
        elif name == ir.DESCRIPTORS:
            _report(context, argument.value.span, f"a configuration needs `true` or `false` for `{name}`", known)
        elif name in ir.OPTIONS:
            yield from ((name, value) for value in number(context, name, argument.value))
        elif isinstance(argument.value, ast.IntegerLiteral):
            yield name, argument.value.value
        else:
            _report(context, argument.value.span, f"a configuration needs a number for `{name}`", known)


def _report(context: Context, span: Span, problem: str, known: Sequence[str], name: str = "") -> None:
    from teenyc.diagnostics.catalog.names import WrongConfiguration
    from teenyc.diagnostics.suggest import closest

    similar = closest(name, known) if name else None
    context.report(WrongConfiguration(span=span, problem=problem, known=tuple(known), similar=similar))
