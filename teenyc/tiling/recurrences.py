"""Recurrences: a loop goes in; for each value that it carries, the law by which a block of iterations makes one step.

The laws are those that hold for any order of iterations, up to rounding: sums, products, extrema, operations on bits,
and sums that are brought to the running extremum at each step (the rescaled sum of online softmax: Milakov and
Gimelshein, 2018). They are proven
from the shape of the expressions: no name counts, and neither does what the values mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.counters import counter_name
from teenyc.ir.nodes import Binary, Block, Call, Copy, For, If, Let, Literal, Operand, Statement, Value, While
from teenyc.ir.walk import all_operands, blocks_of, operands_of, results_of, statements_of
from teenyc.record import replace
from teenyc.tiling import refusals
from teenyc.tiling.identities import FOLDS
from teenyc.tiling.plan import Extremum, Fold, Law, Refusal, Sum, Term, Unchanged
from teenyc.tiling.products import terms_of

EXPONENTIALS = ("exp", "exp2")
EXTREMA = ("maximum", "minimum")


def laws_of(loop: For) -> tuple[Law, ...] | Refusal:
    """A law for each carried value, in order, or the reason why there is none for one of them."""
    effect = _effect(loop.body)
    if effect is not None:
        return effect
    reading = Reading.of(loop)
    running = reading.stored()
    if running is not None:
        return running
    extrema = {n: found for n in range(len(loop.carried)) if (found := reading.extremum(n)) is not None}
    laws: list[Law] = []
    for n in range(len(loop.carried)):
        law: Law | None = extrema.get(n) or reading.unchanged(n) or reading.fold(n) or reading.sum(n, extrema)
        if law is None:
            from teenyc.tiling.broken import why

            return why(reading, n, extrema)
        laws.append(law)
    return tuple(laws)


def _effect(body: Block) -> Refusal | None:
    """What in the body must happen iteration by iteration."""
    for statement in body.statements:
        match statement:
            case Let(operation=Call(intrinsic=name)) if name != "store" and TABLE[name].effects - {Effect.READS}:
                return refusals.effect_in_loop(name, statement.span)
            case For():
                return refusals.loop_inside(counter_name(statement), statement.span)
            case While():
                return refusals.loop_inside("", statement.span)
            case If():
                inner = next((e for block in blocks_of(statement) if (e := _effect(block)) is not None), None)
                if inner is not None:
                    return inner
    return None


class Reading:
    """The body of a loop: its definitions, and on which carried values each depends."""

    def __init__(self, loop: For, lets: Mapping[int, Let], depends: Mapping[int, frozenset[int]]) -> None:
        self.loop, self.lets, self.depends = loop, lets, depends

    @staticmethod
    def of(loop: For) -> Reading:
        depends = {c.inside.id: frozenset({n}) for n, c in enumerate(loop.carried)}
        lets: dict[int, Let] = {}
        for statement in loop.body.statements:
            on = frozenset[int]().union(*(_of(depends, o) for o in _read(statement)))
            for result in results_of(statement):
                depends[result.id] = on
                if isinstance(statement, Let):
                    lets[result.id] = statement
        return Reading(loop, lets, depends)

    def on(self, operand: Operand) -> frozenset[int]:
        return _of(self.depends, operand)

    def stored(self) -> Refusal | None:
        """A refusal where what a store writes, or where, depends on what the loop carries: on the iterations before."""
        for statement in self.loop.body.statements:
            inside = (s for block in blocks_of(statement) for _, s in statements_of(block))
            if not any(map(_stores, (statement, *inside))):
                continue
            on = frozenset[int]().union(*(self.on(o) for o in _read(statement)))
            if on:
                names = [c.inside.name for n, c in enumerate(self.loop.carried) if n in on and c.inside.name]
                made = " and ".join(f"`{name}`" for name in dict.fromkeys(names)) or "what the loop carries"
                reason = f"what is stored in the loop depends on {made}, which each iteration changes"
                return Refusal(reason, statement.span, "store it behind the loop, or compute it from the counter alone")
        return None

    def unchanged(self, n: int) -> Unchanged | None:
        return Unchanged() if self.plain(self.loop.body.yields[n]) == self.loop.carried[n].inside else None

    def plain(self, operand: Operand) -> Operand:
        """What an operand is another name of."""
        while isinstance(operand, Value) and operand.id in self.lets:
            operation = self.lets[operand.id].operation
            if not isinstance(operation, Copy):
                break
            operand = operation.operand
        return operand

    def call(self, operand: Operand, names: tuple[str, ...]) -> Call | None:
        """The call of one of some intrinsics that an operand is the result of."""
        operand = self.plain(operand)
        let = self.lets.get(operand.id) if isinstance(operand, Value) else None
        operation = let.operation if let is not None else None
        return operation if isinstance(operation, Call) and operation.intrinsic in names else None

    # ---- laws -------------------------------------------------------------------------------------------------------

    def extremum(self, n: int) -> Extremum | None:
        call = self.call(self.loop.body.yields[n], EXTREMA)
        if call is None:
            return None
        inside = self.loop.carried[n].inside
        sides = [self.plain(o) for _, o in call.operands]
        for own, other in (sides, sides[::-1]):
            if own == inside and not self.on(other):
                return Extremum(call.intrinsic, other, call.attribute("propagate_nan") == "all")
        return None

    def fold(self, n: int) -> Fold | None:
        """An operator whose order is free, between the carried value and what depends on none."""
        inside, following = self.loop.carried[n].inside, self.plain(self.loop.body.yields[n])
        let = self.lets.get(following.id) if isinstance(following, Value) else None
        if let is None or not isinstance(let.operation, Binary) or let.operation.operator not in FOLDS:
            return None
        joined = self.joined(following, let.operation.operator)
        others = tuple(o for o in joined if o != inside)
        if len(joined) - len(others) != 1 or any(self.on(o) for o in others):
            return None
        return Fold(let.operation.operator, others)

    def joined(self, operand: Operand, operator: str) -> list[Operand]:
        """What an operator joins to a value that depends on what is carried."""
        plain = self.plain(operand)
        let = self.lets.get(plain.id) if isinstance(plain, Value) and self.on(plain) else None
        if let is None or not isinstance(let.operation, Binary) or let.operation.operator != operator:
            return [plain]
        return [*self.joined(let.operation.left, operator), *self.joined(let.operation.right, operator)]

    def sum(self, n: int, extrema: Mapping[int, Extremum]) -> Sum | None:
        inside = self.loop.carried[n].inside
        terms = terms_of(self.loop.body.yields[n], self.lets, lambda value: bool(self.on(value)))
        terms = tuple(map(self.named, terms))
        kept = [t for t in terms if inside in t.factors]
        added = tuple(t for t in terms if inside not in t.factors)
        if len(kept) != 1 or kept[0].is_negative or kept[0].operands.count(inside) != 1:
            return None
        if kept[0].divisors or kept[0].conditions:
            return None
        coefficient = [f for f in kept[0].factors if f != inside]
        if not coefficient:
            is_plain = all(not self.on(o) for t in added for o in t.operands)
            return Sum(added, kept[0]) if is_plain else None
        if len(coefficient) != 1:
            return None
        for m in extrema:
            scale = self.rescaling(coefficient[0], m)
            if scale is not None and all(self.is_rescaled(t, m, scale) for t in added):
                return Sum(added, kept[0], extremum=m)
        return None

    def rescaling(self, coefficient: Operand, m: int) -> tuple[str, frozenset[Term]] | None:
        """`f` and `a` where an operand is `f(a (m - m'))`, with `m'` the next value of carried value `m`."""
        exponent = self.exponent(coefficient)
        if exponent is None:
            return None
        inside, new = self.loop.carried[m].inside, self.plain(self.loop.body.yields[m])
        old_part = {_without(t, inside) for t in exponent[1] if inside in t.factors}
        new_part = {_without(t, new) for t in exponent[1] if new in t.factors}
        if len(exponent[1]) != 2 * len(old_part) or old_part != {
            replace(t, is_negative=not t.is_negative) for t in new_part
        }:
            return None
        is_free = all(not self.on(o) for t in old_part for o in t.operands)
        return (exponent[0], frozenset(old_part)) if old_part and is_free and self.is_invariant(old_part) else None

    def is_invariant(self, terms: set[Term]) -> bool:
        """Whether a factor is the same in all iterations: it is defined outside of the loop."""
        return all(
            not isinstance(o, Value) or (o.id not in self.lets and o != self.loop.counter)
            for t in terms
            for o in t.operands
        )

    def is_rescaled(self, term: Term, m: int, scale: tuple[str, frozenset[Term]]) -> bool:
        """Whether a term has one factor `f(a (x - m'))`, and nothing else of what the loop carries."""
        carried = [o for o in term.operands if self.on(o)]
        if len(carried) != 1 or carried[0] not in term.factors:
            return False
        exponent = self.exponent(self.counted(carried[0]))
        if exponent is None or exponent[0] != scale[0]:
            return False
        new = self.plain(self.loop.body.yields[m])
        with_new = {_without(t, new) for t in exponent[1] if new in t.factors}
        if with_new != {replace(t, is_negative=not t.is_negative) for t in scale[1]}:
            return False
        others = [o for t in exponent[1] if new not in t.factors for o in t.operands]
        return all(not self.on(o) for o in others)

    def counted(self, operand: Operand) -> Operand:
        """What a factor is where it counts: elsewhere, by a condition of no carried value, it is zero."""
        call = self.call(operand, ("where",))
        if call is None:
            return operand
        (_, condition), (_, value), (_, other) = call.operands
        is_zero = isinstance(other, Literal) and other.value == 0
        return self.counted(value) if is_zero and not self.on(condition) else operand

    def exponent(self, operand: Operand) -> tuple[str, tuple[Term, ...]] | None:
        """The exponential that an operand is, and the terms of its argument."""
        call = self.call(operand, EXPONENTIALS)
        if call is None:
            return None
        ((_, argument),) = call.operands
        stop = {self.plain(y) for y in self.loop.body.yields}
        terms = terms_of(argument, self.lets, lambda value: bool(self.on(value)) and value not in stop)
        if any(t.conditions for t in terms):
            return None
        return call.intrinsic, tuple(map(self.named, terms))

    def named(self, term: Term) -> Term:
        """A term of what its operands are other names of."""
        factors, divisors = (tuple(map(self.plain, o)) for o in (term.factors, term.divisors))
        return replace(term, factors=factors, divisors=divisors)


def _read(statement: Statement) -> Iterator[Operand]:
    """What a statement reads, and what is inside of its blocks."""
    yield from operands_of(statement)
    for block in blocks_of(statement):
        yield from all_operands(block)


def _stores(statement: Statement) -> bool:
    return (
        isinstance(statement, Let)
        and isinstance(statement.operation, Call)
        and statement.operation.intrinsic == "store"
    )


def _without(term: Term, factor: Operand) -> Term:
    rest = list(term.factors)
    rest.remove(factor)
    return replace(term, factors=tuple(sorted(rest, key=str)), divisors=tuple(sorted(term.divisors, key=str)))


def _of(depends: Mapping[int, frozenset[int]], operand: Operand) -> frozenset[int]:
    return depends.get(operand.id, frozenset()) if isinstance(operand, Value) else frozenset()
