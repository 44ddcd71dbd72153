"""Coalescing: which values of static single assignment become one Python variable, as they were one in the source.

The values of one loop-carried variable (before, inside, next, after) and those of an `if` (each branch, result) belong
together where they have one author's name and are never needed at the same time. Otherwise a copy joins them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from teenyc.codegen.contents import Contents
from teenyc.codegen.liveness import Interference, Mask, meet
from teenyc.ir.nodes import For, If, Operand, Statement, Value, While
from teenyc.record import record


@record
class Classes:
    """The variables: `of` maps each value to the id that stands for its class, `members` that id to all its values."""

    of: dict[int, int]
    members: dict[int, list[Value]]

    def variable(self, value: Value) -> list[Value]:
        return self.members[self.of[value.id]]


def classes_of(contents: Contents, interference: Interference, alone: Set[int]) -> Classes:
    """The classes of all values of a body; those of `alone` and loop counters join none."""
    builder = _Builder(alone | contents.counters.keys(), {}, {}, {})
    for value in contents.values:
        builder.of[value.id] = value.id
        builder.members[value.id] = [value]
        builder.masks[value.id] = interference.together((value.id,))
    for first, second in _same_place(contents.statements):
        builder.join(first, second, always=True)
    for value, operand in _joined(contents.statements):
        builder.join(value, operand)
    return Classes(builder.of, builder.members)


def _same_place(statements: Sequence[Statement]) -> Iterator[tuple[Value, Value]]:
    """What a loop carries is, after it, what it is inside."""
    for statement in statements:
        if isinstance(statement, For | While):
            yield from ((c.inside, c.result) for c in statement.carried)


def _joined(statements: Sequence[Statement]) -> Iterator[tuple[Value, Operand]]:
    """What is worth a variable of its own, from what saves a copy in each iteration to what saves one before a loop."""
    for statement in statements:
        if isinstance(statement, For | While):
            yield from ((c.inside, y) for c, y in zip(statement.carried, statement.body.yields, strict=True))
        elif isinstance(statement, If):
            for block in (statement.then, statement.otherwise):
                yield from zip(statement.results, block.yields, strict=False)
    for statement in statements:
        if isinstance(statement, For | While):
            yield from ((c.inside, c.initial) for c in statement.carried)


@record
class _Builder:
    alone: Set[int]
    of: dict[int, int]
    members: dict[int, list[Value]]
    masks: dict[int, tuple[Mask, Mask]]

    def join(self, value: Value, operand: Operand, *, always: bool = False) -> None:
        """Makes two classes one where that is right, or `always`."""
        if not isinstance(operand, Value) or operand.id in self.alone:
            return
        first, second = self.of[value.id], self.of[operand.id]
        if first == second or not (always or self.fit(first, second)):
            return
        for member in self.members.pop(second):
            self.of[member.id] = first
            self.members[first].append(member)
        one, other = self.masks[first], self.masks.pop(second)
        self.masks[first] = (one[0] | other[0], one[1] | other[1])

    def fit(self, first: int, second: int) -> bool:
        one, other = self.members[first], self.members[second]
        if one[0].type != other[0].type or len({v.name for v in (*one, *other) if v.name}) > 1:
            return False
        return not meet(self.masks[first], self.masks[second])
