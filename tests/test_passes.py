"""Passes: each case in `passes/<pass>/` owns the typed IR after that pass, as `--emit-after` prints it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cases import Case, case_id, cases, orphans

from teenyc import Compiled, compile_source
from teenyc.driver import run_passes
from teenyc.ir.printer import print_program
from teenyc.passes import PIPELINE
from teenyc.record import replace

CASES = cases("passes")


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_ir_after_the_pass(case: Case, expect_file: Callable[[Path, str], None]) -> None:
    compiled = compile_source(case.text, name=case.path.name, options=case.options)
    assert compiled.source is not None, [d.message() for d in compiled.diagnostics]
    expect_file(case.expected(".ir"), shown(compiled, case))


def shown(compiled: Compiled, case: Case) -> str:
    """The IR after a pass. Kernels in which programs share a loop are shown by cases of just these."""
    assert compiled.checked is not None
    program = run_passes(compiled.checked, until=case.path.parent.name)
    if not case.path.stem.startswith("parts_"):
        kept = (kernel for kernel in program.kernels if kernel.tiling is None or kernel.tiling.split is None)
        program = replace(program, kernels=tuple(kept))
    return print_program(program)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_case_says_what_it_shows(case: Case) -> None:
    assert case.summary


def test_every_file_belongs_to_a_case() -> None:
    assert not orphans("passes", ".ir")


@pytest.mark.parametrize("each", PIPELINE, ids=lambda each: each.name)
def test_every_pass_has_a_case(each: object) -> None:
    assert any(case.path.parent.name == each.name for case in CASES)
