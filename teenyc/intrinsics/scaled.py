"""Products of narrow floats that share scales: `dot_scaled`, of the OCP's microscaling formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from teenyc.intrinsics.reference import numpy, one_after_the_other
from teenyc.intrinsics.rules import Need, flag, is_present, value
from teenyc.intrinsics.spec import Facts, Intrinsic, Param, Role, Site, Variant
from teenyc.record import record
from teenyc.types import BF16, F8E4M3, F8E5M2, F16, F32, U8, U16, DType, Extent, Shape, TensorType, shape_text

_CARRIERS: Mapping[str, tuple[DType, ...]] = {
    "e2m1": (U8,),
    "e4m3": (F8E4M3, U8),
    "e5m2": (F8E5M2, U8),
    "bf16": (BF16, U16),
    "fp16": (F16, U16),
}
"""The element types that hold each format; of `e2m1` a byte holds two, the first in its lower half."""

_GROUPS = {U8: 32, F8E4M3: 16}
"""How many elements share a scale, by the scale's type: a power of two (E8M0), or a float."""

TWO = Extent.of(2)


@record
class _Side:
    """One operand: its name, the axis of K in it, and the extents of its rows (M or N) and of K, unpacked."""

    name: str
    rows: Extent
    inner: Extent


# ---- rules ----------------------------------------------------------------------------------------------------------


def _dot_scaled(site: Site) -> tuple[TensorType, ...] | None:
    left, right = _side(site, "lhs", 1), _side(site, "rhs", 0)
    if left is None or right is None or flag(site, "fast_math") is None:
        return None
    if left.inner != right.inner:
        _mismatch(site, f"the inner extents are {left.inner} and {right.inner}")
        return None
    if not (_is_scaled(site, left) and _is_scaled(site, right)):
        return None
    shape = (left.rows, right.rows)
    return (TensorType(F32, shape),) if _accumulates(site, shape) and _gives_f32(site) else None


def _side(site: Site, name: str, inner: int) -> _Side | None:
    """An operand that its format fits, with its extents unpacked."""
    type, format = value(site, name, Need.NUMBER), str(site.given[f"{name}_format"].static)
    along_inner = flag(site, f"{name}_k_pack")
    if type is None or along_inner is None:
        return None
    if len(type.shape) != 2:
        _mismatch(site, "both need two axes")
        return None
    if type.element not in _CARRIERS[format]:
        _wrong_carrier(site, name, format, type)
        return None
    if format != "e2m1" and not along_inner:
        _not_packed(site, name, format)
        return None
    extents = list(type.shape)
    if format == "e2m1":
        packed = inner if along_inner else 1 - inner
        extents[packed] = extents[packed] * TWO
    return _Side(name, extents[1 - inner], extents[inner])


def _wrong_carrier(site: Site, name: str, format: str, type: TensorType) -> None:
    from teenyc.diagnostics.catalog.calls import ScaledElement

    need = " or ".join(f"`{dtype}`" for dtype in _CARRIERS[format])
    at = site.given[f"{name}_format"].span
    site.report(ScaledElement(span=site.given[name].span, format=format, need=need, found=str(type), format_span=at))


def _not_packed(site: Site, name: str, format: str) -> None:
    from teenyc.diagnostics.catalog.calls import UselessOption

    why = f"elements of `{format}` are not packed; only those of `e2m1` are"
    at = site.given[f"{name}_k_pack"].span
    site.report(UselessOption(span=at, function=site.intrinsic.name, name=f"{name}_k_pack", why=why))


def _mismatch(site: Site, why: str) -> None:
    from teenyc.diagnostics.catalog.shapes import DotShapes

    left, right = site.given["lhs"], site.given["rhs"]
    shapes = [shape_text(g.type.shape) if isinstance(g.type, TensorType) else "" for g in (left, right)]
    site.report(
        DotShapes(
            function=site.intrinsic.name,
            span=site.span,
            left=shapes[0],
            right=shapes[1],
            left_span=left.span,
            right_span=right.span,
            why=why,
        )
    )


