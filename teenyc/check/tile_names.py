"""`tile(row, k)`: the names of a kernel's attribute go in, a report comes out for each that no axis can have."""

from __future__ import annotations

from collections.abc import Iterator

from teenyc.check.context import Context
from teenyc.ir import nodes as ir
from teenyc.ir.axes import axes
from teenyc.ir.counters import counter_name
from teenyc.ir.walk import statements_of, values_of
from teenyc.syntax import ast
from teenyc.types import TensorType, is_integer


def check_tile_names(context: Context, node: ast.Function, kernel: ir.Kernel) -> None:
    """Axes are what a program's index is taken apart into, and counters of loops."""
    arguments = tuple(_arguments(node))
    if not arguments:
        return
    from teenyc.diagnostics.catalog.tiling import NotAnAxis, UnknownTileAxis
    from teenyc.diagnostics.suggest import closest

    known = sorted(_names(kernel))
    everything = {v.name for v in values_of(kernel)} | {c.name for c in kernel.constants}
    for argument in arguments:
        name = _name(argument)
        if name is not None and name in everything and name not in known:
            context.report(NotAnAxis(span=argument.span, name=name, known=tuple(known)))
        elif name is None or name not in known:
            similar = closest(name, known) if name is not None else None
            context.report(UnknownTileAxis(span=argument.span, name=name, known=tuple(known), similar=similar))


def _arguments(node: ast.Function) -> Iterator[ast.Argument]:
    """What stands in `tile(…)`."""
    for attribute in node.attributes:
        for argument in attribute.arguments if attribute.name.text == "kernel" else ():
            value = argument.value
            if argument.name is None and isinstance(value, ast.Call) and _word(value.callee) == "tile":
                yield from value.arguments


def _name(argument: ast.Argument) -> str | None:
    return _word(argument.value) if argument.name is None else None


def _word(node: ast.Expression) -> str | None:
    return node.segments[-1].name.text if isinstance(node, ast.PathExpression) else None


def _names(kernel: ir.Kernel) -> set[str]:
    """The names that an axis of the kernel can have."""
    infos = axes(kernel)
    names = {v.name for v in values_of(kernel) if _is_index(v) and any(a.kind == "program" for a in infos[v.id].outer)}
    for _, statement in statements_of(kernel.body):
        if isinstance(statement, ir.For):
            names.add(counter_name(statement))
        elif isinstance(statement, ir.While):
            names |= {c.inside.name for c in statement.carried if _is_index(c.inside)}
    return names - {""}


def _is_index(value: ir.Value) -> bool:
    return isinstance(value.type, TensorType) and not value.type.shape and is_integer(value.type.element)
