"""Lint for stores that several programs make to one address."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.check.facts import Facts
from teenyc.diagnostics.model import Reporter
from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir import nodes as ir
from teenyc.ir.digits import EVERYTHING, LOADED, NONE, Numbers
from teenyc.ir.walk import blocks_of


def lint_races(facts: Facts, reporter: Reporter) -> None:
    """Reports stores to addresses that do not tell the programs apart which get there.

    Where an address depends on the program, but not on all of its index, programs that write equal values do no harm.
    """
    kernel = facts.kernel
    if kernel.attributes.grid != ():
        _Races(facts, facts.compares, reporter).block(kernel.body, NONE)


class _Races:
    """A walk over one kernel with the digits that the conditions around a statement fix."""

    def __init__(self, facts: Facts, compares: Mapping[int, tuple[bool, ir.Compare]], reporter: Reporter) -> None:
        self.facts = facts
        self.known = facts.masks
        self.digits = facts.digits
        self.compares = compares
        self.reporter = reporter

    def block(self, block: ir.Block, fixed: Numbers) -> None:
        for statement in block.statements:
            if isinstance(statement, ir.If):
                inside = [fixed | self.fixed(statement.condition, holds=holds) for holds in (True, False)]
                for inner, each in zip(blocks_of(statement), inside, strict=True):
                    self.block(inner, each)
                ends = [each for inner, each in zip(blocks_of(statement), inside, strict=True) if not _leaves(inner)]
                fixed = ends[0] if len(ends) == 1 else fixed
                continue
            if isinstance(statement, ir.Let) and isinstance(statement.operation, ir.Call):
                self.call(statement, statement.operation, fixed)
            for inner in blocks_of(statement):
                self.block(inner, fixed)

    def fixed(self, flag: ir.Operand | None, *, holds: bool = True) -> Numbers:
        """The digits that a condition pins down: those in `pid == 0`, none in `pid < n`; of what is loaded, any."""
        if flag is None:
            return NONE
        found = NONE
        for wanted, number, _ in self.known.conditions(flag, holds=holds):
            if number not in self.compares:
                return found | self.digits.of(flag)
            direct, compare = self.compares[number]
            digits = self.digits.of(compare.left) | self.digits.of(compare.right)
            is_equality = compare.operator == ("eq" if wanted is direct else "ne")
            if is_equality or LOADED in digits:
                found |= digits
        return found

    def call(self, statement: ir.Let, call: ir.Call, fixed: Numbers) -> None:
        effects = TABLE[call.intrinsic].effects
        places = [operand for name, operand in call.operands if name not in ("value", "mask")]
        if Effect.WRITES not in effects or Effect.ATOMIC in effects or not places:
            return
        told = fixed.union(*map(self.digits.of, places)) | self.fixed(call.operand("mask"))
        shared = self.digits.shared_axes(told)
        if not shared and (told or self.digits.axes):
            return
        differs = self.differs(statement, call.operand("value"), told)
        if differs or not told:
            self.report(statement, places[0], told, shared, is_equal=not differs)

    def differs(self, store: ir.Let, value: ir.Operand | None, told: Numbers) -> bool:
        """Whether programs of which an address does not tell one from the other store values of their own."""
        own = self.digits.of(value)
        if EVERYTHING in own or not self.digits.are_told(own, told):
            return True
        return LOADED in own and self.facts.is_update(store, value)

    def report(
        self, statement: ir.Let, pointer: ir.Operand, told: Numbers, shared: frozenset[int], *, is_equal: bool
    ) -> None:
        from teenyc.diagnostics.catalog.lints import SameAddress

        name = pointer.name if isinstance(pointer, ir.Value) else ""
        axis = min(shared) if told else None
        whole = NONE if axis is None else frozenset({self.digits.axes[axis]})
        is_partly = axis is not None and any(self.digits.are_told(frozenset({d}), whole) for d in told - {LOADED})
        facts = {"is_partly": is_partly, "is_equal": is_equal}
        self.reporter.report(SameAddress(span=statement.span, pointer=name, axis=axis, **facts))


def _leaves(block: ir.Block) -> bool:
    return bool(block.statements) and isinstance(block.statements[-1], ir.Return)
