"""A syntax tree as indented text, for `--emit ast`."""

from __future__ import annotations

from collections.abc import Iterator

from teenyc.record import fields, is_record
from teenyc.syntax.ast import Name

WIDTH = 120


def tree_text(node: object, *, indent: int = 0, before: str = "") -> str:
    """A node on one line if it fits behind `before`, otherwise its parts below it; spans and defaults are left out."""
    line = " " * indent + before + _one_line(node)
    parts = list(_parts(node))
    if len(line) <= WIDTH or not parts:
        return line
    head = " " * indent + before + ("" if isinstance(node, tuple) else type(node).__name__)
    below = (tree_text(part, indent=indent + 4, before=f"{name}: " if name else "") for name, part in parts)
    return "\n".join([head.rstrip(), *below])


def _one_line(node: object) -> str:
    if isinstance(node, Name):
        return f"`{node.text}`"
    texts = [f"{name}={_one_line(part)}" if name else _one_line(part) for name, part in _parts(node)]
    if isinstance(node, tuple):
        return f"[{', '.join(texts)}]"
    return f"{type(node).__name__}({', '.join(texts)})" if is_record(node) else repr(node)


def _parts(node: object) -> Iterator[tuple[str, object]]:
    """The parts of a node with their names; items of a tuple have none."""
    if isinstance(node, tuple):
        yield from (("", item) for item in node)
    elif is_record(node) and not isinstance(node, Name):
        for each in fields(node):
            value = getattr(node, each.name)
            if each.repr and value is not None and value != each.default:
                yield each.name, value
