"""The passes in order: `PIPELINE` names functions, each from a valid program to a valid program.

A pass, its file and its function have one name. It is imported when it first runs: a check needs few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from teenyc.ir.nodes import Program
from teenyc.record import record


@record
class Pass:
    """One pass under the name by which `--emit-after` knows it."""

    name: str

    def run(self, program: Program) -> Program:
        """The program after the pass."""
        function = self.name.replace("-", "_")
        found: Callable[[Program], Program] = getattr(import_module(f"{__name__}.{function}"), function)
        return found(program)


PIPELINE: tuple[Pass, ...] = (
    Pass("lower-descriptors"),
    Pass("widen-counters"),
    Pass("widen-offsets"),
    Pass("fold-constants"),
    Pass("pad-extents"),
    Pass("widen-floats"),
    Pass("tile"),
    Pass("simplify-tiles"),
    Pass("split-offsets"),
    Pass("describe-blocks"),
    Pass("split-extents"),
    Pass("postpone-factors"),
    Pass("accumulate-products"),
    Pass("fold-exponentials"),
    Pass("advance-products"),
    Pass("branch-rests"),
    Pass("advance-offsets"),
    Pass("drop-dead-code"),
    Pass("keep-late-values"),
    Pass("keep-reductions"),
    Pass("read-sums-once"),
)
