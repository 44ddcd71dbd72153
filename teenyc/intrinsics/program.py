"""The launch grid: which program runs, and of how many."""

from __future__ import annotations

from teenyc.intrinsics.spec import Intrinsic, Param, Role, Site
from teenyc.types import I32, TensorType, scalar

_AXIS = Param("axis", Role.AXIS)


def _grid(site: Site) -> tuple[TensorType, ...] | None:
    given = site.given["axis"]
    assert isinstance(given.static, int), "the checker reads axes"
    if 0 <= given.static < 3:
        return (scalar(I32),)
    from teenyc.diagnostics.catalog.calls import NotAGridAxis

    site.report(NotAGridAxis(span=given.span, function=site.intrinsic.name, axis=given.static))
    return None


INTRINSICS = (
    Intrinsic(
        "program_id",
        (_AXIS,),
        _grid,
        "tl.program_id",
        "The index of this program along an axis of the grid: 0, 1 or 2, or `Axis::X`.",
        "program",
    ),
    Intrinsic(
        "num_programs",
        (_AXIS,),
        _grid,
        "tl.num_programs",
        "How many programs the grid has along an axis.",
        "program",
    ),
)
