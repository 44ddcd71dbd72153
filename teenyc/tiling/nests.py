"""Nests of loops: a kernel goes in; the same with another loop innermost comes out, where all that is carried is handed
from loop to loop. Blocks are taken of innermost loops, so the order decides which.

The order of a nest may be changed if its innermost loop obeys laws: they hold for any order of iterations.
"""

from __future__ import annotations

from collections.abc import Iterator

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.addresses import accesses
from teenyc.ir.masks import View, masks
from teenyc.ir.nodes import Block, Call, For, Kernel, Let, Statement, Value
from teenyc.ir.polynomials import Factors, Polynomial
from teenyc.ir.walk import map_statements, statements_of
from teenyc.record import record, replace


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

    @property
    def is_source(self) -> bool:
        """Whether the kernel is as it was written."""
        return self.moved is None and not self.is_split


def orders(kernel: Kernel) -> tuple[Order, ...]:
    """The kernel as it is, and with each outer loop of a nest as its innermost; those that walk over windows last.

    A window is what neighbouring programs read in part together: the taps of a convolution, which are few.
    """
    nests = {id(s): _innermost(s) for _, s in statements_of(kernel.body) if isinstance(s, For) and _inner(s)}
    found = [Order(kernel)]
    for _, statement in statements_of(kernel.body):
        if isinstance(statement, For) and id(statement) in nests:
            around = nests[id(statement)].counter.name
            found.append(Order(_with(kernel, statement, _moved_inside(statement)), statement.counter.id, around))
    if not nests:
        return tuple(found)
    windows = _windows(kernel)
    own = any(inner.counter.id in windows for inner in nests.values())
    return tuple(sorted(found, key=lambda order: own if order.moved is None else order.moved in windows))


def _inner(loop: For) -> For | None:
    """The loop that all of an iteration is, beside what is made of the counter; it carries what the outer one does."""
    *before, last = loop.body.statements or (None,)
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


def _innermost(loop: For) -> For:
    inner = _inner(loop)
    return loop if inner is None else _innermost(inner)


def _moved_inside(loop: For) -> For:
    """A nest with its outermost loop as the innermost."""
    inner = _inner(loop)
    if inner is None:
        return loop
    places = [next(n for n, c in enumerate(loop.carried) if c.inside == each.initial) for each in inner.carried]
    body = Block(statements=(*loop.body.statements[:-1], *inner.body.statements), yields=inner.body.yields)
    moved = _moved_inside(replace(loop, carried=inner.carried, body=body))
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
