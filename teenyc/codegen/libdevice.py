"""libdevice under Triton's interpreter, which cannot call it: names of functions go in, lines that define them out.

The lines are copied from `teenyc.intrinsics.arrays`, without annotations: what stands there under a name, and all that
this needs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from teenyc.intrinsics.arrays import IMPORTS, texts
from teenyc.intrinsics.spec import LIBRARY
from teenyc.record import record


@record
class LibraryView:
    """The functions of libdevice that a module calls, and the lines that make each of NumPy's."""

    names: tuple[str, ...]
    imports: tuple[str, ...]
    lines: tuple[str, ...]


def library_view(helpers: Iterable[str]) -> LibraryView | None:
    """What a module with these helpers holds of libdevice; None where it calls none of it."""
    names = tuple(sorted({h.removeprefix(LIBRARY) for h in helpers if h.startswith(LIBRARY)}))
    if not names:
        return None
    definitions = {name: text for module in texts() for name, text in _definitions(module)}
    needed = _closure(names, definitions)
    chunks = [text for name, text in definitions.items() if name in needed]
    lines = "\n".join(chunks).replace("\n\n\n", "\n\n").strip("\n").split("\n")
    imports = tuple(line for line in IMPORTS if line.split()[-1] in needed)
    return LibraryView(names, imports, tuple(lines))


def _closure(names: Iterable[str], definitions: Mapping[str, str]) -> set[str]:
    """The names and all that stands behind them, imported modules too."""
    found: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(_read(definitions.get(name, "")))
    return found


def _read(text: str) -> set[str]:
    """The names that a definition reads and does not make itself."""
    names = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    return {n.id for n in names} - {n.id for n in names if isinstance(n.ctx, ast.Store)}


def _definitions(module: str) -> Iterator[tuple[str, str]]:
    """The functions and assignments of a module by name; a function has an empty line before and behind it."""
    lines = module.split("\n")
    for node in ast.parse(module).body:
        text = _unannotated(lines, node)
        if isinstance(node, ast.FunctionDef):
            yield node.name, f"\n{text}\n"
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, text


def _unannotated(lines: list[str], node: ast.stmt) -> str:
    """The text of a statement without the types of arguments and results."""
    assert node.end_lineno is not None
    kept = {number: lines[number - 1] for number in range(node.lineno, node.end_lineno + 1)}
    for number, start, end in sorted(_annotations(node), reverse=True):
        line = kept[number]
        before = line[:start].rstrip()
        kept[number] = before.removesuffix("->").removesuffix(":").rstrip() + line[end:].replace(" = ", "=", 1)
    return "\n".join(kept.values())


def _annotations(node: ast.stmt) -> Iterator[tuple[int, int, int]]:
    """Line, start and end of each annotation; the lines are ASCII, and a signature stands on one of them."""
    for inner in ast.walk(node):
        if not isinstance(inner, ast.FunctionDef):
            continue
        arguments = (*inner.args.args, inner.args.vararg)
        for annotation in (inner.returns, *(a.annotation for a in arguments if a is not None)):
            if annotation is not None and annotation.end_col_offset is not None:
                yield annotation.lineno, annotation.col_offset, annotation.end_col_offset
