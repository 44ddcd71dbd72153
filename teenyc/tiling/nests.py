"""Nests of loops: a kernel goes in; the same with another loop innermost comes out, where all that is carried is handed
from loop to loop. Blocks are taken of innermost loops, so the order decides which.

The order of a nest may be changed if its innermost loop obeys laws: they hold for any order of iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.addresses import accesses
from teenyc.ir.masks import View, masks
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Carried,
    For,
    If,
    Kernel,
    Let,
    Operand,
    Statement,
    Value,
)
from teenyc.ir.polynomials import Factors, Polynomial
from teenyc.ir.walk import map_statements, results_of, statements_of, values_of
from teenyc.record import record, replace
from teenyc.tiling.plan import Refusal, Sum
from teenyc.tiling.products import is_zero
from teenyc.tiling.recurrences import laws_of
from teenyc.types import Extent


@record
class Order:
    """A kernel with the loops of its nests in some order.

    `moved` is the counter of the loop that was moved, if any, and `around` the name of that inside of which it went.
    """

    kernel: Kernel
    moved: int | None = None
    around: str = ""
    is_split: bool = False
    """whether an index of the source is two here"""
    turned: Extent | None = None
    """the divisor of that index, where blocks are of its quotient"""

    @property
    def is_source(self) -> bool:
        """Whether the kernel is as it was written."""
        return self.moved is None and not self.is_split


def orders(kernel: Kernel) -> tuple[Order, ...]:
    """The kernel as it is, and with each outer loop of a nest as its innermost; those that walk over windows last.

    A window is what neighbouring programs read in part together: the taps of a convolution, which are few.
    """
    ids = count(max((v.id for v in values_of(kernel)), default=0) + 1)
    loops = [s for _, s in statements_of(kernel.body) if isinstance(s, For)]
    nests = {id(s): _innermost(s, ids) for s in loops if _inner(s, ids) is not None}
    found = [Order(kernel)]
    for loop in loops:
        if id(loop) in nests:
            around = nests[id(loop)].counter.name
            found.append(Order(_with(kernel, loop, _moved_inside(loop, ids)), loop.counter.id, around))
    if not nests:
        return tuple(found)
    windows = _windows(kernel)
    own = any(inner.counter.id in windows for inner in nests.values())
    return tuple(sorted(found, key=lambda order: own if order.moved is None else order.moved in windows))


def _inner(loop: For, ids: Iterator[int]) -> For | None:
    """The loop that all of an iteration is, beside what is made of the counter; it carries what the outer one does."""
    *before, last = _without_partial_sums(loop).body.statements or (None,)
    if isinstance(last, If):
        last = _sunk(last, ids)
    if not isinstance(last, For) or not all(isinstance(s, Let) and _may_move(s) for s in before):
        return None
    made = {v.id for s in before if isinstance(s, Let) for v in s.results}
    bounds = (last.start, last.stop, last.step)
    if any(isinstance(b, Value) and b.id in {loop.counter.id, *made} for b in bounds):
        return None
    handed = {c.inside.id: n for n, c in enumerate(loop.carried)}
    if len(last.carried) != len(loop.carried) or any(_stores(s) for _, s in statements_of(last.body)):
        return None
    for carried in last.carried:
        n = handed.get(carried.initial.id) if isinstance(carried.initial, Value) else None
        if n is None or loop.body.yields[n] != carried.result:
            return None
    return last


def _without_partial_sums(loop: For) -> For:
    """The loop whose iterations add what an inner loop sums up from 0, with that loop going on from what is carried."""
    statements = loop.body.statements
    place = next((n for n, s in enumerate(statements) if isinstance(s, For)), len(statements))
    inner, behind = statements[place] if place < len(statements) else None, statements[place + 1 :]
    if not isinstance(inner, For) or len({len(behind), len(inner.carried), len(loop.carried)}) != 1:
        return loop
    laws = laws_of(inner)
    if isinstance(laws, Refusal) or not all(isinstance(law, Sum) and law.extremum is None for law in laws):
        return loop
    lets = {v.id: s for s in statements if isinstance(s, Let) for v in s.results}
    added: dict[int, Carried] = {}
    for outer, following in zip(loop.carried, loop.body.yields, strict=True):
        let = lets.get(following.id) if isinstance(following, Value) else None
        if let not in behind or let is None or not isinstance(following, Value):
            return loop
        for n, each in enumerate(inner.carried):
            is_sum = let.operation in (_sum(outer.inside, each.result), _sum(each.result, outer.inside))
            if is_sum and is_zero(each.initial, lets) and each.inside.type == outer.inside.type:
                added[n] = replace(each, initial=outer.inside, result=following)
    if len(added) != len(inner.carried):
        return loop
    whole = replace(inner, carried=tuple(added[n] for n in range(len(inner.carried))))
    return replace(loop, body=replace(loop.body, statements=(*statements[:place], whole)))


def _sum(left: Operand, right: Operand) -> Binary:
    return Binary(operator="add", left=left, right=right)


def _sunk(branch: If, ids: Iterator[int]) -> For | None:
    """The loop around a branch that is a loop or nothing: its iterations do nothing where that is nothing."""
    *before, loop = branch.then.statements or (None,)
    if not isinstance(loop, For) or branch.otherwise.statements:
        return None
    made = {v.id for s in before for v in results_of(s)}
    bounds = (loop.start, loop.stop, loop.step)
    if not all(isinstance(s, Let) and _may_move(s) for s in before) or len(branch.results) != len(loop.carried):
        return None
    if any(isinstance(b, Value) and b.id in made for b in bounds):
        return None
    results: list[Value] = []
    for carried in loop.carried:
        places = [n for n, y in enumerate(branch.then.yields) if y == carried.result]
        if len(places) != 1 or branch.otherwise.yields[places[0]] != carried.initial:
            return None
        results.append(branch.results[places[0]])
    following = tuple(replace(c.inside, id=next(ids)) for c in loop.carried)
    step = replace(
        branch,
        then=Block(statements=(*before, *loop.body.statements), yields=loop.body.yields),
        otherwise=Block(yields=tuple(c.inside for c in loop.carried)),
        results=following,
    )
    carried_on = tuple(replace(c, result=r) for c, r in zip(loop.carried, results, strict=True))
    return replace(loop, carried=carried_on, body=Block(statements=(step,), yields=following))


def _innermost(loop: For, ids: Iterator[int]) -> For:
    inner = _inner(loop, ids)
    return loop if inner is None else _innermost(inner, ids)


def _moved_inside(loop: For, ids: Iterator[int]) -> For:
    """A nest with its outermost loop as the innermost."""
    inner = _inner(loop, ids)
    if inner is None:
        return loop
    places = [next(n for n, c in enumerate(loop.carried) if c.inside == each.initial) for each in inner.carried]
    before = _without_partial_sums(loop).body.statements[:-1]
    body = Block(statements=(*before, *inner.body.statements), yields=inner.body.yields)
    moved = _moved_inside(replace(loop, carried=inner.carried, body=body), ids)
    carried = tuple(loop.carried[n] for n in places)
    ends = Block(statements=(moved,), yields=tuple(c.result for c in moved.carried))
    return replace(inner, carried=carried, body=ends, comments=loop.comments)


def _with(kernel: Kernel, old: For, new: For) -> Kernel:
    def replaced(statement: Statement) -> tuple[Statement, ...]:
        return (new,) if statement is old else (statement,)

    return replace(kernel, body=map_statements(kernel.body, replaced))


def _may_move(let: Let) -> bool:
    """Whether a definition may be made once more in each iteration of another loop."""
    return not isinstance(let.operation, Call) or TABLE[let.operation.intrinsic].effects <= {Effect.READS}


def _stores(statement: Statement) -> bool:
    return isinstance(statement, Let) and not _may_move(statement)


# ---- windows --------------------------------------------------------------------------------------------------------


def _windows(kernel: Kernel) -> frozenset[int]:
    """The counters that addresses add to the index of a program, both times the same stride."""
    views = masks(kernel)
    counters = {views.view(s.counter): s.counter.id for _, s in statements_of(kernel.body) if isinstance(s, For)}
    indices = {views.view(v) for v in _indices(kernel)}
    found: set[int] = set()
    for access in accesses(kernel, views):
        for offset in access.offsets:
            strides = {view: _strides(offset, view) for view in (*counters, *indices)}
            moved = frozenset[Factors]().union(*(strides[view] for view in indices))
            found |= {id for view, id in counters.items() if strides[view] & moved}
    return frozenset(found)


def _strides(offset: Polynomial, view: View) -> frozenset[Factors]:
    """What an index is multiplied with in an address."""
    found = ((factors, c) for factors, c in offset.items() if factors.count(view) == 1)
    return frozenset((*(f for f in factors if f != view), (c, ())) for factors, c in found)


def _indices(kernel: Kernel) -> Iterator[Value]:
    for _, statement in statements_of(kernel.body):
        operation = statement.operation if isinstance(statement, Let) else None
        if isinstance(statement, Let) and isinstance(operation, Call) and operation.intrinsic == "program_id":
            yield from statement.results
