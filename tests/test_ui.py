"""Reports: each case in `ui/` marks by hand where which code is due (`//~ E0201`) and owns the text that users see.

`//~ CODE` stands on the line itself, each `^` in `//~^ CODE` points one line up. A line may carry several codes; a
report without a place is marked on the first line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from cases import TESTS, Case, case_id, cases, orphans

from teenyc import compile_source
from teenyc.diagnostics.catalog import all_codes, find
from teenyc.diagnostics.render import Report, render

CASES = cases("ui")
MARK = re.compile(r"//~(\^*)((?:\s*[EW]\d{4})+)")

ELSEWHERE = {
    # codes that no text of a source alone can cause, and the test that has each
    **dict.fromkeys(["E0001", "E0002", "E0003", "E0004", "E0006", "E0009"], "unit/test_cli_reports.py"),
    **dict.fromkeys(["E0007", "E0011", "E0012", "E0013"], "unit/test_cli.py"),
    "E0014": "attack/test_outputs.py",
    **dict.fromkeys(["E0501", "E0502", "E0503", "E0504", "E0505", "E0506", "E0507", "E0520"], "run/test_aot.py"),
    **dict.fromkeys(["W0150", "W0151"], "unit/test_cli_targets.py"),
    **{f"E07{number:02}": "evaluate/test_reports.py" for number in range(1, 15)},
    "E0717": "evaluate/test_reports.py",
    **dict.fromkeys(["E0715", "E0716", "W0701", "W0702", "W0703", "W0704"], "evaluate/test_sanitizer.py"),
}


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_reports_stand_where_they_are_marked(case: Case) -> None:
    compiled = compile_source(case.text, name=case.path.name, options=case.options)
    found = Counter(
        (compiled.file.position(report.span.start).line if report.span else 1, report.code)
        for report in compiled.diagnostics
    )
    assert found == Counter(_marks(case.text))


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_reports_read_as_blessed(case: Case, expect_file: Callable[[Path, str], None]) -> None:
    compiled = compile_source(case.text, name=case.path.name, options=case.options)
    reports = [Report(diagnostic, compiled.file) for diagnostic in compiled.diagnostics]
    expect_file(case.expected(".stderr"), render(reports, format="human") + "\n")


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_case_says_what_it_shows(case: Case) -> None:
    assert case.summary


def test_every_file_belongs_to_a_case() -> None:
    assert not orphans("ui", ".stderr")


@pytest.mark.parametrize("code", all_codes())
def test_every_code_is_shown_and_explained(code: str) -> None:
    home = ELSEWHERE.get(code)
    shown = any(code == marked for case in CASES for _, marked in _marks(case.text))
    assert shown or (home and code in (TESTS / home).read_text(encoding="utf-8")), "no case in tests/ui shows it"
    diagnostic = find(code)
    assert diagnostic is not None
    assert (diagnostic.__doc__ or "").strip()


def test_lints_that_a_check_cannot_find_are_not_said_to_be_allowed_for_nothing() -> None:
    from teenyc.diagnostics.catalog.lints import Lint

    for code in all_codes():
        kind = find(code)
        if code in ELSEWHERE and isinstance(kind, type) and issubclass(kind, Lint):
            assert kind.depends, code


def _marks(text: str) -> list[tuple[int, str]]:
    return [
        (number - len(mark[1]), code)
        for number, line in enumerate(text.split("\n"), start=1)
        for mark in MARK.finditer(line)
        for code in mark[2].split()
    ]
