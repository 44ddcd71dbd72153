"""What launches limit: the grid that a kernel states and its guards go in, methods of its class come out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from teenyc.codegen.literals import bracketed, literal
from teenyc.codegen.metadata import free_name
from teenyc.codegen.sizes import SizeCheck, extent_text
from teenyc.ir.nodes import Kernel


def grid_method(
    kernel: Kernel, arguments: Sequence[str], local: Mapping[str, str], sizes: Sequence[SizeCheck]
) -> tuple[str, ...]:
    """The method that gives the most programs along each axis, where the kernel states its grid."""
    if kernel.attributes.grid is None:
        return ()
    extents = [extent_text(extent, local) for extent in kernel.attributes.grid]
    return _method("_grid", arguments, f"return {tuple_text(extents)}", sizes=sizes)


def guards_method(
    kernel: Kernel, arguments: Sequence[str], local: Mapping[str, str], sizes: Sequence[SizeCheck]
) -> tuple[str, ...]:
    """The method that gives what arguments must satisfy for accesses to stay in bounds, each in words and as a flag."""
    if not kernel.guards:
        return ()
    grid = free_name("grid", local.values())
    names = dict(local)
    names |= {f"grid[{axis}]": f"{grid}[{axis}]" for axis in range(3)}
    names |= {f"len({p.name})": f"_reach({local[p.name]})" for p in kernel.parameters}
    rows = [
        f"({literal(str(guard))}, {extent_text(guard.least, names)} <= {extent_text(guard.most, names)})"
        for guard in kernel.guards
    ]
    return _method("_guards", [*arguments, grid], *returned_lines(rows), sizes=sizes)


def _method(name: str, arguments: Sequence[str], *body: str, sizes: Sequence[SizeCheck]) -> tuple[str, ...]:
    """A static method, 4 columns in, which reads only those symbols of shapes that it needs."""
    lines = [*body]
    for size in reversed(sizes):  # a symbol may be solved with those before it
        if size.symbol and _reads(" ".join(lines), size.symbol):
            lines = [*solution_lines(size), *lines]
    lines = [f"    {line}" for line in lines]
    return (*bracketed(f"def {name}(", list(arguments), "):", 4), *lines)


def _reads(text: str, name: str) -> bool:
    """Whether an expression reads a name."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None


def solution_lines(size: SizeCheck) -> Iterator[str]:
    """The lines that bind a symbol, 8 columns in; also where the other extents of a tensor are zero."""
    if size.symbol and size.solutions:
        yield from bracketed(f"{size.symbol} = _solved(", list(size.solutions), ")", 8)
    elif size.symbol:
        yield f"{size.symbol} = {size.solution}"


def tuple_text(items: Sequence[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def returned_lines(rows: list[str]) -> tuple[str, ...]:
    """The statement that returns a tuple of rows, 8 columns in; nothing where there are none."""
    return tuple(bracketed("return (", rows, ",)" if len(rows) == 1 else ")", 8)) if rows else ()
