"""Blocking: a kernel and its plan go in, the kernel whose programs and iterations each take a block comes out.

A value that would vary along more than two axes is not made: where it is summed, its factors become matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from teenyc.ir.nodes import For, If, Let, Return, Statement, While
from teenyc.tiling import branches, loops, operations, sequential, walks
from teenyc.tiling.state import Blocking


def block(b: Blocking, statements: Sequence[Statement]) -> None:
    """Writes statements of the source as they are on tiles."""
    for n, statement in enumerate(statements):
        if walks.begins(b, statement):
            walks.walk(b, statements[n:], block)
            return
        _statement(b, statement)


def _statement(b: Blocking, statement: Statement) -> None:
    match statement:
        case Let():
            if not operations.is_late(b, statement):
                operations.make(b, statement)
        case For():
            plan = b.loops.get(statement.counter.id)
            if plan is not None:
                loops.blocked_loop(b, statement, plan, block)
            else:
                sequential.counted(b, statement, block)
        case If():
            branches.branch(b, statement, block)
        case While():
            sequential.uncounted(b, statement, block)
        case Return():
            b.statements.append(statement)
        case _:
            assert_never(statement)
