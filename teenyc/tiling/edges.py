"""Edges of the grid: a kernel goes in; the program axes whose rows beyond the grid are masked in loads come out.

Rows beyond the grid usually compute what the last row does: their index is the last one, and no load needs a mask. But
where neighbouring rows read neighbouring numbers, an index that stays at the last row hides that from the hardware,
which then loads number by number. Such rows keep their own index, and their loads read 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.axes import Axis
from teenyc.ir.nodes import Binary, Call, Cast, Copy, ExpandDims, For, If, Let, Offset, Operand, Value, While
from teenyc.ir.walk import operands_of, statements_of
from teenyc.tiling.analyses import Analyses
from teenyc.tiling.plan import BlockedAxis


def open_axes(analyses: Analyses, programs: Sequence[BlockedAxis]) -> frozenset[int]:
    """Those of the blocked program axes that step through memory one by one, and decide about nothing but data."""
    reached = list(_pointers(analyses))
    return frozenset(
        axis.id
        for axis in programs
        if any(
            is_read and _is_block(analyses, pointer) and steps_by_one(analyses, pointer, axis.id)
            for pointer, is_read in reached
        )
        and not _steers(analyses, Axis("program", axis.id))
        and all(_is_computed(analyses, pointer, Axis("program", axis.id)) for pointer, _ in reached)
    )


def _pointers(analyses: Analyses) -> Iterator[tuple[Operand, bool]]:
    """Every address that is reached, and whether it is only read."""
    for _, statement in statements_of(analyses.kernel.body):
        if isinstance(statement, Let) and isinstance(statement.operation, Call):
            effects = TABLE[statement.operation.intrinsic].effects
            if effects & {Effect.READS, Effect.WRITES, Effect.ATOMIC}:
                yield statement.operation.operands[0][1], effects == {Effect.READS}


def _is_block(analyses: Analyses, pointer: Operand) -> bool:
    """Whether a row reads more than one number."""
    return isinstance(pointer, Value) and any(a.kind != "program" for a in analyses.axes[pointer.id].all)


def steps_by_one(analyses: Analyses, operand: Operand, axis: int) -> bool:
    """Whether the next row of a program axis is the next number: the row is added to the address as it is."""
    let = analyses.lets.get(operand.id) if isinstance(operand, Value) else None
    match let.operation if let is not None else None:
        case Call(intrinsic="program_id") as call:
            return call.attribute("axis", 0) == axis
        case Offset() | Copy() | Cast() | ExpandDims() | Binary(operator="add" | "sub") as operation:
            return any(steps_by_one(analyses, o, axis) for o in operands_of(operation))
    return False


def _is_computed(analyses: Analyses, operand: Operand, axis: Axis) -> bool:
    """Whether a row's part in an address is computed: of 0, read in the place of a number, no address may be made."""
    if not isinstance(operand, Value) or axis not in analyses.axes[operand.id].all:
        return True
    let = analyses.lets.get(operand.id)
    if let is None or (isinstance(let.operation, Call) and Effect.READS in TABLE[let.operation.intrinsic].effects):
        return False
    return all(_is_computed(analyses, o, axis) for o in operands_of(let.operation))


def _steers(analyses: Analyses, axis: Axis) -> bool:
    """Whether a row decides about control."""

    def varies(*operands: Operand) -> bool:
        return any(isinstance(o, Value) and axis in analyses.axes[o.id].all for o in operands)

    for _, statement in statements_of(analyses.kernel.body):
        match statement:
            case For(start=start, stop=stop, step=step) if varies(start, stop, step):
                return True
            case If(condition=condition) if varies(condition):
                return True
            case While():
                return True
    return False
