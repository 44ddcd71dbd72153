"""Footprints: a blocked kernel goes in; what its products of matrices take comes out, as facts for a launcher."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.ir.nodes import Block, Call, Cast, Copy, ExpandDims, Kernel, Let, Operand, Value
from teenyc.ir.walk import blocks_of
from teenyc.types import Extent, TensorType

LOADS = frozenset({"load", "load_tensor_descriptor"})
MOVES = frozenset({"trans", "permute", "reshape"})
"""Intrinsics whose result is what their first operand holds, in another order."""


def footprint(kernel: Kernel, local: Mapping[str, str]) -> dict[str, object]:
    """The products of the statements that have most of them, side by side: of a loop, as a rule.

    `products` are dicts of `rows`, `columns` and `inner`, each a constant's name or a number; of the `type` that is
    multiplied; and of the `precision` for f32. `staged` are the tiles that an iteration loads to multiply them, `kept`
    those that were loaded before: two extents and a type. `local` spells the constants.
    """
    body = max(_bodies(kernel.body), key=lambda block: len(_dots(block)))
    named = {p.name: p.of for p in kernel.padded}
    sizes = {name: local.get(named.get(name, name), named.get(name, name)) for name in (*named, *local)}
    lets = {result.id: (let, block) for block in _bodies(kernel.body) for let in _lets(block) for result in let.results}
    staged: dict[int, list[str | int]] = {}
    kept: dict[int, list[str | int]] = {}
    products = []
    for dot in _dots(body):
        a, b = (operand for _, operand in dot.operands[:2])
        (rows, inner), (_, columns) = _extents(a, sizes), _extents(b, sizes)
        element, precision = _element(a), dot.attribute("input_precision", "ieee")
        products.append({"rows": rows, "columns": columns, "inner": inner, "type": element, "precision": precision})
        for operand in (a, b):
            loaded = _loaded(operand, lets)
            if loaded is not None:
                value, block = loaded
                (staged if block is body else kept)[value] = [*_extents(operand, sizes), _element(operand)]
    return {"products": products, "staged": [*staged.values()], "kept": [*kept.values()]} if products else {}


def _bodies(block: Block) -> Iterator[Block]:
    """A block and all inside of it."""
    yield block
    for statement in block.statements:
        for inner in blocks_of(statement):
            yield from _bodies(inner)


def _lets(block: Block) -> Iterator[Let]:
    return (statement for statement in block.statements if isinstance(statement, Let))


def _dots(block: Block) -> list[Call]:
    operations = (let.operation for let in _lets(block))
    return [call for call in operations if isinstance(call, Call) and call.intrinsic == "dot"]


def _extents(operand: Operand, sizes: Mapping[str, str]) -> list[str | int]:
    """The last two extents of a tile; 1 for what is no constant and no number, of which nothing is known before."""
    shape = operand.type.shape if isinstance(operand.type, TensorType) else ()
    return [_extent(extent, sizes) for extent in shape[-2:]]


def _extent(extent: Extent, sizes: Mapping[str, str]) -> str | int:
    if extent.known is not None:
        return extent.known
    (name, *others) = sorted(extent.names)
    return sizes.get(name, name) if not others and extent == Extent.of(name) else 1


def _element(operand: Operand) -> str:
    return str(operand.type.element) if isinstance(operand.type, TensorType) else ""


def _loaded(operand: Operand, lets: Mapping[int, tuple[Let, Block]]) -> tuple[int, Block] | None:
    """The value that a load gave and that an operand is, and the statements that it is loaded in."""
    while isinstance(operand, Value) and operand.id in lets:
        let, block = lets[operand.id]
        match let.operation:
            case Call(intrinsic=name) if name in LOADS:
                return operand.id, block
            case Call(intrinsic=name, operands=operands) if name in MOVES and operands:
                operand = next(
                    (o for _, o in operands if isinstance(o.type, TensorType) and o.type.shape), operands[-1][1]
                )
            case Cast(operand=inner) | Copy(operand=inner) | ExpandDims(operand=inner):
                operand = inner
            case _:
                return None
    return None
