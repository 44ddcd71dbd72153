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
    Call,
    Carried,
    For,
    Function,
    Kernel,
    Let,
    Literal,
    Operand,
    Program,
    Statement,
    Value,
)
from teenyc.record import replace
from teenyc.source import Comments
from teenyc.types import TensorType, is_float

WHY = Comments(leading=("Triton fails where what a loop sums up along rows is read more than once.",))
ALONG = ("sum", "max", "min", "prod")
EXTREMA = ("maximum", "minimum")


def read_sums_once(program: Program) -> Program:
    """The program where sums of rows that loops carry are read once behind the loop."""
    ids = count(walk.next_id(program))

    def kernel(body: Kernel) -> Kernel:
        return replace(body, body=walk.map_statements(body.body, _Reading(body, ids).statement))

    def function(body: Function) -> Function:
        return replace(body, body=walk.map_statements(body.body, _Reading(body, ids).statement))

    return walk.map_program(program, kernel, function)


class _Reading:
    def __init__(self, body: Kernel | Function, ids: Iterator[int]) -> None:
        self.ids = ids
        self.lets: Mapping[int, Let] = {
            r.id: s for _, s in walk.statements_of(body.body) if isinstance(s, Let) for r in s.results
        }
        self.uses: Counter[int] = walk.uses(body.body)

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
        let = self.lets.get(after.id) if isinstance(after, Value) and self.uses[after.id] == 1 else None
        match let.operation if let is not None else None:
            case Binary(operator="add" | "sub" | "mul", left=left, right=right):
                parts = (left, right)
            case Call(intrinsic=name, operands=operands) if name in EXTREMA:
                parts = (operands[0][1], operands[1][1])
            case _:
                return False
        others = [part for part in parts if part != carried.inside]
        return len(others) == 1 and self.is_reduction(others[0])

    def is_reduction(self, operand: Operand) -> bool:
        let = self.lets.get(operand.id) if isinstance(operand, Value) and self.uses[operand.id] == 1 else None
        if let is None or not isinstance(let.operation, Call) or let.operation.intrinsic not in ALONG:
            return False
        reduced = let.operation.operands[0][1].type
        if not isinstance(reduced, TensorType) or not is_float(reduced.element):
            return False
        return len(reduced.shape) > 1 and let.operation.attribute("axis", 0) in (len(reduced.shape) - 1, -1)


def _scalar(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType), "what is summed is a tensor"
    return TensorType(value.type.element, ())
