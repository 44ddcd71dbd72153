"""Reports: each case in `ui/` marks by hand where which code is due (`//~ E0201`) and owns the text that users see.

`//~ CODE` stands on the line itself, each `^` in `//~^ CODE` points one line up. A line may carry several codes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from cases import Case, case_id, cases, orphans

from teenyc import compile_source
from teenyc.diagnostics.catalog import all_codes, find
from teenyc.diagnostics.render import render

CASES = cases("ui")
MARK = re.compile(r"//~(\^*)((?:\s*[EW]\d{4})+)")

WITHOUT_SOURCE = {
    # codes that no text of a source can cause; tests/unit has a test for each
}


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_reports_stand_where_they_are_marked(case: Case) -> None:
    compiled = compile_source(case.text, name=case.path.name, options=case.options)
    found = Counter(
        (compiled.file.position(report.span.start).line if report.span else 0, report.code)
        for report in compiled.diagnostics
    )
    assert found == Counter(_marks(case.text))


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_reports_read_as_blessed(case: Case, expect_file: Callable[[Path, str], None]) -> None:
    compiled = compile_source(case.text, name=case.path.name, options=case.options)
    text = render(compiled.diagnostics, compiled.file, format="human", color=False)
    expect_file(case.expected(".stderr"), text if text.endswith("\n") else text + "\n")


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_case_says_what_it_shows(case: Case) -> None:
    assert case.summary


def test_every_file_belongs_to_a_case() -> None:
    assert not orphans("ui", ".stderr")


@pytest.mark.parametrize("code", all_codes())
def test_every_code_is_shown_and_explained(code: str) -> None:
    shown = {code for case in CASES for _, code in _marks(case.text)}
    assert code in shown or code in WITHOUT_SOURCE, "no case in tests/ui shows it"
    diagnostic = find(code)
    assert diagnostic is not None
    assert (diagnostic.__doc__ or "").strip()


def _marks(text: str) -> list[tuple[int, str]]:
    return [
        (number - len(mark[1]), code)
        for number, line in enumerate(text.split("\n"), start=1)
        for mark in MARK.finditer(line)
        for code in mark[2].split()
    ]
