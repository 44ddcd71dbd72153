"""Extrema and flags in other words: a loop goes in; choices by comparison come out as extrema, choices of a flag as
operations on flags."""

from __future__ import annotations

from collections.abc import Iterator

from teenyc.ir.nodes import Binary, Call, Compare, Copy, For, Let, Literal, Operand, Operation, Unary, Value
from teenyc.ir.walk import is_same
from teenyc.record import record, replace
from teenyc.tiling.state import element_of
from teenyc.types import BOOL

_ASCENDING = frozenset({"gt", "ge"})
_DESCENDING = frozenset({"lt", "le"})


@record
class Ordered:
    """The loop, and the choices in it that are under conditions beside the comparison, by id."""

    loop: For
    choices: frozenset[int]


def ordered(loop: For, ids: Iterator[int]) -> Ordered:
    """The loop with `where(x > c, x, c)` of a carried `c` as an extremum; `where(x, true, c)` as `c | x`."""
    rewriting = _Ordering(loop, ids)
    statements = tuple(
        made
        for statement in loop.body.statements
        for made in (rewriting.rewritten(statement) if isinstance(statement, Let) else (statement,))
    )
    if is_same(statements, loop.body.statements):
        return Ordered(loop, frozenset())
    return Ordered(replace(loop, body=replace(loop.body, statements=statements)), frozenset(rewriting.choices))


class _Ordering:
    def __init__(self, loop: For, ids: Iterator[int]) -> None:
        self.lets: dict[int, Let] = {}
        self.carried = frozenset(c.inside.id for c in loop.carried)
        self.ids = ids
        self.choices: set[int] = set()

    def rewritten(self, let: Let) -> tuple[Let, ...]:
        made = self.made(let)
        self.lets.update((value.id, each) for each in made for value in each.results)
        return made

    def made(self, let: Let) -> tuple[Let, ...]:
        match let.operation:
            case Call(intrinsic="where", operands=((_, condition), (_, taken), (_, other))):
                taken, other = self.plain(taken), self.plain(other)
                if taken == other or not any(isinstance(o, Value) and o.id in self.carried for o in (taken, other)):
                    return (let,)
                if element_of(taken) == BOOL:
                    return self.flag(let, condition, taken, other)
                return self.extremum(let, condition, taken, other)
        return (let,)

    def extremum(self, let: Let, condition: Operand, taken: Operand, other: Operand) -> tuple[Let, ...]:
        """The greater or the less of two, and where that has a condition of its own, a choice between it and none."""
        for compare, rest in self.conjuncts(condition):
            name = _extremum(compare, self.plain(compare.left), self.plain(compare.right), taken, other)
            if name is None:
                continue
            call = Call(intrinsic=name, operands=(("x", other), ("y", taken)))
            if rest is None:
                return (replace(let, operation=call),)
            if not isinstance(other, Value) or other.id not in self.carried:
                continue
            (result,) = let.results
            value = replace(result, id=next(self.ids), name="")
            self.choices.add(result.id)
            choice = Call(intrinsic="where", operands=(("condition", rest), ("x", value), ("y", other)))
            return (Let(results=(value,), operation=call, span=let.span), replace(let, operation=choice))
        return (let,)

    def conjuncts(self, condition: Operand) -> Iterator[tuple[Compare, Operand | None]]:
        """The comparisons in a conjunction of two at most, each with the other condition."""
        operation = self.operation(condition)
        if isinstance(operation, Binary) and operation.operator == "and":
            for one, rest in ((operation.left, operation.right), (operation.right, operation.left)):
                compare = self.operation(one)
                if isinstance(compare, Compare):
                    yield compare, rest
        elif isinstance(operation, Compare):
            yield operation, None

    def flag(self, let: Let, condition: Operand, taken: Operand, other: Operand) -> tuple[Let, ...]:
        """A flag that is set, or taken away, under a condition."""
        constant, carried = (taken, other) if isinstance(taken, Literal) else (other, taken)
        if not isinstance(constant, Literal):
            return (let,)
        (result,) = let.results
        is_or, before, flags = bool(constant.value), list[Let](), condition
        if is_or != (constant is taken):
            flags = replace(result, id=next(self.ids), type=condition.type, name="")
            negated = Unary(operator="not", operand=condition)
            before.append(Let(results=(flags,), operation=negated, span=let.span))
        joined = Binary(operator="or" if is_or else "and", left=carried, right=flags)
        return (*before, replace(let, operation=joined))

    def operation(self, operand: Operand) -> Operation | None:
        plain = self.plain(operand)
        let = self.lets.get(plain.id) if isinstance(plain, Value) else None
        return let.operation if let is not None else None

    def plain(self, operand: Operand) -> Operand:
        """What an operand is another name of."""
        while isinstance(operand, Value) and operand.id in self.lets:
            operation = self.lets[operand.id].operation
            if not isinstance(operation, Copy):
                break
            operand = operation.operand
        return operand


def _extremum(compare: Compare, left: Operand, right: Operand, taken: Operand, other: Operand) -> str | None:
    """Which extremum is taken where a comparison of the two decides."""
    if {left, right} != {taken, other} or compare.operator not in _ASCENDING | _DESCENDING:
        return None
    is_greater = (compare.operator in _ASCENDING) == (left == taken)
    return "maximum" if is_greater else "minimum"
