"""The state of the automaton while it reads one item: the symbols so far and the tokens."""

from __future__ import annotations

from typing import Any

from teenyc.syntax.brackets import Nested
from teenyc.syntax.tables import Tables
from teenyc.syntax.tokens import Token


class Run:
    """The stacks have one entry for each symbol read so far; `states` has one more, the start.

    `stream` holds the tokens of the item and an `END`; `partner` and `parent` are as in `Nested`, for all tokens of the
    file, the first of the item at `offset`. `mended` is where in `stream` the last mistake was mended,
    `inserted` where in the text something begins behind a `;` that was put in, which may not be a statement.
    """

    def __init__(self, tables: Tables, stream: list[Token], nested: Nested, offset: int, symbol: str) -> None:
        self.tables = tables
        self.stream = stream
        self.partner = nested.partner
        self.parent = nested.parent
        self.offset = offset
        self.states = [tables.starts[symbol]]
        self.values: list[Any] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.mended = -1
        self.inserted = -1

    def cut(self, count: int) -> None:
        """Forget all but the first `count` symbols."""
        del self.states[count + 1 :], self.values[count:], self.starts[count:], self.ends[count:]

    def accepts(self, kind: str) -> bool:
        """Whether a token of that kind may come next: the reductions it leads to are tried without their values."""
        rows, rules = self.tables.rows, self.tables.rules
        depth = len(self.states)
        above: list[int] = []
        while True:
            action = rows[above[-1] if above else self.states[depth - 1]].get(kind)
            if action is None or action >= 0:
                return action is not None
            target, size = rules[~action][:2]
            taken = min(size, len(above))
            del above[len(above) - taken :]
            depth -= size - taken
            above.append(rows[above[-1] if above else self.states[depth - 1]][target])
