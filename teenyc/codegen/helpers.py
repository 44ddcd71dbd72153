"""Helper functions that a module holds where it needs them; `_round_to` is in `templates/helpers/round_to.py.jinja`.

Casts to integers share one template; the helpers that intrinsics name have theirs beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from teenyc.intrinsics import HELPERS as CALLED
from teenyc.record import record
from teenyc.types import DTYPES, DType, Kind

ROUND_TO = "_round_to"
"""Rounds to nearest even in a dtype: Triton's interpreter cuts bits off where it makes a bfloat16."""

ROUND_WIDE = "_round_wide"
"""Rounds what f32 does not hold to bfloat16, where Triton would round twice."""

TO_F8 = "_to_f8"
"""Rounds to an 8-bit float, which Triton does from 32 bits only, and its interpreter wrongly."""

QUOTIENT = "_quotient"
"""Divides values of a `D: Num`: integers toward zero."""

DIVIDED, REMAINDER = "_divided", "_remainder"
"""Divide constants, which Python would round down."""

WRAPPED = "_wrapped"
"""Wraps arithmetic on constants, which are Python numbers when Triton compiles."""

TO_NUMBER = "_to_number"
"""Makes a float a value of a `D: Num`: integers are cut and saturate."""

CONSTANT = "_constant"
"""Makes a number one that kernels may read: a constexpr, but for Triton's interpreter, whose operators wrap those."""

HAND = "_ROUNDS_BY_HAND"
"""A constant beside `_round_to`."""


@record
class Saturation:
    """The cast of floats to one integer type: bounds as Python writes them; `limit` is the first float above."""

    name: str
    dtype: str
    least: str
    greatest: str
    low: str
    limit: str
    is_signed: bool


def saturation(dtype: DType) -> Saturation:
    """The helper that casts floats to an integer type."""
    return Saturation(
        name=_cast_name(dtype),
        dtype=f"tl.{dtype.triton}",
        least=str(dtype.minimum),
        greatest=str(dtype.maximum),
        low=f"{dtype.minimum}.0",
        limit=f"{dtype.maximum + 1}.0",
        is_signed=dtype.kind is Kind.SIGNED,
    )


def _cast_name(dtype: DType) -> str:
    return f"_to_{dtype.triton}"


SATURATING: Mapping[str, DType] = {_cast_name(d): d for d in DTYPES.values() if d.kind in (Kind.SIGNED, Kind.UNSIGNED)}
"""The integer types by the name of their helper."""

ASKED = "_IS_INTERPRETED"
"""A constant beside the helpers of `INTERPRETED`."""

INTERPRETED = frozenset({"_gdc_launch_dependents", "_gdc_wait", "_globaltimer", "_num_threads", "_num_warps", "_smid"})
INTERPRETED |= {"_atomic_poll", TO_F8}
"""The helpers that do otherwise under Triton's interpreter, which has no device code."""

CALLS: Mapping[str, tuple[str, ...]] = {
    "_atomic_add": (ROUND_TO,),
    "_atomic_poll": ("_globaltimer",),
    "_dot_mixed": (ROUND_TO,),
    "_leading_zeros": ("_count_ones",),
}
"""The helpers that a helper calls."""

TEMPLATES = frozenset({ROUND_TO, ROUND_WIDE, TO_F8, QUOTIENT, TO_NUMBER, DIVIDED, REMAINDER, WRAPPED, *CALLED})
"""The helpers that have a template of their own."""

HELPERS = frozenset({CONSTANT, HAND, ASKED, "libdevice", "_libdevice_on_arrays", "_exchanged", *SATURATING, *TEMPLATES})
"""All names that helpers take in a module."""


def with_called(helpers: Iterable[str]) -> frozenset[str]:
    """The helpers that a module must hold for some to be called."""
    found = frozenset(helpers)
    return found.union(*(CALLS.get(helper, ()) for helper in found))


def template_of(helper: str) -> str:
    """The template of a helper that has one of its own."""
    return f"helpers/{helper.removeprefix('_')}.py.jinja"
