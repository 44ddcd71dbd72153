"""Matrix products."""

from __future__ import annotations

from typing import Any

from teenyc.intrinsics.reference import numpy
from teenyc.intrinsics.rules import Need, flag, is_present, may_be_f32, value
from teenyc.intrinsics.spec import Facts, Intrinsic, Param, Role, Site, Static, Variant
from teenyc.types import (
    F32,
    F64,
    I8,
    I32,
    Compute,
    DType,
    Element,
    Kind,
    Shape,
    TensorType,
    Type,
    TypeVar,
    compute_type,
    is_float,
    is_generic_number,
    shape_text,
)

PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
_OPERANDS = ("input", "other")


def _dot(site: Site) -> tuple[TensorType, ...] | None:
    operands = _operands(site)
    if operands is None or not _has_one_precision(site):
        return None
    shape = _product(site, *operands)
    if shape is None or not _is_deep_enough(site, *operands):
        return None
    if not is_present(site, "acc"):
        element = _result(site, operands[0].element)
        return None if element is None else (TensorType(element, shape),)
    acc = value(site, "acc", Need.NUMBER)
    if acc is None or not _accumulates(site, acc, operands[0].element, shape):
        return None
    return (acc,)


# ---- operands -------------------------------------------------------------------------------------------------------


def _operands(site: Site) -> tuple[TensorType, TensorType] | None:
    left, right = (value(site, name, Need.NUMBER) for name in _OPERANDS)
    if left is None or right is None:
        return None
    for name, type in zip(_OPERANDS, (left, right), strict=True):
        if not (is_float(type.element) or is_generic_number(type.element) or type.element == I8):
            _wrong(site, name, type, "floats or `i8`")
            return None
    if left.element != right.element and not _are_mixed_bytes(left.element, right.element):
        _wrong(site, "other", right, f"`{left.element}` as `input` does")
        return None
    return left, right


def _has_one_precision(site: Site) -> bool:
    """Whether `allow_tf32`, Triton's old word for `input_precision`, is known and stands alone."""
    if "allow_tf32" not in site.given:
        return True
    if not is_present(site, "input_precision"):
        return flag(site, "allow_tf32") is not None
    from teenyc.diagnostics.catalog.calls import UselessOption

    at = site.given["allow_tf32"].span
    why = "`input_precision` says it"
    site.report(UselessOption(span=at, function=site.intrinsic.name, name="allow_tf32", why=why))
    return False


def _are_mixed_bytes(left: Element, right: Element) -> bool:
    """Whether both are 8-bit floats, which may differ in format."""
    return all(isinstance(e, DType) and e.kind is Kind.FLOAT and e.bits == 8 for e in (left, right))


def _wrong(site: Site, name: str, type: TensorType, need: str) -> None:
    from teenyc.diagnostics.catalog.calls import DotElement

    site.report(
        DotElement(function=site.intrinsic.name, span=site.given[name].span, name=name, found=str(type), need=need)
    )


def _product(site: Site, left: TensorType, right: TensorType) -> Shape | None:
    """`[M, N]` of `[M, K]` and `[K, N]`, with equal batch axes in front."""
    a, b = left.shape, right.shape
    if len(a) != len(b) or len(a) not in (2, 3):
        _mismatch(site, a, b, "both need two axes, or three with batches")
        return None
    if a[:-2] != b[:-2]:
        _mismatch(site, a, b, "the batches differ")
        return None
    if a[-1] == b[-2]:
        return (*a[:-1], b[-1])
    advice = "transpose the second: `trans(…)`" if a[-1] == b[-1] else None
    _mismatch(site, a, b, f"the inner extents are {a[-1]} and {b[-2]}", advice)
    return None


def _mismatch(site: Site, a: Shape, b: Shape, why: str, advice: str | None = None) -> None:
    from teenyc.diagnostics.catalog.shapes import DotShapes

    spans = [site.given[name].span for name in _OPERANDS]
    site.report(
        DotShapes(
            function=site.intrinsic.name,
            span=site.span,
            left=shape_text(a),
            right=shape_text(b),
            left_span=spans[0],
            right_span=spans[1],
            why=why,
            advice=advice,
        )
    )


def _is_deep_enough(site: Site, left: TensorType, right: TensorType) -> bool:
    """Whether the inner extent reaches what the matrix units of every target take, as far as known."""
    element, inner = left.element, left.shape[-1]
    minimum = 32 if isinstance(element, DType) and element.bits == 8 else 16
    if inner.known is None:
        site.require(inner, f"at-least:{minimum}", "the inner extent of `dot`", site.span)
        return True
    if inner.known >= minimum:
        return True
    from teenyc.diagnostics.catalog.shapes import DotTooSmall

    shapes = (shape_text(left.shape), shape_text(right.shape))
    site.report(
        DotTooSmall(function=site.intrinsic.name, span=site.span, extent=inner.known, minimum=minimum, shapes=shapes)
    )
    return False


# ---- results --------------------------------------------------------------------------------------------------------


