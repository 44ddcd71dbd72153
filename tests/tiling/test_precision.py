"""Products of what a blocked kernel computes and what it loads: numbers beyond f16 survive, small ones are rounded."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
import torch
from blocked import blocked
from meaning import module_of
from memory import Guarded

KERNEL = """
#[kernel(tile{words})]
fn weighted<D: Float, const N: i32>(a: Pointer<D::Compute>, b: Pointer<D>, c: Pointer<D::Compute>, k_size: i32) {{
    let row = program_id(0);
    let lane = arange(0, N);
    let mut acc = zeros::<D>(&[N]);
    for k in 0..k_size {{
        acc += exp({sign}load(a + row * k_size + k)) * load(b + k * N + lane);
    }}
    store(c + row * N + lane, acc);
}}
"""
TOLERANCE = {torch.float16: 1e-6, torch.float32: 1e-6, torch.float64: 1e-14}


def _run(
    kernels: ModuleType, dtype: torch.dtype, device: str, k_size: int, a: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    rows, n = 17, 16
    compute = torch.float64 if dtype == torch.float64 else torch.float32
    a = a[:rows, :k_size].to(device, compute).contiguous()
    b = torch.randn(k_size, n, dtype=torch.float64).to(device, dtype)
    c = Guarded((rows, n), compute, device)
    blocked(kernels.weighted, (rows,), a, b, c.tensor, k_size, N=n)
    return c.check(), a.double(), b.double()


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d).removeprefix("torch."))
@pytest.mark.parametrize("k_size", [1, 17, 64, 100])
def test_factors_beyond_f16(tmp_path: Path, device: str, dtype: torch.dtype, k_size: int) -> None:
    kernels = module_of(KERNEL.format(words="", sign=""), tmp_path, "weighted_great")
    got, a, b = _run(kernels, dtype, device, k_size, torch.rand(17, 100, dtype=torch.float64) * 3 + 11)
    wanted = torch.exp(a) @ b
    assert float(torch.exp(a).min()) < 65504 or k_size == 1
    assert (got - wanted).norm() / wanted.norm() < TOLERANCE[dtype]


@pytest.mark.parametrize(("words", "sign"), [(", dot_operands = storage", ""), ("", "-abs")])
def test_small_factors_are_rounded_to_f16(tmp_path: Path, device: str, words: str, sign: str) -> None:
    text = KERNEL.format(words=words, sign=sign).replace(
        "-absload(a + row * k_size + k)", "-abs(load(a + row * k_size + k))"
    )
    kernels = module_of(text, tmp_path, f"weighted_{'by_leave' if words else 'small'}")
    got, a, b = _run(kernels, torch.float16, device, 100, torch.randn(17, 100, dtype=torch.float64))
    factors = torch.exp(a if words else -a.abs())
    error = (got - factors @ b).norm() / (factors @ b).norm()
    rounded = (got - factors.float().half().double() @ b).norm() / (factors @ b).norm()
    assert error < 1e-3
    assert rounded < error / 3
