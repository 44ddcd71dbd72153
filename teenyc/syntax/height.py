"""How high a syntax tree is: what later layers, which recurse, can bear."""

from __future__ import annotations

from teenyc.record import fields, is_record


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
    for field in fields(node):
        if not field.compare:
            continue  # spans and comments
        value = getattr(node, field.name)
        if isinstance(value, tuple):
            found += [v for v in value if is_record(v)]
        elif is_record(value):
            found.append(value)
    return found