def _is_scaled(site: Site, side: _Side) -> bool:
    """Whether there is a scale for each group of each row, or none at all."""
    name = f"{side.name}_scale"
    if not is_present(site, name):
        return True
    type = value(site, name, Need.NUMBER)
    if type is None:
        return False
    group = _GROUPS.get(type.element) if isinstance(type.element, DType) else None
    if group is None:
        _wrong_scale(site, name, "a tensor of `u8`, powers of two, or of `f8e4m3`", type)
        return False
    wanted = (side.rows, side.inner.divided(Extent.of(group)) or side.inner)
    if type.shape == wanted or (_is_product(side.inner, type, group) and type.shape[0] == side.rows):
        return True
    axes = "[M, K / {0}]" if side.name == "lhs" else "[N, K / {0}]"
    _wrong_scale(site, name, f"of shape `{shape_text(wanted)}`, which is `{axes.format(group)}`", type)
    return False


def _is_product(inner: Extent, type: TensorType, group: int) -> bool:
    return len(type.shape) == 2 and type.shape[1] * Extent.of(group) == inner


def _wrong_scale(site: Site, name: str, need: str, type: TensorType) -> None:
    from teenyc.diagnostics.catalog.calls import WrongScale

    site.report(WrongScale(span=site.given[name].span, name=name, need=need, found=str(type)))


def _accumulates(site: Site, shape: Shape) -> bool:
    if not is_present(site, "acc"):
        return True
    acc = value(site, "acc", Need.NUMBER)
    if acc is None or acc == TensorType(F32, shape):
        return acc is not None
    from teenyc.diagnostics.catalog.calls import DotAccumulator

    need = f"of shape `{shape_text(shape)}`" if acc.shape != shape else "of `f32`"
    site.report(DotAccumulator(function=site.intrinsic.name, span=site.given["acc"].span, found=str(acc), need=need))
    return False


def _gives_f32(site: Site) -> bool:
    given = site.given.get("out_dtype")
    if given is None or given.static in (None, F32):
        return True
    from teenyc.diagnostics.catalog.calls import DotAccumulator

    site.report(DotAccumulator(function=site.intrinsic.name, span=given.span, found=str(given.static), need="of `f32`"))
    return False


def _has_scales(facts: Facts) -> bool:
    return {"lhs_scale", "rhs_scale"} <= facts.types.keys()


def _has_packed_rows(*sides: str) -> Callable[[Facts], bool]:
    return lambda facts: all(facts.attributes.get(f"{side}_k_pack") is False for side in sides)


_LEFT, _RIGHT = "_pack_along_k({lhs})", "tl.trans(_pack_along_k(tl.trans({rhs})))"


def _form(left: str, right: str) -> str:
    scales = "{lhs_scale}, {lhs_format}", "{rhs_scale}, {rhs_format}"
    return f"tl.dot_scaled({left}, {scales[0]}, {right}, {scales[1]}, acc={{acc}}, fast_math={{fast_math}})"


# ---- reference ------------------------------------------------------------------------------------------------------

_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_LAYOUTS = {"e4m3": (4, 3, 7), "e5m2": (5, 2, 15), "bf16": (8, 7, 127), "fp16": (5, 10, 15)}
"""Bits of exponent and mantissa, and the bias, by format."""


def _multiplied(
    lhs: Any,
    lhs_format: str,
    rhs: Any,
    rhs_format: str,
    lhs_scale: Any = None,
    rhs_scale: Any = None,
    acc: Any = 0,
    lhs_k_pack: bool = True,
    rhs_k_pack: bool = True,
    **ignored: Any,
) -> Any:
    np = numpy()
    left = _decoded(lhs, lhs_format, -1 if lhs_k_pack else -2)
    right = _decoded(rhs, rhs_format, -2 if rhs_k_pack else -1)
    if lhs_scale is not None:
        left = left * _spread(lhs_scale, left.shape[1])
    if rhs_scale is not None:
        right = right * _spread(rhs_scale, right.shape[0]).T
    return (left @ right + acc).astype(np.float32)


