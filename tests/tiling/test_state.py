"""Blocked kernels whose state is kept as tensors of equal elements, as the Rust file of FlashAttention-2 keeps it."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
import torch
from attention import attention, relative_error
from blocked import blocked
from meaning import module_of
from memory import Guarded

RUST = Path(__file__).parents[3] / "shared" / "seed" / "flash_attn2.rs"
TOLERANCE = {torch.float32: 2e-6, torch.float64: 1e-13, torch.float16: 2e-3}
BH, HEAD_DIM = 2, 32


@pytest.fixture(scope="module")
def rust(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    if not RUST.exists():
        pytest.skip("the Rust file of these kernels is not beside the checkout")
    text = re.sub(r"^#\[kernel\]", "#[kernel(tile)]", RUST.read_text(), flags=re.MULTILINE)
    return module_of(text, tmp_path_factory.mktemp("rust"), "rust_tiled", ".rs")


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d).removeprefix("torch."))
@pytest.mark.parametrize(("n_q", "n_k"), [(1, 1), (15, 17), (16, 100), (100, 16), (64, 64)])
def test_attention_of_the_rust_file(rust: ModuleType, device: str, dtype: torch.dtype, n_q: int, n_k: int) -> None:
    q, do = (torch.randn(BH, n_q, HEAD_DIM, dtype=torch.float64).to(device, dtype) for _ in range(2))
    k, v = (torch.randn(BH, n_k, HEAD_DIM, dtype=torch.float64).to(device, dtype) for _ in range(2))
    scale = 0.1875  # of few digits: the file takes an f32
    expected = attention(q, k, v, do, scale)
    o, l = Guarded((BH, n_q, HEAD_DIM), dtype, device), Guarded((BH, n_q), dtype, device)
    dq, dk, dv = (Guarded((BH, n, HEAD_DIM), dtype, device) for n in (n_q, n_k, n_k))
    sizes = (n_q, n_k, scale)
    arguments = (q, k, v, o.tensor, l.tensor, *sizes, float("-inf"))
    blocked(rust.flash_attention2_forward, (n_q, BH), *arguments, HEAD_DIM=HEAD_DIM)
    given = (q, k, v, o.check(), do, l.check())
    blocked(rust.flash_attention2_backward_dq, (n_q, BH), *given, dq.tensor, *sizes, HEAD_DIM=HEAD_DIM)
    blocked(rust.flash_attention2_backward_dkv, (n_k, BH), *given, dk.tensor, dv.tensor, *sizes, HEAD_DIM=HEAD_DIM)
    for name, got in (("o", o), ("l", l), ("dq", dq), ("dk", dk), ("dv", dv)):
        wanted = getattr(expected, name)
        limit = TOLERANCE[dtype] * (4 if name.startswith("d") else 1)
        # One row's gradient of scores is a difference of equal numbers where there is one key.
        error = (got.check().double() - wanted).norm() / max(float(wanted.norm()), float(do.double().norm()) * 0.1)
        assert error < limit, f"{name}: {relative_error(got.tensor, wanted)}"
