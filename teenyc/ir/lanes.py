"""How an intrinsic treats the lanes of its operands: each apart, in other places, or mixed."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from teenyc.ir.nodes import Call


class Lanes(Enum):
    """What becomes of lanes."""

    SAME = "same"  # each lane of the result is made of the same lane of the operands
    STRETCHED = "stretched"  # each result is an operand, broadcast
    PERMUTED = "permuted"  # the axes of the operand in another order
    MOVED = "moved"  # lanes change their places
    SHAPE = "shape"  # the operand gives its shape only
    MIXED = "mixed"  # a lane of the result is made of many


_FAMILIES: Mapping[str, Lanes] = {
    "atomics": Lanes.MIXED,
    "descriptors": Lanes.MIXED,
    "linear algebra": Lanes.MIXED,
    "memory": Lanes.MIXED,
    "order": Lanes.MIXED,
    "reduction": Lanes.MIXED,
    "scan": Lanes.MIXED,
    "shape": Lanes.MOVED,
}
"""The families that do not work lane by lane."""

_OTHERS: Mapping[str, Lanes] = {
    "arange": Lanes.MIXED,
    "arange_f32": Lanes.MIXED,
    "broadcast": Lanes.STRETCHED,
    "broadcast_to": Lanes.STRETCHED,
    "cat": Lanes.MOVED,
    "full": Lanes.STRETCHED,
    "gather": Lanes.MIXED,
    "permute": Lanes.PERMUTED,
    "trans": Lanes.PERMUTED,
    "zeros_like": Lanes.SHAPE,
}


def lanes_of(intrinsic: str) -> Lanes:
    """What an intrinsic does with lanes."""
    from teenyc.intrinsics import TABLE

    record = TABLE.get(intrinsic)
    return _OTHERS.get(intrinsic) or _FAMILIES.get(record.family if record is not None else "", Lanes.SAME)


def order_of(call: Call, rank: int) -> tuple[int, ...]:
    """For each axis of a permuted tensor, the axis of the operand that it was."""
    stated = next((a for _, a in call.attributes if isinstance(a, tuple) and a), None)
    if stated is None:
        return (*range(rank - 2), rank - 1, rank - 2)
    return tuple(axis % rank for axis in stated if isinstance(axis, int))
