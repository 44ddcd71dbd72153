"""Liveness: which variables of a body may not share a Python name, because one is written while the other is needed.

A loop-carried value and an `if` result become plain variables, which are written at the ends of blocks: `inside` holds
a carried value at the start of every iteration and `result` after the loop. What inlined temporaries read counts where
they are evaluated. Sets of values are bit masks: the bit of a value is its place among all values of the body.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias, assert_never

from teenyc.codegen.contents import Contents
from teenyc.codegen.inline import Inlining
from teenyc.ir.nodes import Block, For, If, Let, Operand, Return, Value, While
from teenyc.ir.walk import blocks_of, definitions, operands_of, results_of, statements_of
from teenyc.record import record

Mask: TypeAlias = int


@record
class Interference:
    """By the id of a value: its own bit, and the bits of the values that are needed where it is written."""

    bits: Mapping[int, Mask]
    needed: dict[int, Mask]

    def together(self, ids: Iterable[int]) -> tuple[Mask, Mask]:
        """The values themselves, and all that are needed where one of them is written."""
        values = needed = 0
        for id in ids:
            values |= self.bits[id]
            needed |= self.needed.get(id, 0)
        return values, needed


def meet(first: tuple[Mask, Mask], second: tuple[Mask, Mask]) -> bool:
    """Whether of two classes of values one is written while the other is needed."""
    return bool(first[0] & second[1] or first[1] & second[0])


def interference_of(contents: Contents, inlining: Inlining) -> Interference:
    """The interference of all variables of a body."""
    body, bits = contents.body, {value.id: 1 << place for place, value in enumerate(contents.values)}
    liveness = _Liveness(inlining, Interference(bits, {}))
    live = liveness.block(body.body, 0)
    liveness.written((p.value for p in body.parameters), live)
    return liveness.found


@record
class _Liveness:
    """Walks backwards; masks hold the variables that are needed later."""

    inlining: Inlining
    found: Interference

    def mask(self, values: Iterable[Value]) -> Mask:
        total = 0
        for value in values:
            total |= self.found.bits[value.id]
        return total

    def reads(self, operands: Iterable[Operand]) -> Mask:
        return self.mask(value for operand in operands for value in self.inlining.leaves(operand))

    def written(self, values: Iterable[Value], live: Mask) -> None:
        """Notes that `values` are written together while `live` are needed."""
        defined = list(values)
        needed = live | self.mask(defined)
        for value in defined:
            old = self.found.needed.get(value.id, 0)
            self.found.needed[value.id] = old | (needed & ~self.found.bits[value.id])

    def block(self, block: Block, after: Mask) -> Mask:
        """What is live before a block whose yields are evaluated at its end."""
        live = after | self.reads(block.yields)
        for statement in reversed(block.statements):
            if self.inlining.holds(statement):
                continue
            match statement:
                case Let():
                    self.written(statement.results, live)
                    live = (live & ~self.mask(statement.results)) | self.reads(operands_of(statement))
                case If():
                    live = self.branches(statement, live)
                case For() | While():
                    live = self.loop(statement, live)
                case Return():
                    live = self.reads(statement.values)
                case _:
                    assert_never(statement)
        return live

    def branches(self, statement: If, live: Mask) -> Mask:
        after = live & ~self.mask(statement.results)
        self.written(statement.results, after)
        before = self.reads((statement.condition,))
        for block in (statement.then, statement.otherwise):
            before |= self.block(block, after)
        return before

    def loop(self, loop: For | While, live: Mask) -> Mask:
        results = results_of(loop)
        after = live & ~self.mask(results)
        through = after | self.outer(loop)
        self.written(results, after)
        start = self.block(loop.body, through)
        if isinstance(loop, While):
            needed = self.mask(c.inside for c in loop.carried if self.found.bits[c.result.id] & live)
            start = self.block(loop.condition, start | needed)
        header = self.reads((loop.start, loop.stop, loop.step)) if isinstance(loop, For) else 0
        self.written(definitions(loop)[: len(definitions(loop)) - len(results)], start | through | header)
        return through | header | self.reads(c.initial for c in loop.carried)

    def outer(self, loop: For | While) -> Mask:
        """What the iterations of a loop read from outside it."""
        read, defined = 0, self.mask(definitions(loop))
        for block in blocks_of(loop):
            read |= self.reads(block.yields)
            for _, statement in statements_of(block):
                defined |= self.mask(definitions(statement))
                read |= self.reads(operands_of(statement))
                for inner in blocks_of(statement):
                    read |= self.reads(inner.yields)
        return read & ~defined
