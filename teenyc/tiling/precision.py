"""Precision of products of matrices: in which type each operand is read, and what is proven of what is rounded to it.

A stored value goes in as it is. A computed one is rounded to the type that the other is stored in, as all kernels of
this kind do; not so to f16, unless its numbers are proven small or the kernel allows it: f16 ends at 65504. Of a `D`
that may be f16, the generated code decides when it is compiled: there the product is of operands of two types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from teenyc.ir.nodes import Binary, Call, Cast, Copy, ExpandDims, Let, Literal, Operand, Unary, Value
from teenyc.record import record, replace
from teenyc.source import Span
from teenyc.tiling.state import Blocking, Tile, element_of, shape_of
from teenyc.types import BF16, F16, F32, DType, Element, TypeVar, compute_type, is_f8, is_float, scalar


@record
class Reading:
    """The types in which the two operands are read, and the precision of a product of f32."""

    elements: tuple[Element, Element]
    precision: str


def reading(b: Blocking, groups: Sequence[Tile]) -> Reading:
    """How a product of two tiles reads them."""
    left, right = groups
    raw = tuple(None if (source := source_of(b, g)) is None else element_of(source.operand) for g in groups)
    made = element_of(left.operand), element_of(right.operand)
    precision = b.dot_precision
    stored = {e for e in raw if e is not None}
    if None not in raw:
        (first, *others) = stored
        if all(map(is_f8, stored)):
            return Reading((F16, F16), precision)  # which holds them all, and adds up exactly on every GPU
        return Reading(made if others else (first, first), precision)
    if not stored:
        return Reading(made, precision)
    (element,) = stored
    is_free = b.dot_operands == "storage" or all(
        s is not None or is_small(b, g) for s, g in zip(raw, groups, strict=True)
    )
    if is_f8(element):
        return Reading((BF16, BF16), precision)
    if element == F16 and not is_free:
        return Reading((F32, F32), "tf32x3")
    if isinstance(element, TypeVar) and not is_free:
        return Reading((raw[0] or made[0], raw[1] or made[1]), precision)
    return Reading((element, element), precision)


def read(b: Blocking, tile: Tile, element: Element, span: Span) -> Tile:
    """A tile in the type in which a product reads it."""
    source = source_of(b, tile)
    if source is not None and element_of(source.operand) == element:
        return source
    if element_of(tile.operand) == element:
        return tile
    start = source if source is not None and is_f8(element_of(source.operand)) else tile
    return replace(tile, operand=b.let(Cast(operand=start.operand), element, shape_of(tile.operand), span))


def is_rounded(b: Blocking, tile: Tile, element: Element) -> bool:
    """Whether reading a tile in a type may round what was computed."""
    return source_of(b, tile) is None and element != element_of(tile.operand)


def is_as_stored(b: Blocking, tile: Tile, element: Element) -> bool:
    """Whether a product that reads a tile in a type reads what memory holds."""
    source = source_of(b, tile)
    return source is not None and element_of(source.operand) == element


def source_of(b: Blocking, tile: Tile) -> Tile | None:
    """The tile as it was loaded, where it is that and no more, but for the type in which it is computed with."""
    source = b.loaded.get(tile.operand.id) if isinstance(tile.operand, Value) else None
    element = element_of(source.operand) if source is not None else None
    if not isinstance(element, DType | TypeVar) or not is_float(element):
        return None
    return source if compute_type(element) == element_of(tile.operand) else None


def masked(b: Blocking, tile: Tile, valid: Tile, zero: Operand, span: Span) -> Tile:
    """A tile with zeros in the lanes that do not count; what is stored is masked as it is stored."""
    source = source_of(b, tile)
    if source is None:
        return keep(b, b.masked(tile, valid, zero, span), (tile,))
    element = element_of(source.operand)
    raw = b.masked(source, valid, Literal(0.0, scalar(element)), span)
    value = b.let(Cast(operand=raw.operand), element_of(tile.operand), shape_of(raw.operand), span)
    b.loaded[value.id] = raw
    return replace(raw, operand=value)


# ---- bounds ---------------------------------------------------------------------------------------------------------

SMALL = 2.0**14
"""Numbers up to here are safe in f16, also after rounding."""


def is_small(b: Blocking, tile: Tile) -> bool:
    """Whether all numbers of a tile are proven to be small."""
    return isinstance(tile.operand, Literal) or (isinstance(tile.operand, Value) and tile.operand.id in b.small)


def note(b: Blocking, operand: Operand, tile: Tile) -> None:
    """Remembers of a tile what is proven of the value of the source that it is."""
    if isinstance(tile.operand, Value) and bound(operand, b.lets) <= SMALL:
        b.small.add(tile.operand.id)


def keep(b: Blocking, tile: Tile, of: Sequence[Tile]) -> Tile:
    """A tile that is the product of others, or one of them masked: small if they are."""
    if isinstance(tile.operand, Value) and all(is_small(b, t) for t in of):
        b.small.add(tile.operand.id)
    return tile


_ONE = frozenset({"cos", "erf", "sigmoid", "sin", "softmax", "tanh"})
"""What never gives a number beyond 1."""

_SAME = frozenset({"abs", "broadcast_to", "max", "min", "trans"})
_GREATER = frozenset({"maximum", "minimum"})


def bound(operand: Operand, lets: Mapping[int, Let]) -> float:
    """What the magnitude of a float does not exceed, infinite where nothing is known; NaN counts as none."""
    if isinstance(operand, Literal):
        return abs(float(operand.value))
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    match let.operation if let is not None else None:
        case Copy(operand=inner) | ExpandDims(operand=inner) | Unary(operator="neg", operand=inner):
            return bound(inner, lets)
        case Cast(operand=inner) if is_float(element_of(inner)):
            return bound(inner, lets)
        case Binary(operator="add" | "sub", left=left, right=right):
            return bound(left, lets) + bound(right, lets)
        case Binary(operator="mul", left=left, right=right):
            return _times(bound(left, lets), bound(right, lets))
        case Call() as call:
            return _of_call(call, lets)
    return inf


def _of_call(call: Call, lets: Mapping[int, Let]) -> float:
    if call.intrinsic in _ONE:
        return 1.0
    if call.intrinsic in ("exp", "exp2"):
        return 1.0 if is_never_positive(call.operands[0][1], lets) else inf
    if call.intrinsic in _SAME:
        return bound(call.operands[0][1], lets)
    if call.intrinsic in _GREATER:
        return max(bound(o, lets) for _, o in call.operands)
    if call.intrinsic == "where":
        return max(bound(o, lets) for n, o in call.operands if n != "condition")
    return inf


def _times(a: float, b: float) -> float:
    return inf if inf in (a, b) else a * b


def is_never_positive(operand: Operand, lets: Mapping[int, Let]) -> bool:
    """Whether a float is proven to be at most 0, like `x - max(y, x)`."""
    if isinstance(operand, Literal):
        return operand.value <= 0
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    match let.operation if let is not None else None:
        case Copy(operand=inner) | ExpandDims(operand=inner):
            return is_never_positive(inner, lets)
        case Unary(operator="neg", operand=inner):
            return _is_never_negative(inner, lets)
        case Binary(operator="sub", left=left, right=right):
            return _is_at_least(right, left, lets)
        case Binary(operator="add", left=left, right=right):
            return is_never_positive(left, lets) and is_never_positive(right, lets)
        case Binary(operator="mul", left=left, right=right):
            signs = (left, right), (right, left)
            return any(is_never_positive(a, lets) and _is_never_negative(b, lets) for a, b in signs)
        case Call(intrinsic="minimum", operands=operands):
            return any(is_never_positive(o, lets) for _, o in operands)
    return False


def _is_never_negative(operand: Operand, lets: Mapping[int, Let]) -> bool:
    if isinstance(operand, Literal):
        return operand.value >= 0
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    match let.operation if let is not None else None:
        case Copy(operand=inner) | ExpandDims(operand=inner):
            return _is_never_negative(inner, lets)
        case Binary(operator="mul", left=left, right=right):
            return _named(left, lets) == _named(right, lets)
        case Call(intrinsic="abs" | "exp" | "exp2" | "sqrt" | "rsqrt" | "sigmoid"):
            return True
    return False


def _is_at_least(great: Operand, small: Operand, lets: Mapping[int, Let]) -> bool:
    """Whether one value is proven to be no less than another: an extremum that it is part of, or it itself."""
    great, small = _named(great, lets), _named(small, lets)
    if great == small:
        return True
    let = lets.get(great.id) if isinstance(great, Value) else None
    match let.operation if let is not None else None:
        case ExpandDims(operand=inner):
            return _is_at_least(inner, small, lets)
        case Call(intrinsic="maximum" | "max", operands=operands):
            return any(_is_at_least(o, small, lets) for _, o in operands)
    return False


def _named(operand: Operand, lets: Mapping[int, Let]) -> Operand:
    """What an operand is another name of."""
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    return _named(let.operation.operand, lets) if let is not None and isinstance(let.operation, Copy) else operand
