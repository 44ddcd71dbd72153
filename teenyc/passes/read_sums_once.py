"""Reads what a loop sums up along rows at one place: a program goes in, one comes out that Triton can compile.

In `total = total + tl.sum(x, axis=1)` Triton (3.6 to 3.8, on a GPU) sums along the threads behind the loop, and fails
on a loop whose `total` is read at more places than one, such as in both ways of a branch behind it. There it is read
once: `total = total + 0.0`, which changes no number. Extrema of rows are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Carried,
    For,
    Let,
    Literal,
    Operand,
    Program,
    Statement,
    Value,
)
from teenyc.passes.along_rows import along_rows, lets_of
from teenyc.record import replace
from teenyc.source import Comments
from teenyc.types import TensorType

WHY = Comments(leading=("Triton fails where what a loop sums up along rows is read more than once.",))
EXTREMA = ("maximum", "minimum")


def read_sums_once(program: Program) -> Program:
    """The program where sums of rows that loops carry are read once behind the loop."""
    ids = count(walk.next_id(program))
    return walk.map_bodies(program, lambda body: walk.map_statements(body, _Reading(body, ids).statement))


class _Reading:
    def __init__(self, body: Block, ids: Iterator[int]) -> None:
        self.ids = ids
        self.lets: Mapping[int, Let] = lets_of(body)
        self.uses: Counter[int] = walk.uses(body)

    def statement(self, statement: Statement) -> tuple[Statement, ...]:
        """A loop with what reads its sums; any other statement as it is."""
        if not isinstance(statement, For):
            return (statement,)
        carried, read = list(statement.carried), []
        for place, (each, after) in enumerate(zip(statement.carried, statement.body.yields, strict=True)):
            if self.uses[each.result.id] > 1 and self.is_along_rows(each, after):
                summed = replace(each.result, id=next(self.ids))
                carried[place] = replace(each, result=summed)
                same = Binary(operator="add", left=summed, right=Literal(0.0, _scalar(summed)))
                read.append(Let(results=(each.result,), operation=same, span=statement.span))
        if not read:
            return (statement,)
        return (replace(statement, carried=tuple(carried)), replace(read[0], comments=WHY), *read[1:])

    def is_along_rows(self, carried: Carried, after: Operand) -> bool:
        """Whether the next value is the last one and a reduction along the last of several axes, read nowhere else."""
        let = self.read_once(after)
        match let.operation if let is not None else None:
            case Binary(operator="add" | "sub" | "mul", left=left, right=right):
                parts = (left, right)
            case Call(intrinsic=name, operands=operands) if name in EXTREMA:
                parts = (operands[0][1], operands[1][1])
            case _:
                return False
        others = [part for part in parts if part != carried.inside]
        return len(others) == 1 and along_rows(self.read_once(others[0])) is not None

    def read_once(self, operand: Operand) -> Let | None:
        """What defines an operand that is read nowhere else."""
        return self.lets.get(operand.id) if isinstance(operand, Value) and self.uses[operand.id] == 1 else None


def _scalar(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType), "what is summed is a tensor"
    return TensorType(value.type.element, ())
