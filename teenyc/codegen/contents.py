"""Contents: a body goes in; what is in it comes out, read once for all that must be known before it is written."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.ir.nodes import For, Function, Kernel, Let, Statement, Value
from teenyc.ir.walk import statements_of, uses, values_of
from teenyc.record import record


@record
class Contents:
    """A body, all statements and values of it in order, and by id what defines a value and how often it is read."""

    body: Kernel | Function
    statements: tuple[Statement, ...]
    values: tuple[Value, ...]
    lets: Mapping[int, Let]
    counters: Mapping[int, For]
    reads: Mapping[int, int]

    @staticmethod
    def of(body: Kernel | Function) -> Contents:
        """The contents of a body."""
        statements = tuple([statement for _, statement in statements_of(body.body)])
        lets = {v.id: s for s in statements if isinstance(s, Let) for v in s.results}
        counters = {s.counter.id: s for s in statements if isinstance(s, For)}
        return Contents(body, statements, tuple(values_of(body)), lets, counters, uses(body.body))
