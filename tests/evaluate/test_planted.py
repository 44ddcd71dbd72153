"""The sanitizer finds each planted fault at its line with its code, once and nothing else, and in its twin nothing."""

from __future__ import annotations

from collections import Counter

import pytest
from planting import PLANTS, UNDEFINED, Plant

IDS = [f"{plant.topic}/{plant.path.stem}" for plant in PLANTS]


@pytest.mark.parametrize("plant", PLANTS, ids=IDS)
def test_a_planted_fault_is_found(plant: Plant) -> None:
    assert plant.due
    assert plant.found("planted") == plant.due


@pytest.mark.parametrize("plant", PLANTS, ids=IDS)
def test_its_twin_is_right(plant: Plant) -> None:
    assert plant.found("right") == Counter()


@pytest.mark.parametrize("plant", [p for p in PLANTS if p.topic == "left_out"], ids=lambda p: p.path.stem)
def test_the_checker_knows_of_left_out_lanes_before(plant: Plant) -> None:
    compiled = plant.checked()
    assert compiled.checked is None
    assert {d.code for d in compiled.diagnostics if d.code.startswith("E")} <= set(UNDEFINED)


def test_every_file_says_what_it_shows() -> None:
    assert all(p.text.startswith("// ") for p in PLANTS)
    assert len(PLANTS) >= 60
