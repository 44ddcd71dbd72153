"""Reports for the tests of the renderers: one real, and one that can say anything."""

from __future__ import annotations

import re

from teenyc.diagnostics.catalog.names import UnknownName
from teenyc.diagnostics.model import Diagnostic, Fix, Label
from teenyc.diagnostics.render import Report
from teenyc.record import record
from teenyc.source import SourceFile, Span

SAMPLE = "fn f() {\n    let b = 1;\n    let a = scal + 1;\n}\n"


@record(kw_only=True)
class Sample(Diagnostic):
    """A report with any words. It is for these tests only.

    let example = 1;
    """

    code = "E0999"
    words: str = "words"
    under: str = "here"
    others: tuple[Label, ...] = ()
    facts: tuple[str, ...] = ()
    advice: str | None = None
    edit: Fix | None = None

    def message(self) -> str:
        return self.words

    def label(self) -> str:
        return self.under

    def secondary(self) -> tuple[Label, ...]:
        return self.others

    def notes(self) -> tuple[str, ...]:
        return self.facts

    def help(self) -> str | None:
        return self.advice

    def fix(self) -> Fix | None:
        return self.edit


def at(text: str, part: str, occurrence: int = 0) -> Span:
    """The span of a part of a text."""
    start = [m.start() for m in re.finditer(re.escape(part), text)][occurrence]
    return Span(start, start + len(part))


def unknown(text: str = SAMPLE, name: str = "softmax.tk") -> Report:
    return Report(UnknownName(name="scal", similar="scale", span=at(text, "scal")), SourceFile(name, text))
