"""Runs a kernel on symbols: its body goes in, and comes out as accesses with what is known where they are made.

Integers are exact. Where the language lets one wrap, because it reaches no address, it must be proven not to, or
nothing is known of it but its type. A loop is gone through twice: once to see what each iteration adds to what it
carries, then with the sum of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.intervals import FULL, Interval, of_type
from teenyc.ir.nodes import (
    Apply,
    Block,
    Call,
    Constant,
    For,
    If,
    Let,
    Literal,
    Operand,
    Return,
    Statement,
    Value,
    While,
)
from teenyc.ir.polynomials import Polynomial
from teenyc.record import field, state
from teenyc.safety.formulas import FALSE, TRUE, All, AtLeast, Formula, Some, negated
from teenyc.safety.launch import Launch
from teenyc.safety.loops import run_loop
from teenyc.safety.numbers import Numbers
from teenyc.safety.operations import operation_of
from teenyc.safety.prover import Known, Prover
from teenyc.safety.symbols import Access, Address, Flag, Number, Symbol, positions_of
from teenyc.safety.terms import ONE, ZERO, Source, Terms, constant, minus
from teenyc.source import Span
from teenyc.types import BOOL, DType, Pointer, TensorType, is_integer


@state
class Machine:
    """One walk over a kernel. `exact` are the integers that do not wrap, `ranges` intervals, both by id."""

    launch: Launch
    numbers: Numbers
    exact: frozenset[int]
    ranges: Mapping[int, Interval]
    known: Known
    assumed: tuple[tuple[Formula, Span], ...] = ()
    symbols: dict[int, Symbol] = field(default_factory=dict)
    accesses: list[Access] = field(default_factory=list)
    is_probing: bool = False

    @property
    def terms(self) -> Terms:
        return self.launch.terms

    # ---- operands ---------------------------------------------------------------------------------------------------

    def of(self, operand: Operand) -> Symbol:
        """What an operand is."""
        match operand:
            case Value():
                return self.symbols.get(operand.id)
            case Literal():
                if type(operand.value) is bool:
                    return Flag(TRUE if operand.value else FALSE)
                return Number(constant(operand.value)) if isinstance(operand.value, int) else None
            case Constant():
                number = self.launch.constant(operand)
                return Flag(AtLeast(minus(number, ONE))) if operand.type.element == BOOL else Number(number)
            case _:
                assert_never(operand)

    def number(self, operand: Operand | None) -> Polynomial | None:
        """The polynomial of an integer operand."""
        symbol = self.of(operand) if operand is not None else None
        return symbol.polynomial if isinstance(symbol, Number) else None

    def flag(self, operand: Operand | None) -> Formula | None:
        """The condition of a bool operand."""
        symbol = self.of(operand) if operand is not None else None
        return symbol.formula if isinstance(symbol, Flag) else None

    def unknown(self, value: Value, why: str = "", span: Span | None = None, *, wraps: bool = False) -> Symbol:
        """A value of which only its type, or its range, is known."""
        element = value.type.element if isinstance(value.type, TensorType) else None
        if not isinstance(element, DType) or (element != BOOL and not is_integer(element)):
            return None
        whole = (0, 1) if element == BOOL else of_type(element)
        if value.id in self.exact and not wraps:
            whole = self.ranges.get(value.id, FULL)
        elif not wraps:
            whole = self.ranges.get(value.id, whole)
        found = self.numbers.unknown(value.id, "value", value.name or why, whole, positions_of(value))
        if span is not None:
            ((number, _),) = next(iter(found))
            self.terms.sources.setdefault(number, Source(why, span, wraps))
        return Flag(AtLeast(minus(found, ONE))) if element == BOOL else Number(found)

    @property
    def here(self) -> Known:
        """What holds here, with what is presumed everywhere."""
        return self.known.with_formula(*map(AtLeast, self.numbers.presumed.values()))

    def fits(self, polynomial: Polynomial, within: Interval) -> bool:
        """Whether an integer certainly lies in an interval."""
        low, high = self.terms.range_of(polynomial)
        if within[0] <= low and high <= within[1]:
            return True
        prover = Prover(self.terms, self.here, splits=1)
        return all(
            prover.proves(goal)
            for goal in (minus(polynomial, constant(within[0])), minus(constant(within[1]), polynomial))
        )

    # ---- statements -------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> bool:
        """Goes through statements; whether programs get to the end of them."""
        return all(self.statement(statement) for statement in block.statements)

    def statement(self, statement: Statement) -> bool:
        match statement:
            case Let():
                self.let(statement)
                return True
            case If():
                return self.branch(statement)
            case For():
                run_loop(self, statement)
                return True
            case While():
                run_loop(self, statement)
                return True
            case Return():
                return False
            case _:
                assert_never(statement)

    def branch(self, statement: If) -> bool:
        """Both branches, each under its condition; what follows is under that of the branch that programs leave."""
        condition = self.flag(statement.condition)
        assert condition is not None, "a condition is a flag"
        before = self.known, self.assumed
        ends = []
        for block, holds in ((statement.then, condition), (statement.otherwise, negated(condition))):
            self.known, self.assumed = before[0].with_formula(holds), before[1]
            goes_on = self.block(block)
            ends.append((tuple(map(self.of, block.yields)), self.known, self.assumed) if goes_on else None)
        self.known, self.assumed = before
        left, right = ends
        if left is None and right is None:
            return False
        if left is None or right is None:
            only = left or right
            assert only is not None, "one branch goes on"
            yields, self.known, self.assumed = only
            self.symbols.update((v.id, s) for v, s in zip(statement.results, yields, strict=True))
            return True
        for value, one, two in zip(statement.results, left[0], right[0], strict=True):
            self.symbols[value.id] = self.merged(value, condition, one, two, statement.span)
        return True

    def merged(self, value: Value, condition: Formula, one: Symbol, two: Symbol, span: Span) -> Symbol:
        """What a value is that two branches give."""
        if one == two or self.is_certain(condition):
            return one
        if self.is_certain(negated(condition)):
            return two
        key, name = ("branch", value.id), value.name or "the branch"
        match one, two:
            case Number(), Number():
                return Number(self.numbers.chosen(condition, one.polynomial, two.polynomial, key, name))
            case Flag(), Flag():
                return Flag(Some((All((condition, one.formula)), All((negated(condition), two.formula)))))
            case Address(), Address() if one.root == two.root:
                offset = self.numbers.chosen(condition, one.offset, two.offset, key, name)
                return Address(one.root, offset, one.steps | two.steps)
            case _:
                return self.unknown(value, "what the branch gives", span)

    def is_certain(self, condition: Formula) -> bool:
        """Whether inequalities hold here whatever the arguments are; of other conditions that is not asked."""
        parts = condition.parts if isinstance(condition, All) else (condition,)
        prover = Prover(self.terms, self.here, splits=0)
        return all(isinstance(part, AtLeast) and prover.proves(part.polynomial) for part in parts)

    # ---- operations -------------------------------------------------------------------------------------------------

    def let(self, let: Let) -> None:
        operation = let.operation
        if isinstance(operation, Apply):
            self.call(let, operation.function)
        if isinstance(operation, Call):
            effects = TABLE[operation.intrinsic].effects
            if effects & {Effect.READS, Effect.WRITES, Effect.ATOMIC}:
                self.access(let, operation, effects)
            elif operation.intrinsic in ("static_assert", "assume", "device_assert"):
                self.stated(operation, let.span)
        for value, symbol in zip(let.results, operation_of(self, let), strict=True):
            self.symbols[value.id] = symbol

    def stated(self, call: Call, span: Span) -> None:
        """What follows a statement of the author: of a `static_assert` it is checked when the kernel is compiled."""
        condition = self.flag(call.operand("cond"))
        if condition is None:
            return
        if call.intrinsic == "static_assert":
            self.known = self.known.with_formula(condition)
        else:
            self.assumed = (*self.assumed, (condition, span))

    def call(self, let: Let, function: str) -> None:
        """A call that is not written out, of which nothing is known."""
        if self.is_probing:
            return
        self.accesses.append(
            Access(
                kind=function,
                span=let.span,
                address=None,
                known=self.known,
                assumed=self.assumed,
                is_read=True,
                is_write=True,
                is_atomic=False,
            )
        )

    def access(self, let: Let, call: Call, effects: Iterable[Effect]) -> None:
        if self.is_probing:
            return
        pointer = self.of(call.operand("pointer") or Literal(0.0, _NOTHING))
        mask = self.flag(call.operand("mask"))
        is_atomic = Effect.ATOMIC in effects
        self.accesses.append(
            Access(
                kind=call.intrinsic,
                span=let.span,
                address=pointer if isinstance(pointer, Address) else None,
                known=self.known if mask is None else self.known.with_formula(mask),
                assumed=self.assumed,
                is_read=Effect.READS in effects or is_atomic,
                is_write=Effect.WRITES in effects or is_atomic,
                is_atomic=is_atomic,
            )
        )

    def holds(self, value: Value, polynomial: Polynomial) -> bool:
        """Whether a value of the kernel certainly is the exact number: it is computed so, or lies in its type."""
        element = value.type.element if isinstance(value.type, TensorType) else None
        if not isinstance(element, DType):
            return False
        is_wide = element.bits == 64 and element.minimum < 0
        return value.id in self.exact or is_wide or self.fits(polynomial, of_type(element))


_NOTHING = TensorType(Pointer(BOOL))


def run(machine: Machine, body: Block) -> None:
    """Goes through the body of a kernel."""
    for parameter in machine.launch.kernel.parameters:
        value = parameter.value
        type = value.type
        if isinstance(type, TensorType) and isinstance(type.element, Pointer):
            machine.symbols[value.id] = Address(value, ZERO)
        elif (number := machine.launch.numbers.get(value.name)) is not None:
            is_flag = isinstance(type, TensorType) and type.element == BOOL
            machine.symbols[value.id] = Flag(AtLeast(minus(number, ONE))) if is_flag else Number(number)
    machine.block(body)
