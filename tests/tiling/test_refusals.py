"""Every kind of refusal is a sentence that a plan shows, with the place and what would make it otherwise."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from teenyc import compile_source
from teenyc.cli.tiling import explanation_text
from teenyc.driver import run_passes
from teenyc.ir import expand
from teenyc.tiling import broken, maps, recurrences, refusals
from teenyc.tiling.plan import Refusal

PLANS = Path(__file__).parents[1] / "plans"
SOURCES = sorted(PLANS.glob("*.tk"))

UNREACHED = {
    "bounds_by_row": "bounds that differ are those of all rows, each under a condition",
    "branch_by_row": "a branch that differs within a block is a selection when blocks are made",
    "far_step": "a step that is no number becomes a count of iterations",
    "return_of_all": "where an index is taken apart, what follows a return is masked",
    "function_call": "only a function of thousands of statements is not written out: a test below",
}
"""Kinds that no case shows, and why; they are kept so that what is not foreseen stays plain."""

ELSEWHERE = {
    broken.why: (
        "is computed from its last value by more than",
        "is taken from itself: over the reals",
        "is multiplied by `.+` in each iteration",
        "is brought to the new maximum `.+`, and `.+` is not",
        "is set anew in each iteration",
        "what is added to `.+` depends on `.+`, which the loop carries",
    ),
    maps: (
        "in the loop may go to one address in several iterations",
        "in the loop goes to the same address in every iteration",
        "its strides may let them meet",
        "in the loop changes what `.+` (changes|reads)",
        "in the loop may go to one address in different iterations",
    ),
    recurrences: ("what is stored in the loop depends on `.+`, which each iteration changes",),
}
"""What other modules say, by how it reads."""


def kinds() -> dict[str, Callable[..., Refusal]]:
    found = inspect.getmembers(refusals, inspect.isfunction)
    return {name: each for name, each in found if not name.startswith("_")}


def test_every_kind_is_shown_by_a_plan_with_its_place_and_a_help(monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, set[Refusal]] = {name: set() for name in kinds()}

    def noted(name: str, kind: Callable[..., Refusal]) -> Callable[..., Refusal]:
        def note(*facts: object) -> Refusal:
            refusal = kind(*facts)
            made[name].add(refusal)
            return refusal

        return note

    for name, kind in kinds().items():
        monkeypatch.setattr(refusals, name, noted(name, kind))
    for path in SOURCES:
        explanation_text(compile_source(path.read_text(), name=path.name))
    shown = " ".join(" ".join(path.with_suffix(".plan").read_text().split()) for path in SOURCES)
    for name, found in made.items():
        assert (name in UNREACHED) != any(each.reason in shown and each.help in shown for each in found), name
        assert all(each.help and each.span.end > each.span.start for each in found), name


@pytest.mark.parametrize("text", [text for texts in ELSEWHERE.values() for text in texts])
def test_what_other_modules_say_is_shown_by_a_plan(text: str) -> None:
    assert any(re.search(text, " ".join(path.with_suffix(".plan").read_text().split())) for path in SOURCES)


def test_a_long_function_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand, "MOST", 3)
    source = """
fn scaled(x: f32) -> f32 { let y = x * 2.0; let z = y + x; z * y }

#[kernel(tile(row))]
fn k(x: Pointer<f32>, y: Pointer<f32>) {
    let row = program_id(0);
    store(y + row, scaled(load(x + row)));
}
"""
    compiled = compile_source(source)
    assert compiled.checked is not None
    assert run_passes(compiled.checked, until="tile").kernels[0].certificate is not None
    assert "`scaled` is too long to be written out in the kernel" in explanation_text(compiled)
