"""Runs the LALR tables: the tokens of one item go in, what the builder functions make of it comes out.

On an unexpected token `recovery.py` reports it and puts the automaton back on its feet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from teenyc.syntax.brackets import Nested
from teenyc.syntax.context import Context
from teenyc.syntax.stack import Run
from teenyc.syntax.tables import ACCEPT, COLLECT, END, PASS, Tables
from teenyc.syntax.tokens import Token

Builder = Callable[..., Any]
"""`builder(context, start, end, *children)`: makes the value of one production from those of its children."""


class Production(NamedTuple):
    """A `tables.Rule` with its builder found; None hands the only child on, `collect` the list of all."""

    target: str
    size: int
    build: Builder | None
    layout: tuple[int, ...] | None
    splices: bool


def bind(tables: Tables, builders: Mapping[str, Builder]) -> tuple[Production, ...]:
    """The productions of the tables; builders are named like the rules of the grammar."""
    known: dict[str, Builder | None] = {**builders, PASS: None, COLLECT: collect}
    return tuple(Production(r.target, r.size, known[r.action], r.layout, r.splices) for r in tables.rules)


def collect(*_children: Any) -> None:
    """Marks a rule that is a list; what reduces does its work, without copying."""


def start_run(tables: Tables, nested: Nested, first: int, last: int, symbol: str) -> Run:
    """A run over the tokens `[first, last)` that is to become a `symbol`."""
    tokens = nested.tokens[first:last]
    end = tokens[-1].end if tokens else 0
    following = nested.tokens[last].text if last < len(nested.tokens) else ""
    tokens.append(Token(END, end, end, following))
    return Run(tables, tokens, nested, first, symbol)


def finish(run: Run, productions: tuple[Production, ...], context: Context) -> Any:
    """The value of the start symbol; None after a mistake that could not be mended."""
    rows, states, stream = run.tables.rows, run.states, run.stream
    position = 0
    token = stream[0]
    while True:
        action = rows[states[-1]].get(token.kind)
        if action is None:
            from teenyc.syntax.recovery import recover

            mended = recover(run, position, token, context)
            if mended is None:
                return None
            position, token = mended
        elif action < 0:
            _reduce(run, productions[~action], token, context)
        elif action == ACCEPT:
            return run.values[-1]
        else:
            states.append(action)
            run.values.append(token)
            run.starts.append(token.start)
            run.ends.append(token.end)
            if token is stream[position]:
                position += 1
            token = stream[position]


def _reduce(run: Run, production: Production, token: Token, context: Context) -> None:
    """Replace the symbols of a production by what it makes of them."""
    target, size, build, layout, splices = production
    states, values, starts, ends = run.states, run.values, run.starts, run.ends
    base = len(values) - size
    children = values[base:]
    if size:
        start, end = starts[base], ends[-1]
        del values[base:], starts[base:], ends[base:], states[base + 1 :]
    else:
        start = end = ends[-1] if ends else token.start
    if layout is not None:
        children = [children[i] if i >= 0 else None for i in layout]
    if splices:
        children = _spliced(children)
    if build is collect:
        values.append(children)
    else:
        values.append(build(context, start, end, *children) if build else children[0])
    starts.append(start)
    ends.append(end)
    states.append(run.tables.rows[states[-1]][target])


def _spliced(children: list[Any]) -> list[Any]:
    """The children with lists opened; a list in front is extended, so that a long list takes linear time."""
    first = children[0]
    flat: list[Any] = first if type(first) is list else [first]
    for child in children[1:]:
        if type(child) is list:
            flat.extend(child)
        else:
            flat.append(child)
    return flat
