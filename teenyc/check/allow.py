"""`#[allow(…)]`: the reports of a file go in; out come those that no attribute silences, and those on attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from teenyc.diagnostics.model import Diagnostic, Severity
from teenyc.record import record
from teenyc.source import Span
from teenyc.syntax import ast

GROUPS = {"unused": "unused_", "warnings": ""}
"""Rust's names for several lints at once, and how the names of those begin."""

_RUST = frozenset(
    "arithmetic_overflow dead_code unreachable_code unreachable_patterns unused_assignments unused_comparisons "
    "unused_must_use unused_mut unused_variables".split()
)
"""Lints that Rust's compiler has too."""

_RUST_ALONE = frozenset({"non_snake_case", "non_upper_case_globals", "non_camel_case_types"})
"""What Rust files allow most often, and kernels have no lint for: the catalogue need not be read to know that."""

_TOOL = "teenyc::"
_ITSELF = frozenset({"unused_allow", "W0121"})


@record(kw_only=True)
class Judged:
    """Whose attributes are to be judged as well: where no lint is looked for, and whether the file is one of Rust."""

    unchecked: tuple[Span, ...] = ()
    is_rust: bool = False


def unsilenced(
    diagnostics: Iterable[Diagnostic], allowances: tuple[ast.Allowance, ...], judged: Judged | None = None
) -> tuple[Diagnostic, ...]:
    """The reports without the lints that are allowed where they stand, and with one for each name that means none, or
    where they are `judged`, that silences nothing."""
    reports = tuple(diagnostics)
    if not allowances:
        return reports
    names = _Names(allowances)
    unfit = [report for allowance in allowances for report in _unfit(allowance)]
    kept = [r for r in (*reports, *unfit) if not names.silence(r)]
    if judged is not None:
        for of_itself in (False, True):  # an `allow` of this very lint may be of use for those of others
            kept += [r for r in names.unused(judged, of_itself=of_itself) if not names.silence(r)]
    return tuple(sorted(kept, key=lambda r: (r.span or Span(0, 0), r.code)))


class _Names:
    """The names that are allowed, those of the innermost attributes first, and which of them silenced something."""

    def __init__(self, allowances: Sequence[ast.Allowance]) -> None:
        listed = [(allowance, allowed) for allowance in allowances for allowed in allowance.names]
        self.listed = sorted(listed, key=lambda each: each[0].span.end - each[0].span.start)
        self.used: set[int] = set()

    def silence(self, report: Diagnostic) -> bool:
        """Whether a report is a lint that an attribute silences, but for that of which it speaks itself."""
        if report.severity is Severity.ERROR or report.span is None:
            return False
        names = _names_of(report)
        for allowance, allowed in self.listed:
            is_there = allowance.span.start <= report.span.start < allowance.span.end
            if is_there and _plain(allowed.name) in names and not _is_within(report.span, allowance.attribute):
                self.used.add(id(allowed))
                return True
        return False

    def unused(self, judged: Judged, *, of_itself: bool) -> Iterator[Diagnostic]:
        """A report for each name of a lint that silenced nothing: of those that may silence such reports, or others."""
        reach = _ITSELF | GROUPS.keys()
        for allowance, allowed in self.listed:
            name = _plain(allowed.name)
            if id(allowed) in self.used or (name in reach) is not of_itself or not _is_known(name):
                continue
            is_shared = name == allowed.name.text and name in _RUST | GROUPS.keys()
            if is_shared and (judged.is_rust or allowance.is_inner):
                continue
            if not any(_is_within(allowed.name.span, span) for span in judged.unchecked):
                from teenyc.diagnostics.catalog.lints import UnusedAllow

                yield UnusedAllow(span=allowed.name.span, name=name, cut=allowed.cut)


def _names_of(report: Diagnostic) -> frozenset[str]:
    """All by which a lint can be allowed."""
    from teenyc.diagnostics.catalog.lints import Lint

    if not isinstance(report, Lint):
        return frozenset()
    name = report.lint_name()
    return frozenset({name, report.code, *(group for group, start in GROUPS.items() if name.startswith(start))})


def _is_known(name: str) -> bool:
    """Whether a name is that of lints, all of which a check finds where there is reason to."""
    if name in _RUST_ALONE or "::" in name:
        return False
    if name in GROUPS:
        return True
    from teenyc.diagnostics.catalog.lints import lint_kinds

    kinds = [kind for of_name, kinds in lint_kinds().items() for kind in kinds if name in (of_name, kind.code)]
    return bool(kinds) and not any(kind.depends for kind in kinds)


def _is_within(span: Span, other: Span) -> bool:
    return other.start <= span.start and span.end <= other.end


def _plain(name: ast.Name) -> str:
    return name.text.removeprefix(_TOOL)


def _unfit(allowance: ast.Allowance) -> Iterable[Diagnostic]:
    """A reason that is none, and names of our own that no lint has; of names that Rust and its tools may know, nothing
    is said."""
    if allowance.wrong_reason is not None:
        from teenyc.diagnostics.catalog.lints import WrongReason

        yield WrongReason(span=allowance.wrong_reason)
    for allowed in allowance.names:
        if allowed.name.text.startswith(_TOOL):
            from teenyc.diagnostics.catalog.lints import UnknownLint, lint_names
            from teenyc.diagnostics.suggest import closest

            known, name = lint_names(), _plain(allowed.name)
            if name not in (*known, *known.values(), *GROUPS):
                yield UnknownLint(span=allowed.name.span, name=name, similar=closest(name, tuple(known)))
