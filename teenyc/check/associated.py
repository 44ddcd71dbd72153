"""Constants of types: `f32::NEG_INFINITY`, `std::f32::consts::LOG2_E`, `i32::MAX` go in, literals come out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from teenyc.check.context import Checked, Context
from teenyc.ir import nodes as ir
from teenyc.source import Span
from teenyc.types import DTYPES, F32, DType, Element, Kind, scalar

SPECIAL: Mapping[str, float] = {"NEG_INFINITY": -math.inf, "INFINITY": math.inf, "NAN": math.nan}

CONSTS: Mapping[str, float] = {
    "E": math.e,
    "FRAC_1_PI": 1 / math.pi,
    "FRAC_1_SQRT_2": math.sqrt(0.5),
    "FRAC_2_PI": 2 / math.pi,
    "FRAC_2_SQRT_PI": 1.1283791670955126,
    **{f"FRAC_PI_{n}": math.pi / n for n in (2, 4, 8)},
    "FRAC_PI_3": 1.0471975511965979,
    "FRAC_PI_6": 0.5235987755982989,
    "LN_10": 2.302585092994046,
    "LN_2": 0.6931471805599453,
    "LOG10_2": 0.3010299956639812,
    "LOG10_E": 0.4342944819032518,
    "LOG2_10": 3.321928094887362,
    "LOG2_E": 1.4426950408889634,
    "PI": math.pi,
    "SQRT_2": math.sqrt(2),
    "TAU": math.tau,
}
"""What `std::f64::consts` holds, right to the last bit."""

_LIMITS = {
    "f16": (65504.0, 2.0**-14, 2.0**-10),
    "bf16": (3.3895313892515355e38, 2.0**-126, 2.0**-7),
    "f32": (3.4028234663852886e38, 2.0**-126, 2.0**-23),
    "f64": (1.7976931348623157e308, 2.0**-1022, 2.0**-52),
}
"""MAX, MIN_POSITIVE and EPSILON of the float types."""


def associated(context: Context, path: Sequence[str], span: Span) -> Checked | None:
    """The constant of a type that a path names; None for a path that names no type."""
    names = [n for n in path if n not in ("std", "core")] if path[0] in ("std", "core") else list(path)
    owner, name = names[0], names[-1]
    is_type = owner in DTYPES or owner in context.elements or owner == "consts"
    if not is_type or len(names) < 2 or names[1:-1] not in ([], ["consts"]):
        return None
    element = context.elements.get(owner) or DTYPES.get(owner, F32)
    known = _numbers(element)
    value = known.get(name)
    if value is None:
        from teenyc.diagnostics.catalog.names import UnknownName
        from teenyc.diagnostics.suggest import closest

        similar = closest(name, known)
        near = "::".join((*path[:-1], similar)) if similar is not None else None
        return context.report(UnknownName(span=span, name="::".join(path), similar=near))
    type = context.inference.literal(is_float=False) if name == "BITS" else scalar(element)
    return ir.Literal(value, type)


def _numbers(element: Element) -> Mapping[str, int | float]:
    """The constants of a type by name; of a dtype parameter those that every float has."""
    if isinstance(element, DType) and element.kind in (Kind.SIGNED, Kind.UNSIGNED):
        return {"MAX": element.maximum, "MIN": element.minimum, "BITS": element.bits}
    limits = _LIMITS.get(element.name) if isinstance(element, DType) else None
    if limits is None:
        return {**SPECIAL, **CONSTS}
    top, least, step = limits
    return {**SPECIAL, **CONSTS, "MAX": top, "MIN": -top, "MIN_POSITIVE": least, "EPSILON": step}
