"""Did-you-mean: which candidate a misspelt name stands for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teenyc.diagnostics.suggest import closest, edits

SCOPE = ["scale", "n_ctx_q", "n_ctx_k", "HEAD_DIM", "acc", "q_ptr", "k_ptr", "maximum", "minimum"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("scal", "scale"),  # deletion
        ("sscale", "scale"),  # insertion
        ("scsle", "scale"),  # replacement
        ("scael", "scale"),  # swap of neighbours
        ("acs", "acc"),
        ("cac", "acc"),
        ("head_dim", "HEAD_DIM"),
        ("HEADDIM", "HEAD_DIM"),
        ("head_dmi", "HEAD_DIM"),
        ("n_ctx", None),  # two away from two names, with one edit for five characters
        ("maxium", "maximum"),
        ("unrelated", None),
        ("x", None),
        ("", None),
        ("z" * 100_000, None),
    ],
)
def test_closest(name: str, expected: str | None) -> None:
    assert closest(name, SCOPE) == expected


def test_a_candidate_that_differs_in_case_only_wins() -> None:
    assert closest("block", ["blocks", "clock", "BLOCK"]) == "BLOCK"


def test_equal_case_decides_between_equally_close_names() -> None:
    assert closest("rows", ["ROW", "row"]) == "row"


def test_the_order_of_candidates_does_not_matter() -> None:
    assert (
        closest("q_pt", ["q_ptr", "k_pt", "q_pts"]) == closest("q_pt", {"q_pts": 1, "k_pt": 2, "q_ptr": 3}) == "q_ptr"
    )


def test_long_names_are_compared_by_case_only() -> None:
    assert closest("n" * 100_000, ["N" * 100_000, "n" * 99_999]) == "N" * 100_000


def test_the_name_itself_is_no_suggestion() -> None:
    assert closest("scale", ["scale"]) is None


def test_no_candidates() -> None:
    assert closest("scale", []) is None


@pytest.mark.parametrize(
    ("left", "right", "distance"),
    [("", "", 0), ("ab", "", 2), ("ab", "ba", 1), ("abc", "cab", 2), ("kitten", "sitting", 3), ("abcd", "acbd", 1)],
)
def test_edits(left: str, right: str, distance: int) -> None:
    assert edits(left, right) == edits(right, left) == distance


@given(st.text("abc", max_size=7), st.text("abc", max_size=7), st.integers(0, 4))
def test_edits_are_exact_up_to_the_limit(left: str, right: str, limit: int) -> None:
    assert min(edits(left, right, limit), limit + 1) == min(edits(left, right), limit + 1)


@given(st.text("abAB_", max_size=8), st.lists(st.text("abAB_", max_size=8), max_size=6))
def test_an_answer_is_a_candidate_within_reach(name: str, candidates: list[str]) -> None:
    answer = closest(name, candidates)
    if answer is not None:
        assert answer in candidates
        assert answer != name
        assert edits(name.casefold(), answer.casefold()) <= max(1, len(name) // 3)
