"""What a report is: `Diagnostic` (facts that know how to say themselves) and the `Reporter` that collects them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import ClassVar

from teenyc.record import field, record, state
from teenyc.source import Span


class Severity(Enum):
    """Errors stop the build; lints do not, unless `--deny-warnings`."""

    ERROR = "error"
    LINT = "warning"


@record
class Label:
    """A span with words under it; the first label of a report is its place."""

    span: Span
    text: str = ""


@record
class Fix:
    """An edit that a machine may apply: replace the text of `span`. `others` are edits elsewhere that belong to it."""

    span: Span
    replacement: str
    others: tuple[Fix, ...] = ()

    @property
    def edits(self) -> tuple[Fix, ...]:
        """All edits of it, each without others, in the order of the source."""
        return tuple(sorted((Fix(self.span, self.replacement), *self.others), key=lambda edit: edit.span))


@record(kw_only=True)
class Diagnostic:
    """One problem. A subclass holds the facts as fields and turns them into words; its docstring is `explain CODE`.

    `span` is the smallest place that shows the problem, None for what has no place in a source (a missing file).
    """

    code: ClassVar[str] = ""
    severity: ClassVar[Severity] = Severity.ERROR

    span: Span | None = field(default=None, compare=False)

    def message(self) -> str:
        """What is wrong: lower case, no full stop, code in backticks."""
        raise NotImplementedError  # every class of the catalogue has one; a test sees to it

    def label(self) -> str:
        """The words under the caret."""
        return ""

    def secondary(self) -> tuple[Label, ...]:
        """Other places that explain this one."""
        return ()

    def notes(self) -> tuple[str, ...]:
        """Facts behind the problem."""
        return ()

    def help(self) -> str | None:
        """What to do."""
        return None

    def race(self) -> str:
        """Why two runs may differ, of programs or lanes that meet in memory; empty for all else."""
        return ""

    def fix(self) -> Fix | None:
        """The edit that does it, where a machine may apply it."""
        return None


class CompileError(Exception):
    """Raised at the edge of the library when a source has errors; holds the reports, prints them when shown."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...], rendered: str) -> None:
        super().__init__(rendered)
        self.diagnostics = diagnostics


class RunError(Exception):
    """Raised where a kernel cannot be run on its arguments or goes wrong; holds the reports, prints them when shown."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...], rendered: str) -> None:
        super().__init__(rendered)
        self.diagnostics = diagnostics


LIMIT = 100
"""At most this many reports of one source are shown; then a count."""


@state
class Reporter:
    """Collects the reports of one source; two equal reports at one place are one."""

    _reports: dict[tuple[object, ...], Diagnostic] = field(default_factory=dict)

    def report(self, diagnostic: Diagnostic) -> None:
        self._reports.setdefault((diagnostic.code, diagnostic.span, diagnostic), diagnostic)

    @property
    def count(self) -> int:
        """How many reports there are so far."""
        return len(self._reports)

    @property
    def has_errors(self) -> bool:
        return any(d.severity is Severity.ERROR for d in self._reports.values())

    @property
    def made(self) -> tuple[Diagnostic, ...]:
        """The reports in the order in which they were made."""
        return tuple(self._reports.values())

    def __iter__(self) -> Iterator[Diagnostic]:
        """The reports in source order."""
        return iter(sorted(self._reports.values(), key=lambda d: (d.span or Span(0, 0), d.code)))
