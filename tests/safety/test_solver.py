"""The optional solver: it proves what products of unknowns hide, and nothing that is wrong."""

from __future__ import annotations

import pytest
from launches import checked

from teenyc.safety.verdicts import PROVEN

SQUARES = """
#[kernel(grid = [1], shape(x = [n]))]
fn squares(x: Pointer<f32>, n: i32, i: i32) {
    let at = i * i;
    store(x + at, 1.0, mask = at < n);
}

#[kernel(grid = [1], shape(x = [n]))]
fn one_too_many(x: Pointer<f32>, n: i32, i: i32) {
    let at = i * i;
    store(x + at, 1.0, mask = at <= n);
}
"""


def test_without_it_products_of_unknowns_are_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("teenyc.safety.solver.is_installed", lambda: False)
    right, wrong = checked(SQUARES, "squares.tk").safety()
    assert right.accesses[0].bounds.status != PROVEN
    assert wrong.accesses[0].bounds.status != PROVEN


def test_it_proves_what_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("z3")
    right, wrong = checked(SQUARES, "squares.tk").safety()
    assert right.accesses[0].bounds.status == PROVEN
    assert wrong.accesses[0].bounds.status != PROVEN
