"""Reductions along rows, which Triton moves out of loops: what defines a value goes in, the reduction comes out."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.ir.nodes import Block, Call, Let
from teenyc.ir.walk import statements_of
from teenyc.types import TensorType, is_float

GOING_ON: Mapping[str, str] = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}
"""The reductions, each with what goes on with it: an operator, or an intrinsic."""


def lets_of(block: Block) -> Mapping[int, Let]:
    """The statements of a block and of those inside it that define a value, by its id."""
    return {r.id: s for _, s in statements_of(block) if isinstance(s, Let) for r in s.results}


def along_rows(let: Let | None) -> Call | None:
    """A reduction of floats along the last of several axes."""
    call = let.operation if let is not None else None
    if not isinstance(call, Call) or call.intrinsic not in GOING_ON:
        return None
    reduced = call.operands[0][1].type
    if not isinstance(reduced, TensorType) or not is_float(reduced.element):
        return None
    is_last = call.attribute("axis", 0) in (len(reduced.shape) - 1, -1)
    return call if len(reduced.shape) > 1 and is_last else None
