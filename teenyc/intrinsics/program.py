"""The launch grid: which program runs, and of how many."""

from __future__ import annotations

from teenyc.intrinsics.spec import Facts, Intrinsic, Param, Role, Site, Variant
from teenyc.types import I32, TensorType, scalar

LAST_FIRST = "last_first"
"""The mark of a `program_id` that counts from the last program."""

_AXIS = Param("axis", Role.AXIS)


def _grid(site: Site) -> tuple[TensorType, ...] | None:
    given = site.given["axis"]
    assert isinstance(given.static, int), "the checker reads axes"
    if 0 <= given.static < 3:
        return (scalar(I32),)
    from teenyc.diagnostics.catalog.calls import NotAGridAxis

    site.report(NotAGridAxis(span=given.span, function=site.intrinsic.name, axis=given.static))
    return None


def _is_last_first(facts: Facts) -> bool:
    """Whether an index counts from the last program."""
    return facts.attributes.get(LAST_FIRST) is True


INTRINSICS = (
    Intrinsic(
        "program_id",
        (_AXIS,),
        _grid,
        "tl.program_id",
        "The index of this program along an axis of the grid: 0, 1 or 2, or `Axis::X`.",
        "program",
        marks=frozenset({LAST_FIRST}),
        variants=(Variant(_is_last_first, "tl.num_programs({axis}) - 1 - tl.program_id({axis})"),),
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
