"""Normal forms of control, before blocking: indices of programs stand at the top of the kernel."""

from __future__ import annotations

from teenyc.ir.nodes import Call, Kernel, Let, Statement
from teenyc.ir.walk import map_statements, statements_of
from teenyc.record import replace


def normal(kernel: Kernel) -> Kernel:
    """The kernel in the form that blocking starts from."""
    return hoisted(kernel)


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
