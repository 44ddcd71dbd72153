"""Plans: each case in `plans/` owns the explanation of what tiling does with its kernels, and the plans themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cases import TESTS, Case, case_id, cases, orphans

from teenyc import compile_source
from teenyc.cli.tiling import explanation_document, explanation_text, plan_text
from teenyc.driver import Compiled
from teenyc.resources import kernels_directory

CASES = cases("plans")
BUNDLED = [Case(path, path.read_text(encoding="utf-8")) for path in sorted(kernels_directory().glob("*.tk"))]
every_source = pytest.mark.parametrize("case", CASES + BUNDLED, ids=lambda c: c.path.stem)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_explanation_and_plan_are_as_blessed(case: Case, expect_file: Callable[[Path, str], None]) -> None:
    compiled = _compiled(case)
    expect_file(case.expected(".plan"), f"{explanation_text(compiled)}\n{plan_text(compiled)}")


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_case_says_what_it_shows(case: Case) -> None:
    assert case.summary


def test_every_file_belongs_to_a_case() -> None:
    assert not orphans("plans", ".plan")


@every_source
def test_lines_fit_and_places_are_in_the_source(case: Case) -> None:
    compiled = _compiled(case)
    text = explanation_text(compiled)
    assert [line for line in text.splitlines() if len(line) > 120 and "^" not in line and "help:" not in line] == []
    places = re.findall(r"^  (\d+):(\d+) ", text, re.MULTILINE)
    for line, column in places:
        assert compiled.file.line_text(int(line))[int(column) - 1 :].strip()


@every_source
def test_module_holds_what_the_explanation_says(case: Case) -> None:
    compiled = _compiled(case)
    kernels: Any = compiled.metadata["kernels"]
    for each in json.loads(explanation_document([compiled]))["kernels"]:
        lines = kernels[each["kernel"]].get("tiling", [])
        assert bool(lines) == each["asked"]
        if each["asked"]:
            said = " ".join(" ".join(line.split()) for line in lines)
            assert all(" ".join(remark["text"].split()) in said for remark in each["remarks"])


def test_page_shows_what_is_printed(expect_file: Callable[[Path, str], None]) -> None:
    """Each kernel of the page is followed by its explanation; `--bless` writes them."""
    page = TESTS.parent / "docs" / "tiling.md"
    expect_file(page, re.sub(SHOWN, lambda found: _shown(*found.groups()), page.read_text(encoding="utf-8")))


SHOWN = re.compile(r"(```rust\n(#\[kernel.*?)```\n)(.*?```text\n).*?(?=```)", re.DOTALL)


def _shown(block: str, source: str, between: str) -> str:
    name = re.search(r"fn (\w+)", source)
    assert name is not None
    compiled = compile_source(source, name=f"{name[1].rpartition('_')[2]}.tk")
    assert compiled.checked is not None, [d.message() for d in compiled.diagnostics]
    return block + between + explanation_text(compiled)


def _compiled(case: Case) -> Compiled:
    compiled = compile_source(case.text, name=case.path.name, options=case.options)
    assert compiled.checked is not None, [d.message() for d in compiled.diagnostics]
    return compiled
