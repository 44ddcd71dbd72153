"""Narrowing: a loop goes in whose body is under a condition on its counter; one with narrower bounds comes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.intrinsics import TABLE
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Cast,
    Compare,
    Copy,
    For,
    If,
    Let,
    Literal,
    Operand,
    Operation,
    Statement,
    Unary,
    Value,
)
from teenyc.ir.walk import operands_of, substitute
from teenyc.record import field, replace, state
from teenyc.types import BOOL, I32, I64, TensorType, scalar

_SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
_COUNTED = (scalar(I32), scalar(I64))
"""The types of counters, and of what they are compared with."""


def narrowed(statement: Statement, ids: Iterator[int]) -> tuple[Statement, ...]:
    """A loop over the iterations that a condition leaves, with what stands in front; others as they are."""
    if not isinstance(statement, For) or not isinstance(statement.step, Literal) or statement.step.value != 1:
        return (statement,)
    branch = _branch(statement)
    if branch is None:
        return (statement,)
    state = _Narrowing(statement, ids)
    for let in statement.body.statements[:-1]:
        assert isinstance(let, Let), "only definitions stand in front of the branch"
        state.note(let)
    rest = state.conditions(branch.condition)
    if not state.found:
        return (statement,)
    return state.loop(branch, rest)


def _branch(loop: For) -> If | None:
    """The branch that is all that an iteration does, where it leaves what is carried if it is not taken."""
    *before, last = loop.body.statements or (None,)
    if not isinstance(last, If) or last.otherwise.statements or not all(_is_pure(s) for s in before):
        return None
    unchanged = {r.id: y for r, y in zip(last.results, last.otherwise.yields, strict=False)}
    for carried, following in zip(loop.carried, loop.body.yields, strict=True):
        other = unchanged.get(following.id, following) if isinstance(following, Value) else following
        if other != carried.inside:
            return None
    return last


def _is_pure(statement: Statement | None) -> bool:
    if not isinstance(statement, Let):
        return False
    return not isinstance(statement.operation, Call) or TABLE[statement.operation.intrinsic].is_pure


@state
class _Narrowing:
    """`lets` are the definitions in front of the branch, `moved` those that are the same in all iterations."""

    head: For
    ids: Iterator[int]
    lets: dict[int, Let] = field(default_factory=dict)
    moved: list[Let] = field(default_factory=list)
    varying: set[int] = field(default_factory=set)
    found: list[tuple[str, Operand]] = field(default_factory=list)

    def note(self, let: Let) -> None:
        inner = {self.head.counter.id, *(c.inside.id for c in self.head.carried), *self.varying}
        self.lets.update((v.id, let) for v in let.results)
        if any(isinstance(o, Value) and o.id in inner for o in operands_of(let.operation)):
            self.varying |= {v.id for v in let.results}
        else:
            self.moved.append(let)

    def conditions(self, condition: Operand) -> list[Operand]:
        """Notes what a conjunction says of the counter, and gives the other conditions."""
        let = self.lets.get(condition.id) if isinstance(condition, Value) else None
        match let.operation if let is not None else None:
            case Copy(operand=inner):
                return self.conditions(inner)
            case Binary(operator="and", left=left, right=right):
                return [*self.conditions(left), *self.conditions(right)]
            case Unary(operator="not", operand=inner) if (opposite := self.opposite(inner)) is not None:
                return self.comparison(opposite, condition)
            case Compare() as compare:
                return self.comparison(compare, condition)
        return [condition]

    def opposite(self, condition: Operand) -> Compare | None:
        """The comparison that holds where another of integers does not."""
        let = self.lets.get(condition.id) if isinstance(condition, Value) else None
        if let is None or not isinstance(let.operation, Compare) or let.operation.left.type not in _COUNTED:
            return None
        return replace(let.operation, operator=_OPPOSITE[let.operation.operator])

    def comparison(self, compare: Compare, condition: Operand) -> list[Operand]:
        """Notes what a comparison says of the counter, or gives the condition that it is."""
        left, right, operator = compare.left, compare.right, compare.operator
        if operator in _SWAPPED and left.type in _COUNTED:
            for own, bound, kind in ((left, right, operator), (right, left, _SWAPPED[operator])):
                if self.is_counter(own) and self.is_fixed(bound):
                    self.found.append((kind, bound))
                    return []
        return [condition]

    def is_counter(self, operand: Operand) -> bool:
        """Whether an operand is the counter, as wide as it is or wider."""
        let = self.lets.get(operand.id) if isinstance(operand, Value) else None
        match let.operation if let is not None else None:
            case Copy(operand=inner):
                return self.is_counter(inner)
            case Cast(operand=inner) if operand.type == scalar(I64) and inner.type in (scalar(I32), scalar(I64)):
                return self.is_counter(inner)
        return operand == self.head.counter

    def is_fixed(self, operand: Operand) -> bool:
        inner = {self.head.counter.id, *(c.inside.id for c in self.head.carried), *self.varying}
        return not isinstance(operand, Value) or operand.id not in inner

    def loop(self, branch: If, rest: list[Operand]) -> tuple[Statement, ...]:
        """The loop within its new bounds. What is left of the condition is a branch in it still."""
        head, ids, before = self.head, self.ids, list[Statement](self.moved)
        start = stop = None
        wide = TensorType(I64)

        def let(operation: Operation, type: TensorType = wide) -> Value:
            value = Value(next(ids), type)
            before.append(Let(results=(value,), operation=operation, span=head.span))
            return value

        def widened(operand: Operand) -> Operand:
            if isinstance(operand, Literal):
                return Literal(operand.value, wide)
            return operand if operand.type == wide else let(Cast(operand=operand))

        def chosen(name: str, one: Operand, other: Operand) -> Operand:
            return let(Call(intrinsic=name, operands=(("x", one), ("y", other))))

        first, last, one = widened(head.start), widened(head.stop), Literal(1, wide)
        start, stop = first, last
        for operator, bound in self.found:
            limit = widened(bound)
            if operator in ("le", "gt"):
                limit = let(Binary(operator="add", left=limit, right=one))
            if operator in ("lt", "le"):
                stop = chosen("minimum", stop, limit)
            else:
                start = chosen("maximum", start, limit)
        if start is not first:
            start = chosen("minimum", start, last)
        if stop is not last:
            stop = chosen("maximum", stop, first)
        element = head.counter.type
        assert isinstance(element, TensorType), "counters are integers"
        bounds = [o if element == wide else let(Cast(operand=o), element) for o in (start, stop)]
        given = (head.start if start is first else bounds[0], head.stop if stop is last else bounds[1])
        return (*before, replace(head, start=given[0], stop=given[1], body=self.body(branch, rest)))

    def body(self, branch: If, rest: list[Operand]) -> Block:
        kept: list[Statement] = [let for let in self.lets.values() if let not in self.moved]
        kept = list(dict.fromkeys(kept))
        if not rest:
            results: Mapping[int, Operand] = {r.id: y for r, y in zip(branch.results, branch.then.yields, strict=True)}
            whole = Block(statements=(*kept, *branch.then.statements), yields=self.head.body.yields)
            return substitute(whole, results)
        condition = rest[0]
        for other in rest[1:]:
            both = Value(next(self.ids), TensorType(BOOL))
            operation = Binary(operator="and", left=condition, right=other)
            kept.append(Let(results=(both,), operation=operation, span=branch.span))
            condition = both
        return Block(statements=(*kept, replace(branch, condition=condition)), yields=self.head.body.yields)
