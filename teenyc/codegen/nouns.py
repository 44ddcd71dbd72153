"""Nouns: what a temporary that needs a name is called, from the operation that makes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from teenyc.ir.nodes import (
    Apply,
    Binary,
    Call,
    Cast,
    Compare,
    Copy,
    ExpandDims,
    Let,
    Offset,
    Unary,
    Value,
)
from teenyc.types import BOOL, Pointer, TensorType

BINARY: Mapping[str, str] = {
    "add": "total",
    "sub": "difference",
    "mul": "product",
    "div": "quotient",
    "rem": "remainder",
    "and": "bits",
    "or": "bits",
    "xor": "bits",
    "shl": "shifted",
    "shr": "shifted",
}

CALLS: Mapping[str, str] = {
    "arange": "lanes",
    "program_id": "pid",
    "num_programs": "programs",
    "load": "loaded",
    "sum": "row_sum",
    "max": "greatest",
    "min": "least",
    "where": "selected",
    "zeros": "zeros",
    "full": "filled",
    "dot": "product",
}


def noun(value: Value, let: Let | None) -> str:
    """A noun for what a temporary holds."""
    if isinstance(value.type, TensorType) and value.type.element == BOOL:
        return "mask" if value.type.shape else "condition"
    if let is None:
        return "value"
    operation = let.operation
    match operation:
        case Binary():
            return BINARY[operation.operator]
        case Apply() if isinstance(value.type, TensorType) and isinstance(value.type.element, Pointer):
            return "pointers" if value.type.shape else "pointer"
        case Offset():
            return "pointers" if isinstance(value.type, TensorType) and value.type.shape else "pointer"
        case Call():
            return CALLS.get(operation.intrinsic, "value")
        case Copy() | Cast() | ExpandDims() | Unary():
            operand = operation.operand
            return f"{operand.name}_value" if isinstance(operand, Value) and operand.name else "value"
        case Compare() | Apply():
            return "value"
        case _:
            assert_never(operation)