def _result(site: Site, element: Element) -> Element | None:
    """The element type without an accumulator: i32 of `i8`, f32 of narrow floats, otherwise the operands'."""
    given = site.given.get("out_dtype")
    stated = given.static if given is not None else site.generics[1] if len(site.generics) > 1 else None
    if isinstance(element, DType):
        natural: Element = I32 if element == I8 else compute_type(element)
    else:
        natural = element
    if stated is None or stated == natural or _may_hold(element, stated):  # type: ignore[arg-type]
        return natural if stated is None else stated  # type: ignore[return-value]
    from teenyc.diagnostics.catalog.calls import DotAccumulator

    at = given.span if given is not None else site.span
    site.report(DotAccumulator(function=site.intrinsic.name, span=at, found=str(stated), need=f"of `{natural}`"))
    return None


def _may_hold(element: Element, result: Element) -> bool:
    """Whether sums of products of `element` may be kept in `result`."""
    if element == I8:
        return result == I32
    if element in (F32, F64):
        return result == element
    if isinstance(element, TypeVar | Compute):
        return is_float(result) or is_generic_number(result)
    return isinstance(result, TypeVar | Compute) or (is_float(result) and result != F64)


def _accumulates(site: Site, acc: TensorType, element: Element, shape: Shape) -> bool:
    if acc.shape == shape and _may_hold(element, acc.element):
        return True
    from teenyc.diagnostics.catalog.calls import DotAccumulator

    held = str(element) if element in (F32, F64) else "i32" if element == I8 else "f32"
    need = f"of shape `{shape_text(shape)}`" if acc.shape != shape else f"of `{held}`"
    site.report(DotAccumulator(function=site.intrinsic.name, span=site.given["acc"].span, found=str(acc), need=need))
    return False


def _fills(site: Site, results: tuple[Type, ...]) -> tuple[tuple[str, Static], ...]:
    """Triton multiplies f32 in tf32, and until 3.8 accumulates in f32 only, unless it is told otherwise."""
    (result,) = results
    operand = site.given["input"].type
    filled: list[tuple[str, Static]] = []
    if isinstance(operand, TensorType) and may_be_f32(operand.element):
        allows = site.given.get("allow_tf32")
        filled.append(("input_precision", "tf32" if allows is not None and allows.static is True else "ieee"))
    is_told = is_present(site, "acc") or (isinstance(operand, TensorType) and is_generic_number(operand.element))
    if isinstance(result, TensorType) and is_told and result.element != F32:
        filled.append(("out_dtype", result.element))
    return tuple(filled)


def _may_be_wider(facts: Facts) -> bool:
    """Whether the operands may turn out f64 while the result stays a named, narrower float, which Triton has not."""
    operand, acc = facts.types["input"], facts.types.get("acc")
    is_open = isinstance(operand, TensorType) and isinstance(operand.element, TypeVar | Compute)
    result = acc.element if isinstance(acc, TensorType) else facts.attributes.get("out_dtype")
    is_narrow = isinstance(result, DType) and result != F64
    return is_open and is_narrow and "max_num_imprecise_acc" not in facts.attributes


def _may_be_integers(facts: Facts) -> bool:
    """Whether the operands are of a `D: Num`."""
    operand = facts.types["input"]
    return isinstance(operand, TensorType) and is_generic_number(operand.element)


def _is_mixed(facts: Facts) -> bool:
    """Whether one operand was computed and the other stored, which only tiling makes."""
    left, right = (facts.types[name] for name in _OPERANDS)
    if not isinstance(left, TensorType) or not isinstance(right, TensorType):
        return False
    return left.element != right.element and any(isinstance(t.element, TypeVar) for t in (left, right))


def _multiplied(input: Any, other: Any, acc: Any = 0, input_precision: str = "ieee", **ignored: Any) -> Any:
    from teenyc.intrinsics.products import multiplied

    np = numpy()
    left, right = np.asarray(input), np.asarray(other)
    if left.dtype.kind in "iu":
        whole = left.dtype if left.dtype.itemsize > 4 else np.int32
        return np.matmul(left.astype(whole), right.astype(whole)) + acc
    if left.dtype.itemsize > 4:
        return np.matmul(left, right) + acc
    return multiplied(left.astype(np.float32), right.astype(np.float32), input_precision) + acc


INTRINSICS = (
    Intrinsic(
        "dot",
        (
            Param("input", Role.VALUE, aliases=("a",)),
            Param("other", Role.VALUE, aliases=("b",), meets="input"),
            Param("acc", Role.VALUE, default=None),
            Param("input_precision", Role.CHOICE, default="ieee", choices=PRECISIONS),
            Param("max_num_imprecise_acc", Role.EXTENT, default=None),
            Param("out_dtype", Role.DTYPE, default=None, by_name_only=True),
            Param("allow_tf32", Role.FLAG, default=False, by_name_only=True, is_ignored=True),
        ),
        _dot,
        "tl.dot",
        "The matrix product, added to `acc` if there is one. `f32` is multiplied exactly unless another precision is"
        " asked for: `tf32` cuts operands to 10 bits of fraction, the others multiply operands that are taken apart.",
        "linear algebra",
        generics=2,
        reference=_multiplied,
        first_by_name="input_precision",
        stored=frozenset(_OPERANDS),
        widened=(("input_precision", "ieee"),),
        fills=_fills,
        variants=(
            Variant(_is_mixed, "_dot_mixed", "_dot_mixed"),
            Variant(_may_be_integers, "_dot_of_numbers", "_dot_of_numbers"),
            Variant(_may_be_wider, "_dot", "_dot"),
        ),
    ),
)
