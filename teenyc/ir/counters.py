"""What loops count, by the names of the author: a loop that counts down has a counter of its own beside his."""

from __future__ import annotations

from teenyc.ir.nodes import For, Let


def counter_name(loop: For) -> str:
    """What the author calls a counter: one that is made of the loop's stands first, with the place of the loop."""
    for statement in loop.body.statements:
        if statement.span != loop.span or not isinstance(statement, Let):
            break
        if statement.results[0].name:
            return statement.results[0].name
    return loop.counter.name
