"""What blocks gain: a plan goes in; a number comes out by which the plans of a kernel compare, and its limit before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.axes import Axes, Axis, AxisInfo
from teenyc.ir.nodes import Call, Kernel, Let, Operand, Statement, Value, While
from teenyc.ir.walk import operands_of, results_of, statements_of, values_of
from teenyc.tiling.analyses import Analyses
from teenyc.tiling.plan import BlockedAxis, Plan
from teenyc.types import TensorType, is_float

WARP = 32
"""As many lanes keep the threads of a warp busy."""


REUSE = 2
"""What is won where rows of a block share what they load, without a product of matrices."""


def gain(source: Analyses, plan: Plan) -> int:
    """How much is won by the plan: products of matrices above all; otherwise what is loaded once for several rows."""
    if not plan.axes:
        return 0
    found = products(plan)
    return REUSE + found if found else _of_sums(source, plan.programs)


def products(plan: Plan) -> int:
    """How many products of matrices there are."""
    return sum(len(each.sides) == 2 for each in plan.contractions)


def most(source: Analyses, programs: Sequence[BlockedAxis], blocked: Axes) -> float:
    """What a plan with some axes of the grid cannot gain more than, whose other axes are loops, before it is tried."""
    may_multiply = _starts_by_row(source, blocked) or _may_multiply(source, blocked)
    return inf if may_multiply else _of_sums(source, programs)


def _of_sums(source: Analyses, programs: Sequence[BlockedAxis]) -> int:
    """What is won by blocks of rows without a product of matrices."""
    if len(programs) > 1:
        return 0
    if any(not _is_of_one_row(source, axis) for axis in programs):
        return REUSE
    return 1 if _has_few_lanes(source.kernel) else 0


def _is_of_one_row(source: Analyses, axis: BlockedAxis) -> bool:
    """Whether every tensor or sequence of the memory that is read is of one row alone."""
    for id, let in source.lets.items():
        if isinstance(let.operation, Call) and Effect.READS in TABLE[let.operation.intrinsic].effects:
            info = source.axes[id]
            varies = any(a.kind != "program" for a in info.all)
            if varies and Axis("program", axis.id) not in info.outer:
                return False
    return True


def _has_few_lanes(kernel: Kernel) -> bool:
    """Whether all tensors together leave threads of a warp without work."""
    for value in values_of(kernel):
        if isinstance(value.type, TensorType):
            lanes = 1
            for extent in value.type.shape:
                lanes *= extent.known or WARP
            if lanes >= WARP:
                return False
    return True


# ---- products of matrices -------------------------------------------------------------------------------------------


def _starts_by_row(source: Analyses, blocked: Axes) -> bool:
    """Whether a loop starts at another place in each row: in blocks it starts for all at once, and lacks the row."""
    rows = frozenset(axis for axis in blocked if axis.kind == "program")
    return any(not rows.isdisjoint(source.axes[axis.id].outer) for axis in blocked if axis.kind == "loop")


def _may_multiply(source: Analyses, blocked: Axes) -> bool:
    """Whether a sum may become a product of matrices, as far as axes alone tell.

    Each side of a product varies along the axis of the sum and one that the other side lacks. So three axes are
    needed; and of each row that is blocked one side must be free, made of what lacks the row along two other axes.
    What belongs to a batch is not: its numbers have the index of the batch everywhere.
    """
    lanes = max((_width(info) for info in source.axes.values()), default=0)
    if len(blocked) + lanes < 3:
        return False
    origins = list(_origins(source))
    return all(_is_free(axis, origins, blocked, lanes) for axis in blocked if axis.kind == "program")


def _is_free(row: Axis, origins: Sequence[AxisInfo], blocked: Axes, lanes: int) -> bool:
    """Whether floats that lack a row may vary along two axes that a product has."""
    lacking = [info for info in origins if row not in info.outer]
    outer: Axes = frozenset().union(*(info.outer for info in lacking))
    return len(outer & blocked) + (lanes if any(map(_width, lacking)) else 0) > 1


def _origins(source: Analyses) -> Iterator[AxisInfo]:
    """The axes of all that is no float and that floats are made of: addresses, conditions, counters, bounds."""
    for _, statement in statements_of(source.kernel.body):
        results = results_of(statement)
        if not any(map(_is_float, results)):
            continue
        made = [o for o in operands_of(statement) if not _is_float(o)]
        if isinstance(statement, While):
            made += statement.condition.yields
        if _has_effect(statement):
            made += results
        yield from (source.axes[o.id] for o in made if isinstance(o, Value))


def _has_effect(statement: Statement) -> bool:
    """Whether what memory holds may differ from place to place in the order of execution."""
    operation = statement.operation if isinstance(statement, Let) else None
    return isinstance(operation, Call) and bool(TABLE[operation.intrinsic].effects)


def _width(info: AxisInfo) -> int:
    """Along how many axes of its own a value varies."""
    return sum(map(bool, info.lanes))


def _is_float(operand: Operand) -> bool:
    return isinstance(operand.type, TensorType) and is_float(operand.type.element)
