"""Which factors are numbers wherever they are computed: times zero they are zero, and need no mask of their own."""

from __future__ import annotations

from teenyc.ir.nodes import Binary, Call, Let, Operand, Value
from teenyc.ir.walk import operands_of
from teenyc.tiling.state import Blocking

KEPT = frozenset(
    "load where maximum minimum max min sum broadcast_to full zeros abs tanh sigmoid sin cos erf floor ceil".split()
)
"""What makes finite numbers of finite numbers; what memory holds is taken to be finite."""


def is_finite(b: Blocking, operand: Operand) -> bool:
    """Whether a value of the source is finite as long as arguments are; zeros, which masked loads give, among them."""
    if not isinstance(operand, Value):
        return True
    let = b.lets.get(operand.id)
    if let is None:
        tile = b.tiles.get(operand.id)
        return tile is not None and tile.operand == operand  # an argument, not what a loop carries
    return _is_finite(b, let)


def _is_finite(b: Blocking, let: Let) -> bool:
    match let.operation:
        case Call(intrinsic="load"):
            return True
        case Call(intrinsic=name) if name not in KEPT:
            return False
        case Binary(operator="div" | "rem", right=Value()):
            return False
        case operation:
            return all(is_finite(b, o) for o in operands_of(operation))
