"""Products of matrices over a `D: Num`: integers wrap in their width, floats add up in f32 or f64."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import teenyc

CASE = Path(__file__).parents[1] / "golden" / "dot_of_numbers.tk"
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_wrap(device: str, dtype: torch.dtype) -> None:
    bounds = torch.iinfo(dtype)
    low, high = max(bounds.min, -(2**20)), min(bounds.max, 2**20)
    x, y = (torch.randint(low, high + 1, (2, 16, 16)) for _ in range(2))
    z = torch.zeros(2, 16, 16, dtype=dtype, device=device)
    teenyc.load(CASE).DotOfNumbers(n=16)[(2,)](x.to(dtype).to(device), y.to(dtype).to(device), z)
    assert torch.equal(z.cpu(), (2 * (x @ y)).to(dtype))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
def test_floats_are_multiplied_as_matrices(device: str, dtype: torch.dtype) -> None:
    x, y = (torch.randn(2, 16, 16, dtype=dtype) for _ in range(2))
    z = torch.zeros_like(x, device=device)
    teenyc.load(CASE).DotOfNumbers(n=16)[(2,)](x.to(device), y.to(device), z)
    error = {torch.float16: 1e-3, torch.float32: 1e-6, torch.float64: 1e-14}[dtype]
    expected = 2 * (x.double() @ y.double())
    assert float((z.cpu().double() - expected).norm() / expected.norm()) < error
