"""Steps under a condition: a loop whose carried values some iterations change goes in; all do in what comes out.

`c' = if C { c + S } else { c }` is `c + if C { S } else { 0 }`, likewise an extremum with the number that never changes
it. A sum that is brought to a running extremum may stand under the condition of that extremum: where it does not hold,
the extremum stays, and what brings the sum to it is 1. So the laws need to know of no conditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from teenyc.ir.axes import Axes, Axis, AxisInfo
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Copy,
    ExpandDims,
    For,
    Let,
    Literal,
    Operand,
    Operation,
    Statement,
    Unary,
    Value,
)
from teenyc.ir.walk import is_same, operands_of, results_of
from teenyc.record import field, replace, state
from teenyc.source import Span
from teenyc.tiling.finite import KEPT
from teenyc.tiling.identities import FOLDS, has_worst, identity_of, worst_of
from teenyc.tiling.plan import Term
from teenyc.tiling.products import terms_of
from teenyc.tiling.state import element_of, shape_of, zero_of
from teenyc.types import BOOL, Element, Shape, TensorType, broadcast, is_float, scalar

EXTREMA = ("maximum", "minimum")

Condition: TypeAlias = "tuple[Operand, bool]"
"""A flag, and whether it holds."""


def unconditional(
    loop: For, infos: Mapping[int, AxisInfo], blocked: Axes, selections: frozenset[int], ids: Iterator[int]
) -> For:
    """The loop with conditions moved from what it carries into what is added; `selections` were branches."""
    state = _Moving(loop, infos, blocked, ids)
    statements = list(loop.body.statements)
    for move in (state.select_extremum, state.select_fold, state.select_sum):  # sums may be brought to extrema
        for statement in tuple(statements):
            if not isinstance(statement, Let):
                state.opaque |= {v.id for v in results_of(statement)}
                continue
            state.note(statement)
            call = statement.operation
            if isinstance(call, Call) and call.intrinsic == "where" and statement.results[0].id in selections:
                move(statement, call, statements)
    if is_same(statements, loop.body.statements):
        return loop
    return replace(loop, body=Block(statements=tuple(statements), yields=loop.body.yields))


@state
class _Moving:
    """The rewriting of one loop.

    `depends` are the carried values in each value, and what is made of them; `extrema` those that some iterations
    leave, with the conditions under which they do not; `opaque` are values that branches give.
    """

    loop: For
    infos: Mapping[int, AxisInfo]
    blocked: Axes
    ids: Iterator[int]
    lets: dict[int, Let] = field(default_factory=dict)
    depends: dict[int, frozenset[int]] = field(default_factory=dict)
    extrema: dict[int, set[Condition]] = field(default_factory=dict)
    opaque: set[int] = field(default_factory=set)
    finite: dict[int, bool] = field(default_factory=dict)

    def note(self, let: Let) -> None:
        on = frozenset[int]().union(*(self.on(o) for o in operands_of(let.operation)))
        for result in let.results:
            self.lets[result.id], self.depends[result.id] = let, on | {result.id} if on else on

    def on(self, operand: Operand) -> frozenset[int]:
        """The carried values, and what is made of them, on which an operand depends."""
        if not isinstance(operand, Value):
            return frozenset()
        is_carried = any(c.inside.id == operand.id for c in self.loop.carried)
        return frozenset({operand.id}) if is_carried else self.depends.get(operand.id, frozenset())

    def plain(self, operand: Operand) -> Operand:
        let = self.lets.get(operand.id) if isinstance(operand, Value) else None
        return self.plain(let.operation.operand) if let is not None and isinstance(let.operation, Copy) else operand

    # ---- extrema ----------------------------------------------------------------------------------------------------

    def select_extremum(self, let: Let, call: Call, statements: list[Statement]) -> None:
        """A selection between a step of an extremum and none, if it is that."""
        condition, taken, other = (self.plain(o) for _, o in call.operands)
        if not self.on(condition) and not self.extremum(let, (condition, True), taken, other, statements):
            self.extremum(let, (condition, False), other, taken, statements)

    def extremum(self, let: Let, under: Condition, taken: Operand, other: Operand, to: list[Statement]) -> bool:
        """A step of an extremum: the condition moves to where the extremum is made, for all that follows from it."""
        step = self.lets.get(taken.id) if isinstance(taken, Value) else None
        operation = step.operation if step is not None else None
        if step is None or not isinstance(taken, Value) or not isinstance(operation, Call):
            return False
        sides = [self.plain(o) for _, o in operation.operands]
        if operation.intrinsic not in EXTREMA or operation.attributes or other not in sides or not self.on(other):
            return False
        added = sides[1 - sides.index(other)]
        if self.on(added) or not has_worst(element_of(taken)):
            return False
        made = _Made(self.ids, let.span)
        worst = Literal(worst_of(element_of(taken), operation.intrinsic), scalar(element_of(taken)))
        masked = made.where(made.flags(under), added, worst)
        new = [*made.lets, replace(step, operation=replace(operation, operands=(("x", other), ("y", masked))))]
        copy = replace(let, operation=Copy(operand=taken))
        at = to.index(step)
        to[at : at + 1] = new
        to[to.index(let)] = copy
        for each in (*new, copy):
            self.note(each)
        self.extrema.setdefault(taken.id, set()).add(under)
        return True

    # ---- folds ------------------------------------------------------------------------------------------------------

    def select_fold(self, let: Let, call: Call, statements: list[Statement]) -> None:
        """A selection between a step of a fold and none: elsewhere its operand is what changes nothing."""
        condition, taken, other = (self.plain(o) for _, o in call.operands)
        if self.on(condition):
            return
        for under, step, none in (((condition, True), taken, other), ((condition, False), other, taken)):
            made = _Made(self.ids, let.span)
            total = self.fold(under, step, none, made) if self.on(none) else None
            if total is not None:
                copy = replace(let, operation=Copy(operand=total))
                at = statements.index(let)
                statements[at : at + 1] = [*made.lets, copy]
                for each in (*made.lets, copy):
                    self.note(each)
                return

    def fold(self, under: Condition, taken: Operand, other: Operand, made: _Made) -> Operand | None:
        """A step of a fold that counts under a condition alone; of a product and `other`, say."""
        step = self.lets.get(taken.id) if isinstance(taken, Value) else None
        operation = step.operation if step is not None else None
        if not isinstance(operation, Binary) or operation.operator not in FOLDS:
            return None
        joined = self.joined(taken, operation.operator)
        added = [o for o in joined if o != other]
        if len(joined) - len(added) != 1 or any(self.on(o) for o in added):
            return None
        total = added[0]
        for operand in added[1:]:
            total = made.binary(operation.operator, total, operand)
        element = element_of(taken)
        masked = made.where(
            made.flags(under), total, Literal(identity_of(element, operation.operator), scalar(element))
        )
        return made.binary(operation.operator, other, masked)

    def joined(self, operand: Operand, operator: str) -> list[Operand]:
        """What an operator joins to something that the loop carries."""
        plain = self.plain(operand)
        let = self.lets.get(plain.id) if isinstance(plain, Value) and self.on(plain) else None
        if let is None or not isinstance(let.operation, Binary) or let.operation.operator != operator:
            return [plain]
        return [*self.joined(let.operation.left, operator), *self.joined(let.operation.right, operator)]

    # ---- sums -------------------------------------------------------------------------------------------------------

    def select_sum(self, let: Let, call: Call, statements: list[Statement]) -> None:
        """A selection between two steps of a sum, or one and none, if it is that."""
        condition, taken, other = (self.plain(o) for _, o in call.operands)
        if self.on(condition) or not self.on(taken) or not self.on(other):
            return
        made = _Made(self.ids, let.span)
        total = self.sum(condition, taken, other, made)
        if total is not None:
            copy = replace(let, operation=Copy(operand=total))
            at = statements.index(let)
            statements[at : at + 1] = [*made.lets, copy]
            for each in (*made.lets, copy):
                self.note(each)

    def sum(self, condition: Operand, taken: Operand, other: Operand, made: _Made) -> Operand | None:
        """The sum of what both sides add, what one alone adds under its condition."""
        first, second = self.terms(taken), self.terms(other)
        common = [t for t in first if t in second]
        ours, theirs = _without(first, common), _without(second, common)
        kept = [t for t in common if self.is_carried(t)]
        if not kept:
            kept = self.rescaled(ours, theirs, (condition, True)) or self.rescaled(theirs, ours, (condition, False))
            common += kept
        if len(kept) != 1 or any(self.is_carried(t) for t in (*ours, *theirs)):
            return None
        total: Operand | None = None
        for terms, under in ((common, None), (ours, (condition, True)), (theirs, (condition, False))):
            flags = made.flags(under) if under is not None and terms else None
            for term in terms:
                product = self.product(term, flags, self.axes(condition), made)
                total = made.added(total, product, term.is_negative)
        return total

    def rescaled(self, ours: list[Term], theirs: list[Term], under: Condition) -> list[Term]:
        """The term that brings a sum to an extremum under the same condition, taken out of one side."""
        if len(theirs) != 1 or len(theirs[0].factors) != 1 or not self.is_carried(theirs[0]) or theirs[0].is_negative:
            return []
        (bare,) = theirs[0].factors
        kept = [t for t in ours if bare in t.factors]
        rest = [f for t in kept for f in t.factors if f != bare]
        if len(kept) != 1 or len(rest) != 1 or len(kept[0].factors) != 2 or kept[0].is_negative:
            return []
        if not any(under in self.extrema.get(id, ()) for id in self.on(rest[0])):
            return []
        ours.remove(kept[0])
        theirs.clear()
        return kept

    def terms(self, operand: Operand) -> list[Term]:
        terms = terms_of(operand, self.lets, self.is_open)
        return [replace(t, factors=tuple(map(self.plain, t.factors))) for t in terms]

    def is_open(self, value: Value) -> bool:
        let = self.lets.get(value.id)
        match let.operation if let is not None else None:
            case None | ExpandDims() | Call(intrinsic="where") | Binary(operator="div"):
                return False
            case Binary(operator="mul") if value.id not in self.infos:  # made here, of factors
                return True
        info = self.infos.get(value.id)
        width = len(info.outer & self.blocked) + sum(map(bool, info.lanes)) if info is not None else 0
        return bool(self.on(value)) or width > 2

    @property
    def carried(self) -> frozenset[int]:
        return frozenset(c.inside.id for c in self.loop.carried)

    def is_carried(self, term: Term) -> bool:
        return any(isinstance(f, Value) and f.id in self.carried for f in term.factors)

    def product(self, term: Term, flags: Operand | None, needed: Axes, made: _Made) -> Operand:
        """A term, zero where flags do not hold: one factor that has all axes of the flags, where the rest is finite.

        A rest that may be no number is chosen with all of the term.
        """
        factors = list(term.factors)
        element = element_of(factors[0])
        zero = Literal(zero_of(element), scalar(element))
        if flags is not None:
            fitting = [n for n, f in enumerate(factors) if needed <= self.axes(f)]
            place = min(fitting, key=lambda n: self.is_finite(factors[n]), default=None)
            rest = [f for n, f in enumerate(factors) if n != place]
            if not all(self.is_finite(f) for f in rest):
                return made.where(flags, made.product(factors), zero)
            if place is None:
                one = Literal(1.0 if is_float(element) else 1, scalar(element))
                factors.insert(0, made.where(flags, one, zero))
            else:
                factors[place] = made.where(flags, factors[place], zero)
        return made.product(factors)

    def axes(self, operand: Operand) -> Axes:
        if not isinstance(operand, Value):
            return frozenset()
        info, let = self.infos.get(operand.id), self.lets.get(operand.id)
        if info is None and let is not None and isinstance(let.operation, Call):  # a choice of a factor, made here
            return frozenset[Axis]().union(*(self.axes(o) for o in operands_of(let.operation)))
        return info.outer if info is not None else frozenset()

    def is_finite(self, operand: Operand) -> bool:
        """Whether a number is finite as long as those are that are loaded, zeros among them."""
        if not isinstance(operand, Value):
            return True
        if operand.id not in self.finite:
            let = self.lets.get(operand.id)
            self.finite[operand.id] = self._is_finite(let) if let is not None else operand.id not in self.opaque
        return self.finite[operand.id]

    def _is_finite(self, let: Let) -> bool:
        match let.operation:
            case Call(intrinsic="load"):
                return True
            case Call(intrinsic=name) if name not in KEPT:
                return False
            case Binary(operator="div" | "rem", right=right) if isinstance(right, Value) and right.id in self.lets:
                return False
            case operation:
                return all(self.is_finite(o) for o in operands_of(operation))


def _without(terms: Sequence[Term], others: Sequence[Term]) -> list[Term]:
    rest = list(terms)
    for term in others:
        if term in rest:
            rest.remove(term)
    return rest


@state
class _Made:
    """New definitions, in order."""

    ids: Iterator[int]
    span: Span
    lets: list[Let] = field(default_factory=list)

    def let(self, operation: Operation, element: Element, shape: Shape) -> Value:
        value = Value(next(self.ids), TensorType(element, shape))
        self.lets.append(Let(results=(value,), operation=operation, span=self.span))
        return value

    def flags(self, under: Condition) -> Operand:
        condition, holds = under
        return condition if holds else self.let(Unary(operator="not", operand=condition), BOOL, shape_of(condition))

    def where(self, condition: Operand, first: Operand, second: Operand) -> Value:
        operands = (("condition", condition), ("x", first), ("y", second))
        shape = broadcast(shape_of(condition), shape_of(first))
        assert shape is not None, "a condition of a branch is one flag"
        return self.let(Call(intrinsic="where", operands=operands), element_of(first), shape)

    def binary(self, operator: str, left: Operand, right: Operand) -> Value:
        shape = broadcast(shape_of(left), shape_of(right))
        assert shape is not None, "factors meet"
        return self.let(Binary(operator=operator, left=left, right=right), element_of(left), shape)

    def product(self, factors: Sequence[Operand]) -> Operand:
        product = factors[0]
        for factor in factors[1:]:
            product = self.binary("mul", product, factor)
        return product

    def added(self, total: Operand | None, term: Operand, is_negative: bool) -> Operand:
        if total is not None:
            return self.binary("sub" if is_negative else "add", total, term)
        if not is_negative:
            return term
        return self.let(Unary(operator="neg", operand=term), element_of(term), shape_of(term))
