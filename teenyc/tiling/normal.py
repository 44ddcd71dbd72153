"""Normal forms of control: indices at the top, `while`s that count as `for`s, bounds in the heads of loops."""

from __future__ import annotations

from itertools import count

from teenyc.ir.nodes import Call, Kernel, Let, Statement, Value
from teenyc.ir.walk import all_operands, map_statements, statements_of, values_of
from teenyc.record import replace
from teenyc.tiling.counting import counted
from teenyc.tiling.narrowing import narrowed
from teenyc.tiling.room import roomy


def normal(kernel: Kernel) -> Kernel:
    """The kernel in the form that blocking starts from; of one in that form, itself."""
    ids = count(max((v.id for v in values_of(kernel)), default=0) + 1)
    kernel = hoisted(kernel)
    used = frozenset(operand.id for operand in all_operands(kernel.body) if isinstance(operand, Value))
    kernel = replace(kernel, body=map_statements(kernel.body, lambda s: counted(s, used, ids)))
    kernel = replace(kernel, body=map_statements(kernel.body, lambda s: narrowed(s, ids)))
    lets = {v.id: s for _, s in statements_of(kernel.body) if isinstance(s, Let) for v in s.results}
    return replace(kernel, body=map_statements(kernel.body, lambda s: roomy(s, lets, ids)))


def hoisted(kernel: Kernel) -> Kernel:
    """The kernel with its `program_id`s, which say which rows are real, in front of all branches and loops."""
    inside = [s for depth, s in statements_of(kernel.body) if depth and _is_index(s)]
    if not inside:
        return kernel
    body = map_statements(kernel.body, lambda s: () if s in inside else (s,))
    return replace(kernel, body=replace(body, statements=(*inside, *body.statements)))


def _is_index(statement: Statement) -> bool:
    if not isinstance(statement, Let) or not isinstance(statement.operation, Call):
        return False
    return statement.operation.intrinsic == "program_id"
