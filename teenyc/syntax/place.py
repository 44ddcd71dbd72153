"""The tokens around an unexpected one, for those that say what was meant."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from teenyc.syntax.stack import Run
from teenyc.syntax.tables import END
from teenyc.syntax.tokens import IDENTIFIER, Token

_NOTHING: Final = Token(END, 0, 0, "")
_OPERANDS = frozenset([IDENTIFIER, "INTEGER", "FLOAT", ")", "]", "true", "false"])


class Place:
    """One unexpected token: `expected` says in words what could stand there, `text` is that of the file."""

    def __init__(self, run: Run, position: int, expected: str, text: str) -> None:
        self.run = run
        self.position = position
        self.expected = expected
        self.text = text

    def at(self, offset: int) -> Token:
        """The token so far behind the unexpected one, or before it."""
        index = self.position + offset
        return self.run.stream[index] if 0 <= index < len(self.run.stream) else _NOTHING

    @property
    def token(self) -> Token:
        return self.run.stream[self.position]

    @property
    def previous(self) -> Token:
        return self.at(-1)

    @property
    def is_same_line(self) -> bool:
        """Whether the token before is on the same line."""
        return "\n" not in self.text[self.previous.end : self.token.start]

    @property
    def follows_operand(self) -> bool:
        """Whether what stands before may be the end of a value."""
        return self.previous.kind in _OPERANDS

    @cached_property
    def _opener(self) -> int:
        """Where the innermost bracket around the token opens; -1 outside of all."""
        run = self.run
        index = self.position + run.offset
        around = run.parent[index] if index < len(run.parent) else -1
        return around - run.offset

    @property
    def opener(self) -> Token:
        """The innermost bracket around the token."""
        return self.run.stream[self._opener] if self._opener >= 0 else _NOTHING

    @property
    def closer(self) -> Token:
        """The bracket that closes it."""
        run = self.run
        return run.stream[run.partner[self._opener + run.offset] - run.offset] if self._opener >= 0 else _NOTHING

    @property
    def is_index(self) -> bool:
        """Whether the bracket around the token stands behind a value."""
        return self._opener > 0 and self.run.stream[self._opener - 1].kind in _OPERANDS

    @property
    def is_parameters(self) -> bool:
        """Whether the bracket around the token holds the parameters of a function."""
        before = [t.kind for t in self.run.stream[: max(self._opener, 0)]]
        return self.opener.kind == "(" and "fn" in before and "{" not in before

    def is_in(self, keyword: str) -> bool:
        """Whether the token stands in `keyword (…)`."""
        return self.opener.kind == "(" and self.run.stream[self._opener - 1].kind == keyword

    def has_ahead(self, kind: str) -> bool:
        """Whether a token of that kind follows in the same statement."""
        for token in self.run.stream[self.position :]:
            if token.kind in (kind, ";", "{", "}"):
                return token.kind == kind
        return False
