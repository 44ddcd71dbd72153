"""Applies the fixes that reports carry: a source goes in; what it becomes comes out, checked again after every edit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from teenyc.diagnostics.edits import apart, edited
from teenyc.diagnostics.model import Diagnostic, Fix, Severity
from teenyc.driver import Compiled, Options, compile_source
from teenyc.record import record
from teenyc.source import SourceFile

MOST_ROUNDS = 100
"""So often the fixes of what is left are applied, since one may bring up another."""

_FIRST = ("E00", "E01")
_LATE = ("E0391", "E0410", "E0411", "E0540", "E0541")
"""How the codes begin of what keeps a text from being parsed, and the codes of what is only looked for in kernels
without another mistake."""

_LINTS = 3
"""The stage of lints, which are only made of a text without errors."""


@record(kw_only=True)
class Fixed:
    """What became of a source: how often a fix was applied, and the reports whose fixes were not, for they would not
    have left a better program."""

    compiled: Compiled
    count: int = 0
    refused: tuple[Diagnostic, ...] = ()

    @property
    def file(self) -> SourceFile:
        return self.compiled.file


def fixed(source: SourceFile, options: Options) -> Fixed:
    """The source with the fixes of its reports, those of errors first, until there are none that help."""
    compiled = compile_source(source, options=options)
    count = 0
    for _ in range(MOST_ROUNDS):
        found = _round(compiled, options)
        if found is None:
            break
        compiled, count = found[0], count + found[1]
    refused = tuple(d for d in compiled.diagnostics if d.fix() is not None)
    return Fixed(compiled=compiled, count=count, refused=refused)


def is_better(before: Compiled, after: Compiled, done: Sequence[Diagnostic]) -> bool:
    """Whether the reports `done` are gone and the text is no worse otherwise: none came that it did not have, and there
    are no more lints than before.

    Once a text can be parsed, it may turn out what else is wrong with it, and so with what is looked for in whole
    kernels.
    """
    old, new = (Counter(map(_words, each.diagnostics)) for each in (before, after))
    if any(old[words] - new[words] < count for words, count in Counter(map(_words, done)).items()):
        return False
    reach = max(map(stage_of, done))
    if reach == _LINTS and len(after.diagnostics) > len(before.diagnostics):
        return False
    came = new - old
    return all(stage_of(d) > reach for d in after.diagnostics if d.severity is Severity.ERROR and _words(d) in came)


def _words(report: Diagnostic) -> tuple[str, str]:
    """What a report says, wherever it stands."""
    return report.code, report.message()


def _round(compiled: Compiled, options: Options) -> tuple[Compiled, int] | None:
    """The source after as many fixes as can be applied at once, and their number; None where none helps.

    Fixes of one stage are tried together: what a later one reports may be due to an earlier mistake.
    """
    stages = sorted({stage_of(d) for d in compiled.diagnostics if d.fix() is not None})
    for stage in stages:
        candidates = [d for d in compiled.diagnostics if d.fix() is not None and stage_of(d) == stage]
        while candidates:
            chosen = [candidates[index] for index in apart(list(map(_fix_of, candidates)))]
            found = _attempt(compiled, chosen, options)
            if found is not None:
                return found
            candidates = [d for d in candidates if not any(d is each for each in chosen)]
    return None


def _attempt(compiled: Compiled, chosen: Sequence[Diagnostic], options: Options) -> tuple[Compiled, int] | None:
    """The source after the fixes of these reports, or of the first part of them that helps."""
    text = edited(compiled.file.text, map(_fix_of, chosen))
    after = compile_source(SourceFile(compiled.file.name, text, compiled.file.bom), options=options)
    if text != compiled.file.text and is_better(compiled, after, chosen):
        return after, len(chosen)
    if len(chosen) == 1:
        return None
    half = len(chosen) // 2
    return _attempt(compiled, chosen[:half], options) or _attempt(compiled, chosen[half:], options)


def _fix_of(report: Diagnostic) -> Fix:
    fix = report.fix()
    assert fix is not None, "only reports with a fix are chosen"
    return fix


def stage_of(report: Diagnostic) -> int:
    """How far a text must have come for a report: to be parsed, checked, looked at as a whole, or right."""
    if report.severity is Severity.LINT:
        return _LINTS
    return 0 if report.code.startswith(_FIRST) else 2 if report.code in _LATE else 1
