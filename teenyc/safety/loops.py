"""Loops on symbols: a loop goes in; its body is gone through for any iteration, and what it carries comes out.

What each iteration adds to a carried value is seen by going through the body once with nothing recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.ir.intervals import FULL, Interval, of_type
from teenyc.ir.nodes import For, Value, While
from teenyc.ir.polynomials import Polynomial
from teenyc.ir.walk import definitions, statements_of
from teenyc.safety.formulas import All, AtLeast, Formula, Some, below, equal
from teenyc.safety.numbers import ITSELF
from teenyc.safety.prover import Known
from teenyc.safety.symbols import WIDE, Address, Flag, Number, Symbol, positions_of
from teenyc.safety.terms import ONE, ZERO, known_number, minus, plus, times
from teenyc.source import Span
from teenyc.types import DType, TensorType

if TYPE_CHECKING:
    from teenyc.safety.machine import Machine

ROUNDS: Interval = (0, 1 << 42)
"""How often a `while` goes round: a loop that did so more often would not end in a year."""


def run_loop(machine: Machine, loop: For | While) -> None:
    """The body of a loop, for any iteration."""
    before, assumed = machine.known, machine.assumed
    initials = [machine.of(c.initial) for c in loop.carried]
    inside = frozenset(v.id for _, s in statements_of(loop.body) for v in definitions(s))
    inside |= {v.id for v in definitions(loop)}
    if isinstance(loop, While):
        inside |= {v.id for _, s in statements_of(loop.condition) for v in definitions(s)}
    index = _index(machine, loop)
    steps = _probed(machine, loop, initials, inside, before) if loop.carried else []
    machine.known, machine.assumed = before, assumed
    for carried, initial, step in zip(loop.carried, initials, steps, strict=True):
        machine.symbols[carried.inside.id] = _after(machine, carried.inside, initial, step, index, loop.span)
    _iteration(machine, loop)
    machine.known, machine.assumed = before, assumed
    count = _count(machine, loop) if steps else ZERO
    for carried, initial, step in zip(loop.carried, initials, steps, strict=True):
        machine.symbols[carried.result.id] = _after(machine, carried.result, initial, step, count, loop.span)


def _iteration(machine: Machine, loop: For | While) -> None:
    """One iteration, with what holds in it."""
    if isinstance(loop, For):
        counter = machine.number(loop.counter)
        for number, positions in sorted({a for factors in counter or {} for a in factors}):
            machine.known = machine.known.with_atom((number, positions))
    else:
        machine.block(loop.condition)
        condition = machine.flag(loop.condition.yields[0])
        if condition is not None:
            machine.known = machine.known.with_formula(condition)
    machine.block(loop.body)


def _probed(
    machine: Machine, loop: For | While, initials: list[Symbol], inside: frozenset[int], before: Known
) -> list[Polynomial | None]:
    """What each iteration adds to each carried value; None where that is not the same in all."""
    was_probing, machine.is_probing = machine.is_probing, True
    starts: list[Symbol] = []
    for carried, initial in zip(loop.carried, initials, strict=True):
        value = carried.inside
        moved = machine.numbers.unknown(value.id, "moved", value.name, FULL, positions_of(value))
        start = _moved_on(initial, moved)
        starts.append(start)
        machine.symbols[value.id] = start if start is not None else machine.unknown(value)
    _iteration(machine, loop)
    machine.is_probing, machine.known = was_probing, before
    following = [machine.of(operand) for operand in loop.body.yields]
    return [_step(machine, a, b, inside) for a, b in zip(starts, following, strict=True)]


def _step(machine: Machine, start: Symbol, following: Symbol, inside: frozenset[int]) -> Polynomial | None:
    match start, following:
        case Number(), Number():
            change = minus(following.polynomial, start.polynomial)
        case Address(), Address() if start.root == following.root:
            change = minus(following.offset, start.offset)
        case _:
            return None
    return None if machine.terms.depends_on(change) & inside else change


def _after(
    machine: Machine, value: Value, initial: Symbol, step: Polynomial | None, count: Polynomial | None, span: Span
) -> Symbol:
    """What a carried value is after so many iterations."""
    way = times(step, count) if step is not None and count is not None else None
    found = _moved_on(initial, way) if way is not None else None
    if isinstance(found, Number) and not machine.holds(value, found.polynomial):
        found = None
    return found if found is not None else machine.unknown(value, "what the loop carries", span)


def _index(machine: Machine, loop: For | While) -> Polynomial | None:
    """How many iterations were before; a `for` also gets its counter."""
    if isinstance(loop, While):
        key = loop.carried[0].inside.id if loop.carried else 0
        return machine.numbers.unknown(key, "iteration", "iteration", ROUNDS) if key else None
    counter = loop.counter
    start, stop, step = _bounds(machine, loop)
    if start is None or stop is None or step is None:
        machine.symbols[counter.id] = machine.unknown(counter, "the counter of the loop", loop.span)
        return None
    last = stop if loop.inclusive else minus(stop, ONE)
    if known_number(step) == 1:
        facts = (AtLeast(minus(ITSELF, start)), AtLeast(minus(last, ITSELF)))
        within = machine.terms.range_of(start)[0], machine.terms.range_of(last)[1]
        found = _made(machine, loop, "counter", counter.name, within, (start, stop), facts)
        machine.symbols[counter.id] = Number(found)
        return minus(found, start)
    way = times(step, ITSELF)
    assert way is not None, "a step is a small polynomial"
    facts = (AtLeast(ITSELF), AtLeast(minus(last, plus(start, way))))
    index = _made(
        machine, loop, "index", f"{counter.name} counted", (0, _trips(machine, start, last)), (start, stop, step), facts
    )
    way = times(step, index)
    machine.symbols[counter.id] = machine.unknown(counter) if way is None else Number(plus(start, way))
    return index


def _trips(machine: Machine, start: Polynomial, last: Polynomial) -> int:
    """A number that iterations are not more than."""
    return min(max(machine.terms.range_of(minus(last, start))[1], 0), WIDE[1])


def _bounds(machine: Machine, loop: For) -> tuple[Polynomial | None, Polynomial | None, Polynomial | None]:
    """Start, stop and step of a loop that counts up, in numbers that its counter can hold; None each elsewhere."""
    start, stop, step = (machine.number(o) for o in (loop.start, loop.stop, loop.step))
    if start is None or stop is None or step is None or not machine.fits(minus(step, ONE), (0, WIDE[1])):
        return None, None, None
    element = loop.counter.type.element if isinstance(loop.counter.type, TensorType) else None
    is_exact = loop.counter.id in machine.exact or not isinstance(element, DType)
    within = WIDE if is_exact or not isinstance(element, DType) else of_type(element)
    return (start, stop, step) if machine.fits(start, within) and machine.fits(stop, within) else (None, None, None)


def _made(
    machine: Machine,
    loop: For,
    what: str,
    name: str,
    known: Interval,
    parts: tuple[Polynomial, ...],
    facts: tuple[Formula, ...],
) -> Polynomial:
    """An atom of a loop."""
    found = machine.numbers.made((what, loop.counter.id), name, known, parts, facts)
    ((number, _),) = next(iter(found))
    machine.terms.depends[number] |= {loop.counter.id}
    return found


def _count(machine: Machine, loop: For | While) -> Polynomial | None:
    """How many iterations there are in all."""
    if isinstance(loop, While):
        return machine.numbers.unknown(loop.carried[0].result.id, "iterations", "iterations", ROUNDS)
    start, stop, step = _bounds(machine, loop)
    if start is None or stop is None or step is None:
        return None
    way = minus(plus(stop, ONE) if loop.inclusive else stop, start)
    if known_number(step) == 1:
        return machine.numbers.most(way, ZERO, machine.known)
    all_steps = times(step, ITSELF)
    assert all_steps is not None, "a step is a small polynomial"
    none = All((equal(ITSELF, ZERO), AtLeast(minus(ZERO, way))))
    some = All((below(minus(all_steps, step), way), AtLeast(minus(all_steps, way)), AtLeast(minus(ITSELF, ONE))))
    return _made(
        machine, loop, "count", "iterations", (0, WIDE[1]), (start, stop, step), (AtLeast(ITSELF), Some((none, some)))
    )


def _moved_on(symbol: Symbol, way: Polynomial) -> Symbol:
    """A number or an address so much further on."""
    match symbol:
        case Number(polynomial=p):
            return Number(plus(p, way))
        case Address(root=root, offset=offset, steps=steps):
            return Address(root, plus(offset, way), steps)
        case Flag() | None:
            return None
