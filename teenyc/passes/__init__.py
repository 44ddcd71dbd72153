"""The passes in order: `PIPELINE` is a tuple of named functions, each from a valid program to a valid program."""

from __future__ import annotations

from collections.abc import Callable

from teenyc.ir.nodes import Program
from teenyc.passes.accumulate_products import accumulate_products
from teenyc.passes.branch_rests import branch_rests
from teenyc.passes.drop_dead_code import drop_dead_code
from teenyc.passes.fold_constants import fold_constants
from teenyc.passes.fold_exponentials import fold_exponentials
from teenyc.passes.keep_late_values import keep_late_values
from teenyc.passes.lower_descriptors import lower_descriptors
from teenyc.passes.pad_extents import pad_extents
from teenyc.passes.postpone_factors import postpone_factors
from teenyc.passes.scale_extrema import scale_extrema
from teenyc.passes.simplify_tiles import simplify_tiles
from teenyc.passes.split_offsets import split_offsets
from teenyc.passes.tile import tile
from teenyc.passes.widen_counters import widen_counters
from teenyc.passes.widen_floats import widen_floats
from teenyc.passes.widen_offsets import widen_offsets
from teenyc.record import record


@record
class Pass:
    """One pass under the name by which `--emit-after` knows it."""

    name: str
    run: Callable[[Program], Program]


PIPELINE: tuple[Pass, ...] = (
    Pass("lower-descriptors", lower_descriptors),
    Pass("widen-counters", widen_counters),
    Pass("fold-constants", fold_constants),
    Pass("pad-extents", pad_extents),
    Pass("widen-offsets", widen_offsets),
    Pass("widen-floats", widen_floats),
    Pass("tile", tile),
    Pass("simplify-tiles", simplify_tiles),
    Pass("split-offsets", split_offsets),
    Pass("postpone-factors", postpone_factors),
    Pass("accumulate-products", accumulate_products),
    Pass("scale-extrema", scale_extrema),
    Pass("fold-exponentials", fold_exponentials),
    Pass("branch-rests", branch_rests),
    Pass("drop-dead-code", drop_dead_code),
    Pass("keep-late-values", keep_late_values),
)
