"""Lints on memory and numbers of a whole kernel: what it does goes in, and those lints that it can concern run."""

from __future__ import annotations

from teenyc.check.facts import Facts
from teenyc.diagnostics.model import Reporter
from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir import nodes as ir
from teenyc.ir.walk import statements_of

REDUCTIONS = frozenset(
    {"sum", "prod", "max", "max_with_indices", "min", "min_with_indices", "argmax", "argmin", "softmax"}
)
"""What combines the lanes of an axis, each in a way for which some number makes no difference."""


def lint_hazards(facts: Facts, reporter: Reporter) -> None:
    """Runs the lints; each in a module of its own, which is imported where it can have something to say."""
    kernel = facts.kernel
    called = {c.intrinsic for _, s in statements_of(kernel.body) if isinstance(c := _operation(s), ir.Call)}
    effects = frozenset[Effect]().union(*(TABLE[name].effects for name in called))
    if Effect.WRITES in effects:
        from teenyc.check.race import lint_races
        from teenyc.check.sharing import lint_shared_addresses
        from teenyc.check.tiles import lint_tiles

        lint_races(facts, reporter)
        lint_shared_addresses(facts, reporter)
        lint_tiles(facts, reporter)
    if any(isinstance(c := _operation(s), ir.Call) and c.operand("mask") for _, s in statements_of(kernel.body)):
        from teenyc.check.guards import lint_masks

        lint_masks(facts, reporter)
    if "load" in called and not called.isdisjoint(REDUCTIONS):
        from teenyc.check.padded import lint_padding

        lint_padding(facts, reporter)
    if "load" in called and not called.isdisjoint({"max", "max_with_indices", "softmax"}):
        from teenyc.check.hollow import lint_hollow_rows

        lint_hollow_rows(facts, reporter)
    if Effect.ATOMIC in effects:
        from teenyc.check.order import lint_order

        lint_order(facts, reporter)
    if any(isinstance(s, ir.For | ir.While) and s.carried for _, s in statements_of(kernel.body)):
        from teenyc.check.rounding import lint_carried

        lint_carried(facts, reporter)
    from teenyc.check.overflow import lint_integers

    lint_integers(facts, reporter)


def _operation(statement: ir.Statement) -> ir.Operation | None:
    return statement.operation if isinstance(statement, ir.Let) else None
