"""`late = next; next = f(next)` in a loop: on a GPU, Triton alone would keep `late` as it was before the loop."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import teenyc

CASES = Path(__file__).parents[1] / "passes" / "keep-late-values"


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_scalar_is_late_by_one(device: str, n: int) -> None:
    x = torch.tensor([2, 7], dtype=torch.int32, device=device)
    teenyc.load(CASES / "late_by_one.tk").LateByOne()[(2,)](x, n)
    assert x.tolist() == [start * 3 ** max(n - 1, 0) for start in (2, 7)]


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_tensor_is_late_by_one(device: str, n: int) -> None:
    start = torch.randn(2, 16)
    x = start.clone().to(device)
    teenyc.load(CASES / "while_and_swap.tk").WhileAndSwap(n=16)[(2,)](x, n)
    assert torch.equal(x.cpu(), start * 2.0 ** max(n - 1, 0))


@pytest.mark.parametrize(("n", "expected"), [(0, 0), (1, 1), (10, 55)])
def test_different_starts_stay_copies(device: str, n: int, expected: int) -> None:
    x = torch.zeros(1, dtype=torch.int32, device=device)
    teenyc.load(CASES / "other_starts.tk").OtherStarts()[(1,)](x, n)
    assert x.item() == expected
