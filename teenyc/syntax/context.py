"""What the builder functions of one source share: its text, its comments, and where reports go."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from teenyc.diagnostics.model import Diagnostic, Reporter
from teenyc.source import NO_COMMENTS, Comments, Span
from teenyc.syntax import ast
from teenyc.syntax.documentation import documentation
from teenyc.syntax.tokens import ATTRIBUTE, Lexed, Token


class Context:
    """One source while its tree is built; `reporter` is that of the item at hand, `errors` counts unexpected tokens.

    `faults` are the places of brackets that were put in or left out, ascending.
    """

    def __init__(self, text: str, lexed: Lexed, reporter: Reporter, faults: list[int]) -> None:
        self.text = text
        self.lexed = lexed
        self.reporter = reporter
        self.errors = 0
        self.faults = faults
        self.allowances: list[ast.Allowance] = []
        self.named: set[str] = set()

    def report(self, diagnostic: Diagnostic) -> None:
        self.reporter.report(diagnostic)

    def has_fault(self, start: int, end: int) -> bool:
        """Whether a bracket was put in or left out in `[start, end)`."""
        place = bisect_left(self.faults, start)
        return place < len(self.faults) and self.faults[place] < end

    def text_of(self, span: Span) -> str:
        return self.text[span.start : span.end]

    def comments(self, start: int, end: int) -> Comments:
        """The comments before what starts and behind what ends there."""
        leading = self.lexed.leading.get(start, ())
        trailing = self.lexed.trailing.get(end, "")
        return Comments(leading, trailing) if leading or trailing else NO_COMMENTS

    def doc(self, start: int, end: int) -> str:
        """The text of the doc comments before the tokens in `[start, end)`."""
        docs = self.lexed.docs
        first = bisect_left(docs, (start, ""))
        last = bisect_left(docs, (end, ""))
        return documentation(text for _, text in docs[first:last])

    def allow(self, parts: Iterable[object], span: Span) -> None:
        """Notes the lints that attributes among the parts of something allow in its span."""
        for part in parts:
            if isinstance(part, Token) and part.kind == ATTRIBUTE and "(" in part.text:
                from teenyc.syntax.allow import allowance

                found = allowance(self.text, part, span)
                self.allowances += [found] if found is not None else []
