"""Fixes applied to a text: edits of places that do not overlap go in, the text after them comes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from teenyc.diagnostics.model import Fix
from teenyc.source import Span


def edited(text: str, fixes: Iterable[Fix]) -> str:
    """The text after fixes no two of which touch."""
    parts: list[str] = []
    done = 0
    for edit in sorted((e for fix in fixes for e in fix.edits), key=lambda e: e.span):
        assert done <= edit.span.start, "two fixes overlap"
        parts += [text[done : edit.span.start], edit.replacement]
        done = edit.span.end
    return "".join([*parts, text[done:]])


def as_one(fix: Fix, text: str) -> Fix:
    """The fix as a single edit: of a fix with several, from the first of their places to the last."""
    edits = fix.edits
    if len(edits) == 1:
        return fix
    whole = Span(edits[0].span.start, edits[-1].span.end)
    inside = (Fix(Span(e.span.start - whole.start, e.span.end - whole.start), e.replacement) for e in edits)
    return Fix(whole, edited(text[whole.start : whole.end], inside))


def apart(fixes: Sequence[Fix]) -> list[int]:
    """Which of the fixes can be applied at once: those of which no place touches one of a fix before them."""
    taken: list[Span] = []
    chosen: list[int] = []
    for index, fix in enumerate(fixes):
        spans = [edit.span for edit in fix.edits]
        if not any(_touch(a, b) for a in spans for b in taken):
            taken += spans
            chosen.append(index)
    return chosen


def _touch(a: Span, b: Span) -> bool:
    """Whether two places share a character or an end: what stands side by side may make one token."""
    return a.start <= b.end and b.start <= a.end
