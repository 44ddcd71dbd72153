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
from teenyc.ir.walk import definitions, statements_of
from teenyc.record import field, state
from teenyc.safety.formulas import FALSE, TRUE, All, AtLeast, Formula, Some, below, equal, negated
from teenyc.safety.launch import Launch
from teenyc.safety.numbers import ITSELF, Numbers
from teenyc.safety.operations import operation_of
from teenyc.safety.prover import Known, Prover
from teenyc.safety.symbols import Access, Address, Flag, Number, Symbol, positions_of
from teenyc.safety.terms import ONE, ZERO, Source, Terms, constant, known_number, minus, plus, times
from teenyc.source import Span
from teenyc.types import BOOL, DType, Pointer, TensorType, is_integer

WIDE: Interval = (-(1 << 63), (1 << 63) - 1)

ROUNDS: Interval = (0, 1 << 42)
"""How often a `while` goes round: a loop that did so more often would not end in a year."""


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
                self.loop(statement)
                return True
            case While():
                self.loop(statement)
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

    # ---- loops ------------------------------------------------------------------------------------------------------

    def loop(self, loop: For | While) -> None:
        """The body of a loop, for any iteration."""
        before, assumed = self.known, self.assumed
        initials = [self.of(c.initial) for c in loop.carried]
        inside = frozenset(v.id for _, s in statements_of(loop.body) for v in definitions(s))
        inside |= {v.id for v in definitions(loop)}
        if isinstance(loop, While):
            inside |= {v.id for _, s in statements_of(loop.condition) for v in definitions(s)}
        index = self.index(loop)
        steps = self.probed(loop, initials, inside, before) if loop.carried else []
        self.known, self.assumed = before, assumed
        for carried, initial, step in zip(loop.carried, initials, steps, strict=True):
            self.symbols[carried.inside.id] = self.after(carried.inside, initial, step, index, loop.span)
        self.iteration(loop)
        self.known, self.assumed = before, assumed
        count = self.count(loop) if steps else ZERO
        for carried, initial, step in zip(loop.carried, initials, steps, strict=True):
            self.symbols[carried.result.id] = self.after(carried.result, initial, step, count, loop.span)

    def iteration(self, loop: For | While) -> None:
        """One iteration, with what holds in it."""
        if isinstance(loop, For):
            counter = self.number(loop.counter)
            for number, positions in sorted({a for factors in counter or {} for a in factors}):
                self.known = self.known.with_atom((number, positions))
        else:
            self.block(loop.condition)
            condition = self.flag(loop.condition.yields[0])
            if condition is not None:
                self.known = self.known.with_formula(condition)
        self.block(loop.body)

    def probed(
        self, loop: For | While, initials: list[Symbol], inside: frozenset[int], before: Known
    ) -> list[Polynomial | None]:
        """What each iteration adds to each carried value; None where that is not the same in all."""
        was_probing, self.is_probing = self.is_probing, True
        starts: list[Symbol] = []
        for carried, initial in zip(loop.carried, initials, strict=True):
            value = carried.inside
            moved = self.numbers.unknown(value.id, "moved", value.name, FULL, positions_of(value))
            start = _moved_on(initial, moved)
            starts.append(start)
            self.symbols[value.id] = start if start is not None else self.unknown(value)
        self.iteration(loop)
        self.is_probing, self.known = was_probing, before
        following = [self.of(operand) for operand in loop.body.yields]
        return [self.step(a, b, inside) for a, b in zip(starts, following, strict=True)]

    def step(self, start: Symbol, following: Symbol, inside: frozenset[int]) -> Polynomial | None:
        match start, following:
            case Number(), Number():
                change = minus(following.polynomial, start.polynomial)
            case Address(), Address() if start.root == following.root:
                change = minus(following.offset, start.offset)
            case _:
                return None
        return None if self.terms.depends_on(change) & inside else change

    def after(
        self, value: Value, initial: Symbol, step: Polynomial | None, count: Polynomial | None, span: Span
    ) -> Symbol:
        """What a carried value is after so many iterations."""
        way = times(step, count) if step is not None and count is not None else None
        found = _moved_on(initial, way) if way is not None else None
        if isinstance(found, Number) and not self.holds(value, found.polynomial):
            found = None
        return found if found is not None else self.unknown(value, "what the loop carries", span)

    def index(self, loop: For | While) -> Polynomial | None:
        """How many iterations were before; a `for` also gets its counter."""
        if isinstance(loop, While):
            key = loop.carried[0].inside.id if loop.carried else 0
            return self.numbers.unknown(key, "iteration", "iteration", ROUNDS) if key else None
        counter = loop.counter
        start, stop, step = self.bounds(loop)
        if start is None or stop is None or step is None:
            self.symbols[counter.id] = self.unknown(counter, "the counter of the loop", loop.span)
            return None
        last = stop if loop.inclusive else minus(stop, ONE)
        if known_number(step) == 1:
            facts = (AtLeast(minus(ITSELF, start)), AtLeast(minus(last, ITSELF)))
            within = self.terms.range_of(start)[0], self.terms.range_of(last)[1]
            found = self.made(loop, "counter", counter.name, within, (start, stop), facts)
            self.symbols[counter.id] = Number(found)
            return minus(found, start)
        way = times(step, ITSELF)
        assert way is not None, "a step is a small polynomial"
        facts = (AtLeast(ITSELF), AtLeast(minus(last, plus(start, way))))
        index = self.made(
            loop, "index", f"{counter.name} counted", (0, self.trips(start, last)), (start, stop, step), facts
        )
        way = times(step, index)
        self.symbols[counter.id] = self.unknown(counter) if way is None else Number(plus(start, way))
        return index

    def trips(self, start: Polynomial, last: Polynomial) -> int:
        """A number that iterations are not more than."""
        return min(max(self.terms.range_of(minus(last, start))[1], 0), WIDE[1])

    def bounds(self, loop: For) -> tuple[Polynomial | None, Polynomial | None, Polynomial | None]:
        """Start, stop and step of a loop that counts up, in numbers that its counter can hold; None each elsewhere."""
        start, stop, step = (self.number(o) for o in (loop.start, loop.stop, loop.step))
        if start is None or stop is None or step is None or not self.fits(minus(step, ONE), (0, WIDE[1])):
            return None, None, None
        element = loop.counter.type.element if isinstance(loop.counter.type, TensorType) else None
        is_exact = loop.counter.id in self.exact or not isinstance(element, DType)
        within = WIDE if is_exact or not isinstance(element, DType) else of_type(element)
        return (start, stop, step) if self.fits(start, within) and self.fits(stop, within) else (None, None, None)

    def made(
        self,
        loop: For,
        what: str,
        name: str,
        known: Interval,
        parts: tuple[Polynomial, ...],
        facts: tuple[Formula, ...],
    ) -> Polynomial:
        """An atom of a loop."""
        found = self.numbers.made((what, loop.counter.id), name, known, parts, facts)
        ((number, _),) = next(iter(found))
        self.terms.depends[number] |= {loop.counter.id}
        return found

    def count(self, loop: For | While) -> Polynomial | None:
        """How many iterations there are in all."""
        if isinstance(loop, While):
            return self.numbers.unknown(loop.carried[0].result.id, "iterations", "iterations", ROUNDS)
        start, stop, step = self.bounds(loop)
        if start is None or stop is None or step is None:
            return None
        way = minus(plus(stop, ONE) if loop.inclusive else stop, start)
        if known_number(step) == 1:
            return self.numbers.most(way, ZERO, self.known)
        all_steps = times(step, ITSELF)
        assert all_steps is not None, "a step is a small polynomial"
        none = All((equal(ITSELF, ZERO), AtLeast(minus(ZERO, way))))
        some = All((below(minus(all_steps, step), way), AtLeast(minus(all_steps, way)), AtLeast(minus(ITSELF, ONE))))
        return self.made(
            loop, "count", "iterations", (0, WIDE[1]), (start, stop, step), (AtLeast(ITSELF), Some((none, some)))
        )

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


def _moved_on(symbol: Symbol, way: Polynomial) -> Symbol:
    """A number or an address so much further on."""
    match symbol:
        case Number(polynomial=p):
            return Number(plus(p, way))
        case Address(root=root, offset=offset, steps=steps):
            return Address(root, plus(offset, way), steps)
        case Flag() | None:
            return None


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