def _spread(scale: Any, inner: int) -> Any:
    """The factors of E8M0 scales, one for each element; 255 is NaN."""
    np = numpy()
    factors = np.where(scale == 255, np.nan, np.exp2(scale.astype(np.float64) - 127))
    return np.repeat(factors, inner // scale.shape[1], axis=1)


def _decoded(bits: Any, format: str, axis: int) -> Any:
    """The elements as float64 of bits, two a byte along an axis for `e2m1`."""
    np = numpy()
    if format == "e2m1":
        halves = np.stack([bits & 15, bits >> 4], axis=-1)
        ordered = np.moveaxis(halves, -1, axis) if axis == -1 else np.swapaxes(halves, -1, -2)
        codes = ordered.reshape(bits.shape[0], -1) if axis == -1 else ordered.reshape(-1, bits.shape[1])
        return np.where(codes & 8, -1.0, 1.0) * np.array(_E2M1)[codes & 7]
    return _floats(bits.astype(np.int64), format)


def _floats(bits: Any, format: str) -> Any:
    np = numpy()
    width, mantissa, bias = _LAYOUTS[format]
    sign = np.where(bits >> (width + mantissa) & 1, -1.0, 1.0)
    exponent, fraction = bits >> mantissa & ((1 << width) - 1), (bits & ((1 << mantissa) - 1)) / (1 << mantissa)
    normal = np.exp2(exponent - float(bias)) * (1 + fraction)
    value = sign * np.where(exponent == 0, np.exp2(1.0 - bias) * fraction, normal)
    if format == "e4m3":
        return np.where(bits & 127 == 127, np.nan, value)
    special = exponent == (1 << width) - 1
    return np.where(special, np.where(fraction == 0, sign * np.inf, np.nan), value)


INTRINSICS = (
    Intrinsic(
        "dot_scaled",
        (
            Param("lhs", Role.VALUE),
            Param("lhs_scale", Role.VALUE, default=None),
            Param("lhs_format", Role.CHOICE, choices=tuple(_CARRIERS)),
            Param("rhs", Role.VALUE),
            Param("rhs_scale", Role.VALUE, default=None),
            Param("rhs_format", Role.CHOICE, choices=tuple(_CARRIERS)),
            Param("acc", Role.VALUE, default=None),
            Param("fast_math", Role.FLAG, default=False),
            Param("lhs_k_pack", Role.FLAG, default=True),
            Param("rhs_k_pack", Role.FLAG, default=True),
            Param("out_dtype", Role.DTYPE, default=None, by_name_only=True, is_ignored=True),
        ),
        _dot_scaled,
        _form("{lhs}", "{rhs}"),
        "The matrix product of microscaled floats, added to `acc` if there is one, as `f32`. Each group of 32 elements"
        " along K has a scale: `lhs_scale` of shape `[M, K / 32]`, `rhs_scale` of `[N, K / 32]`. Elements of `e2m1` are"
        " packed, two a byte.",
        "linear algebra",
        generics=3,
        reference=_multiplied,
        batched=one_after_the_other(_multiplied),
        first_by_name="acc",
        variants=(
            Variant(_has_packed_rows("lhs", "rhs"), _form(_LEFT, _RIGHT), "_pack_along_k"),
            Variant(_has_packed_rows("lhs"), _form(_LEFT, "{rhs}"), "_pack_along_k"),
            Variant(_has_packed_rows("rhs"), _form("{lhs}", _RIGHT), "_pack_along_k"),
            Variant(_has_scales, "tl.dot_scaled"),
        ),
    ),
)
