"""Reductions that a loop makes something else of than a sum that goes on: on a GPU, Triton alone would sum them up."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import teenyc

CASES = Path(__file__).parents[1] / "passes" / "keep-reductions"


@pytest.mark.parametrize("blocks", [1, 2, 5])
@pytest.mark.parametrize("name", ["taken_away", "goes_on"])
def test_reductions_along_rows(device: str, name: str, blocks: int) -> None:
    m, n = 16, 128
    x = torch.randn(m, blocks * n, dtype=torch.float64)
    k = torch.randint(-9, 9, (m, blocks * n), dtype=torch.int32)
    y = torch.full((m,), float("nan"), device=device)
    given = (x.float().to(device), *([k.to(device)] if name == "goes_on" else []))
    kernel = getattr(teenyc.load(CASES / f"{name}.tk"), name)
    kernel[(1,)](*given, y, blocks * n, M=m, N=n)
    x = x.float().double().reshape(m, blocks, n)
    if name == "taken_away":
        expected = -x.sum((1, 2)) + x.sum(2).amax(1) + 2 * x[:, -1].sum(1)
    else:
        columns, whole = -x.sum((0, 1, 2)), -x[0].sum()
        weights = 0.5 ** torch.arange(blocks - 1, -1, -1, dtype=torch.float64)
        half = (x * x).sum(2) @ weights
        expected = half + x.sum((1, 2)) + x.amin((1, 2)) - k.sum(1) + columns + whole
    torch.testing.assert_close(y.cpu().double(), expected, rtol=1e-5, atol=1e-3)
