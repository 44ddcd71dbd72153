"""How a statement goes in parts: it and an extent go in; what becomes of it where that extent is taken in two parts."""

from __future__ import annotations

from enum import Enum

from teenyc.intrinsics import TABLE
from teenyc.ir.lanes import Lanes, lanes_of
from teenyc.ir.nodes import Call, Compare, Constant, Kernel, Let, Operand, PaddedConstant, Value
from teenyc.ir.walk import operands_of, statements_of, values_of
from teenyc.types import Extent, Shape, TensorType

COMBINED = {"max": "maximum", "min": "minimum", "sum": "add"}
"""What brings a reduction of two parts together: an operator, or an intrinsic."""


class Way(Enum):
    """What becomes of a statement."""

    KEPT = "kept"  # it has nothing of that extent
    APART = "apart"  # it is done with each part
    SUMMED = "summed"  # a product of matrices along the extent: that of the second part is added to the first
    REDUCED = "reduced"  # a reduction along the extent: its results are brought together


def shape_of(operand: Operand) -> Shape:
    """The shape of a tensor; nothing for what has none."""
    return operand.type.shape if isinstance(operand.type, TensorType) else ()


def has_parts(operand: Operand, extent: Extent) -> bool:
    """Whether a value has an axis of that extent."""
    return isinstance(operand, Value) and extent in shape_of(operand)


def way_of(let: Let, padded: PaddedConstant) -> Way | None:
    """What becomes of a statement; None where it cannot be done in parts."""
    extent, operation = Extent.of(padded.name), let.operation
    given = any(has_parts(operand, extent) for operand in operands_of(operation))
    made = any(has_parts(value, extent) for value in let.results)
    is_read = any(isinstance(o, Constant) and o.name == padded.name for o in operands_of(operation))
    if is_read and not is_whole(let, padded):
        return None
    if isinstance(operation, Call):
        return _way_of_call(operation, padded, given=given, made=made)
    if given and not made:
        return None
    return Way.APART if made else Way.KEPT


def is_whole(let: Let, padded: PaddedConstant) -> bool:
    """Whether a statement asks if the extent has no padding."""
    match let.operation:
        case Compare(operator="eq", left=Constant(name=name), right=Constant(name=of)):
            return (name, of) == (padded.name, padded.of)
    return False


def is_inside(operation: Compare, lanes: frozenset[int], padded: PaddedConstant) -> bool:
    """Whether a comparison asks which of the lanes of the extent are no padding."""
    match operation:
        case Compare(operator="lt", left=Value(id=id), right=Constant(name=name)):
            return id in lanes and name == padded.of
    return False


def _way_of_call(call: Call, padded: PaddedConstant, *, given: bool, made: bool) -> Way | None:
    name, extent = call.intrinsic, Extent.of(padded.name)
    if any(_mentions(attribute, padded.name) and not made for _, attribute in call.attributes):
        return None
    match name:
        case _ if not given and not made:
            return Way.KEPT
        case "load" | "store":
            return Way.APART
        case "dot":
            return Way.APART if made else Way.SUMMED
        case "arange":
            starts_at_zero = call.attribute("start", 0) in (0, Extent.of(0))
            return Way.APART if starts_at_zero and call.attribute("end") == extent else None
        case "sum" | "max" | "min":
            is_plain = all(n in ("axis", "keep_dims") for n, _ in call.attributes)
            return (Way.APART if made else Way.REDUCED) if is_plain else None
    is_apart = TABLE[name].is_pure and lanes_of(name) in (Lanes.SAME, Lanes.STRETCHED, Lanes.PERMUTED, Lanes.SHAPE)
    return Way.APART if is_apart and made and name not in ("arange_f32", "inline_asm_elementwise") else None


def _mentions(attribute: object, name: str) -> bool:
    match attribute:
        case Extent():
            return name in attribute.names
        case tuple():
            return any(_mentions(each, name) for each in attribute)
    return False


def can_be_split(kernel: Kernel, padded: PaddedConstant) -> bool:
    """Whether every statement can be done in parts, and a product of matrices in a loop is less work so."""
    extent = Extent.of(padded.name)
    for value in values_of(kernel):
        axes = [each for each in shape_of(value) if padded.name in each.names]
        if len(axes) > 1 or any(each != extent for each in axes):
            return False
    is_less = False
    for depth, statement in statements_of(kernel.body):
        if not isinstance(statement, Let):
            continue
        if way_of(statement, padded) is None:
            return False
        operation = statement.operation
        is_product = isinstance(operation, Call) and operation.intrinsic == "dot"
        is_less |= depth > 0 and is_product and any(has_parts(o, extent) for o in operands_of(operation))
    return is_less
