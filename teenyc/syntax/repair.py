"""Mends brackets that do not pair: reports each once, where people would look for it, and gives balanced tokens back.

What is put in has no width and stands behind the last token before it. A `(` ends before `;`, before a statement, and
before the bracket that closes what is around it; a `{` ends where a line with `}` is indented less than the line that
opened it, and where an item begins at the left margin.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from teenyc.diagnostics.catalog.syntax import UnclosedDelimiter, UnexpectedCloser
from teenyc.diagnostics.model import Reporter
from teenyc.source import Span
from teenyc.syntax.tokens import CLOSERS, Token

_OPENERS: Mapping[str, str] = MappingProxyType({closer: opener for opener, closer in CLOSERS.items()})
_STATEMENTS = frozenset("let for while loop return break continue fn const".split())
_ITEMS = frozenset("# pub fn const static use mod struct enum trait impl type extern ATTRIBUTE".split())


def repair(text: str, tokens: list[Token], reporter: Reporter, *, quiet_at_end: bool) -> list[Token]:
    """Balanced tokens; `quiet_at_end` where the end of the file is inside a string or comment that was reported."""
    mender = _Mender(text, tokens, reporter)
    for index, token in enumerate(tokens):
        mender.take(index, token)
    mender.close_down_to(0, report=not quiet_at_end)
    return mender.out


class _Mender:
    """The brackets open so far, and the tokens already balanced."""

    def __init__(self, text: str, tokens: list[Token], reporter: Reporter) -> None:
        self.out: list[Token] = []
        self._text = text
        self._reporter = reporter
        self._open: list[Token] = []
        self._kinds = [*(t.kind for t in tokens), ""]
        self._missing = self._kinds.count("{") - self._kinds.count("}")
        self._in_header = False
        self._parameters: Token | None = None

    def take(self, index: int, token: Token) -> None:
        """Read one token, the one at `index` of all."""
        kind = token.kind
        if kind in _ITEMS and self._open and self._is_first_on_line(token) and self._indentation(token) == 0:
            self.close_down_to(0)
        elif self._ends_groups(token):
            self._close_groups()
        if kind in CLOSERS:
            self._open.append(token)
        elif kind in _OPENERS and not self._close(index, token):
            return
        self._note_header(token)
        self.out.append(token)

    def _ends_groups(self, token: Token) -> bool:
        """Whether what stands here cannot be in the round or square brackets around it."""
        if not self._open or self._open[-1].kind == "{":
            return False
        if token.kind == ";":
            return self._open[-1].kind == "(" and not self._in_macro()
        if token.kind == "{":
            return self._open[-1] is self._parameters
        return token.kind in _STATEMENTS and self._is_first_on_line(token)

    def _note_header(self, token: Token) -> None:
        """Remember the bracket of a function's parameters, in which no `{` stands."""
        if token.kind == "fn":
            self._in_header = True
        elif token.kind == "(" and self._in_header:
            self._parameters = token
            self._in_header = False

    def close_down_to(self, count: int, *, report: bool = True) -> None:
        """Close brackets until `count` are open; of those that end at one place the innermost is reported."""
        missing = "".join(CLOSERS[opener.kind] for opener in reversed(self._open[count:]))
        while len(self._open) > count:
            opener = self._open.pop()
            end = self.out[-1].end if self.out else 0
            if report:
                self._reporter.report(
                    UnclosedDelimiter(
                        span=Span(opener.start, opener.end),
                        opener=opener.kind,
                        closer=CLOSERS[opener.kind],
                        where=Span(end, end),
                        missing=missing,
                    )
                )
            report = False
            self._missing -= opener.kind == "{"
            self.out.append(Token(CLOSERS[opener.kind], end, end, ""))

    def _close_groups(self) -> None:
        """Close round and square brackets down to the innermost brace."""
        self.close_down_to(self._groups_start())

    def _close(self, index: int, token: Token) -> bool:
        """Pair a closing bracket, closing what it leaves open inside; False to drop it."""
        if token.kind == "}":
            self._close_groups()
            self._close_by_indentation(token)
        wanted = _OPENERS[token.kind]
        depth = len(self._open)
        while depth and self._open[depth - 1].kind not in (wanted, "{"):
            depth -= 1
        if depth and self._open[depth - 1].kind == wanted and not self._is_for_others(index, depth):
            self.close_down_to(depth)
            self._open.pop()
            return True
        self._reject(index, token)
        return False

    def _is_for_others(self, index: int, depth: int) -> bool:
        """Whether a bracket of another kind is open, and those of this kind find enough closing ones behind this."""
        if depth == len(self._open):
            return False
        kind = self._kinds[index]
        run = 1
        while self._kinds[index + run] == kind:
            run += 1
        waiting = 0
        while waiting < depth and self._open[depth - 1 - waiting].kind == _OPENERS[kind]:
            waiting += 1
        return run > waiting

    def _reject(self, index: int, token: Token) -> None:
        """Report a bracket that closes nothing, or take it for the one that the innermost open bracket needs."""
        opener = self._open[-1] if self._open and self._open[-1].kind != "{" and token.kind != "}" else None
        if opener and self._is_stray(index):
            opener = None
        self._reporter.report(
            UnexpectedCloser(
                span=Span(token.start, token.end),
                closer=token.kind,
                wanted=CLOSERS[opener.kind] if opener else "",
                opened=Span(opener.start, opener.end) if opener else None,
            )
        )
        if opener:
            self._open.pop()
            self.out.append(Token(CLOSERS[opener.kind], token.start, token.end, token.text))

    def _is_stray(self, index: int) -> bool:
        """Whether what is open in this statement closes better without the bracket at `index` than with it mended."""
        groups = [CLOSERS[t.kind] for t in self._open[self._groups_start() :]]
        return _mismatches(groups, self._kinds, index + 1) < _mismatches(groups[:-1], self._kinds, index + 1)

    def _groups_start(self) -> int:
        """How many brackets are open up to the innermost brace."""
        count = len(self._open)
        while count and self._open[count - 1].kind != "{":
            count -= 1
        return count

    def _close_by_indentation(self, token: Token) -> None:
        """Close braces whose line is indented more than that of a closing one, while the file lacks closing ones."""
        if not self._is_first_on_line(token):
            return
        column = self._indentation(token)
        count = len(self._open)
        while (
            count > 1 and self._missing > len(self._open) - count and self._indentation(self._open[count - 1]) > column
        ):
            count -= 1
        self.close_down_to(count)

    def _in_macro(self) -> bool:
        """Whether the innermost open bracket is that of `name!(…)`, where `;` may stand."""
        start = self._open[-1].start
        return self._text[max(0, start - 2) : start].rstrip().endswith("!")

    def _is_first_on_line(self, token: Token) -> bool:
        start = self._text.rfind("\n", 0, token.start) + 1
        return self._text[start : token.start].isspace() or start == token.start

    def _indentation(self, token: Token) -> int:
        start = self._text.rfind("\n", 0, token.start) + 1
        line = self._text[start : token.start + 1]
        return len(line) - len(line.lstrip())


_LOOKAHEAD: Final = 300
"""Tokens that are looked at to judge one bracket."""


def _mismatches(groups: list[str], kinds: list[str], index: int) -> int:
    """How many brackets fit nothing up to the end of the statement, if those of `groups` are to be closed."""
    waiting = list(groups)
    count = 0
    for kind in kinds[index : index + _LOOKAHEAD]:
        if kind in (";", "{", "}"):
            break
        if kind in CLOSERS:
            waiting.append(CLOSERS[kind])
        elif kind in _OPENERS:
            if waiting and waiting[-1] == kind:
                waiting.pop()
            else:
                count += 1
    return count + len(waiting)
