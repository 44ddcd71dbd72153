"""Names in a function inside another: that of a variable around it, which is not seen, goes in; a report comes out."""

from __future__ import annotations

from teenyc.check.context import Context, Group, Invalid
from teenyc.ir import nodes as ir
from teenyc.source import Span


def is_outer(context: Context, name: str, span: Span) -> bool:
    """Whether a name in a function inside another is that of a variable around it, which is not seen; reports it."""
    places = context.library.outside.items()
    found = [
        (function, around[name])
        for place, (function, around) in places
        if place.start <= span.start < place.end and name in around
    ]
    if not found:
        return False
    from teenyc.diagnostics.catalog.names import OuterVariable

    function, symbol = max(found, key=lambda each: each[0].span.start)
    current = symbol.current
    type = "" if isinstance(current, Group | Invalid) else str(context.type_of(current))
    is_constant = isinstance(current, ir.Constant)
    context.report(
        OuterVariable(
            span=span,
            name=name,
            function=function.name.text,
            declared=symbol.span,
            type="" if "[" in type or "{" in type else type,
            is_constant=is_constant,
        )
    )
    return True
