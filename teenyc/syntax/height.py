"""How high a syntax tree is: what later layers, which recurse, can bear."""

from __future__ import annotations

from dataclasses import fields, is_dataclass


def is_higher_than(root: object, limit: int) -> bool:
    """Whether some node of a tree has more than `limit` nodes above it; takes no recursion."""
    level = [root]
    for _ in range(limit + 1):
        level = [child for node in level for child in _children(node)]
        if not level:
            return False
    return True


def _children(node: object) -> list[object]:
    """The nodes directly below one."""
    found: list[object] = []
    for field in fields(node):  # type: ignore[arg-type]
        if not field.compare:
            continue  # spans and comments
        value = getattr(node, field.name)
        if isinstance(value, tuple):
            found += [v for v in value if is_dataclass(v)]
        elif is_dataclass(value):
            found.append(value)
    return found
