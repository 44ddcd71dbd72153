"""Liveness: which variables of a body may not share a Python name, because one is written while the other is needed.

A loop-carried value and an `if` result become plain variables, which are written at the ends of blocks: `inside` holds
a carried value at the start of every iteration and `result` after the loop. What inlined temporaries read counts where
they are evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import NamedTuple, assert_never

from teenyc.codegen.inline import Inlining
from teenyc.ir.nodes import Block, For, Function, If, Kernel, Let, Operand, Return, Statement, Value, While
from teenyc.ir.walk import definitions, operands_of, results_of, statements_of


class Interference(NamedTuple):
    """`of[a]` holds every value that is needed where `a` is written, or written where `a` is needed."""

    of: dict[int, set[int]]

    def between(self, first: Iterable[int], second: Set[int]) -> bool:
        """Whether any value of one class may not share a name with one of another."""
        return any(not self.of.get(value, set()).isdisjoint(second) for value in first)

    def written(self, values: Iterable[Value], live: Set[int]) -> None:
        """Notes that `values` are written together while `live` are needed."""
        ids = [value.id for value in values]
        for id in ids:
            for other in (*live, *ids):
                if other != id:
                    self.of.setdefault(id, set()).add(other)
                    self.of.setdefault(other, set()).add(id)


def interference_of(body: Kernel | Function, inlining: Inlining) -> Interference:
    """The interference of all variables of a body."""
    liveness = _Liveness(inlining, Interference({}))
    live = liveness.block(body.body, set())
    liveness.found.written((p.value for p in body.parameters), live)
    return liveness.found


class _Liveness(NamedTuple):
    """Walks backwards; sets hold the ids of the variables that are needed later."""

    inlining: Inlining
    found: Interference

    def reads(self, operands: Iterable[Operand]) -> set[int]:
        return {value.id for operand in operands for value in self.inlining.leaves(operand)}

    def block(self, block: Block, after: Set[int]) -> set[int]:
        """What is live before a block whose yields are evaluated at its end."""
        live = set(after) | self.reads(block.yields)
        for statement in reversed(block.statements):
            if not self.inlining.holds(statement):
                live = self.statement(statement, live)
        return live

    def statement(self, statement: Statement, live: set[int]) -> set[int]:
        match statement:
            case Let():
                self.found.written(statement.results, live)
                return (live - _ids(statement.results)) | self.reads(operands_of(statement))
            case If():
                return self.branches(statement, live)
            case For() | While():
                return self.loop(statement, live)
            case Return():
                return self.reads(statement.values)
            case _:
                assert_never(statement)

    def branches(self, statement: If, live: set[int]) -> set[int]:
        after = live - _ids(statement.results)
        self.found.written(statement.results, after)
        before = self.reads((statement.condition,))
        for block in (statement.then, statement.otherwise):
            before |= self.block(block, after)
        return before

    def loop(self, loop: For | While, live: set[int]) -> set[int]:
        results = _ids(results_of(loop))
        through = (live - results) | self.outer(loop)
        self.found.written(results_of(loop), live - results)
        start = self.block(loop.body, through)
        if isinstance(loop, While):
            needed = {c.inside.id for c in loop.carried if c.result.id in live}
            start = self.block(loop.condition, start | needed)
        header = set(self.reads((loop.start, loop.stop, loop.step))) if isinstance(loop, For) else set()
        inner = definitions(loop)[: len(definitions(loop)) - len(results)]
        self.found.written(inner, start | through | header)
        return through | header | self.reads(c.initial for c in loop.carried)

    def outer(self, loop: For | While) -> set[int]:
        """What the iterations of a loop read from outside it."""
        blocks = (loop.condition, loop.body) if isinstance(loop, While) else (loop.body,)
        defined = _ids(definitions(loop))
        read: set[int] = set()
        for block in blocks:
            read |= self.reads(block.yields)
            for _, statement in statements_of(block):
                defined |= _ids(definitions(statement))
                read |= self.reads(operands_of(statement))
                if isinstance(statement, For | While):
                    read |= self.reads(statement.body.yields)
                if isinstance(statement, While):
                    read |= self.reads(statement.condition.yields)
                if isinstance(statement, If):
                    read |= self.reads((*statement.then.yields, *statement.otherwise.yields))
        return read - defined


def _ids(values: Iterable[Value]) -> set[int]:
    return {value.id for value in values}
