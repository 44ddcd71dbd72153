"""Planted faults: no faulty access is said to be proven, and where it is guarded a launch with these sizes raises.

Each case calls its kernel as a checked launch would let it, and the sanitizer must find the fault.
"""

from __future__ import annotations

import re

import pytest
from cases import Case, case_id, cases
from launches import Call, call_of, checked, faults

from teenyc.safety.verdicts import GUARDED, PROVEN, AccessSafety, KernelSafety, Verdict

CASES = cases("safety/faults")
CODES = {"E0711": "bounds", "E0713": "bounds", "E0715": "race"}


def _marked(case: Case) -> set[tuple[int, str]]:
    """The faults by line: `//~ bounds race`."""
    lines = enumerate(case.text.splitlines(), start=1)
    return {(n, kind) for n, line in lines if (m := re.search(r"//~ (.*)$", line)) for kind in m[1].split()}


def _judged(case: Case) -> tuple[Call, KernelSafety, list[tuple[int, AccessSafety]]]:
    compiled = checked(case.text, case.path.name)
    assert compiled.checked is not None
    (kernel,) = compiled.checked.kernels
    (safety,) = compiled.safety()
    lines = [(compiled.file.position(access.span.start).line, access) for access in safety.accesses]
    return call_of(kernel, case.directive("call")), safety, lines


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_no_fault_is_proven_to_be_none(case: Case) -> None:
    call, _, accesses = _judged(case)
    marked = _marked(case)
    assert marked
    assert call.is_legal(), "a checked launch refuses it"
    for line, kind in marked:
        verdicts = [v for at, access in accesses if at == line for v in _verdicts(access, kind)]
        assert verdicts, f"no verdict on line {line}"
        assert any(not _is_right(verdict, call) for verdict in verdicts), f"line {line}: {verdicts}"


def _verdicts(access: AccessSafety, kind: str) -> list[Verdict]:
    found = access.bounds if kind == "bounds" else access.race
    return [] if found is None else [found]


def _is_right(verdict: Verdict, call: Call) -> bool:
    """Whether a verdict says that the call is right."""
    if verdict.status == PROVEN:
        return not verdict.assumed
    return verdict.status == GUARDED and not verdict.assumed and call.allows(verdict.guards)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_the_sanitizer_finds_each_fault(case: Case) -> None:
    call, _, _ = _judged(case)
    compiled = checked(case.text, case.path.name)
    lines = {(compiled.file.position(at).line, CODES.get(code, code)) for code, at in faults(case.path, call)}
    assert _marked(case) <= lines


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_case_says_what_it_shows(case: Case) -> None:
    assert case.summary
    assert case.directive("call")


def test_there_are_many() -> None:
    assert len(CASES) >= 30
