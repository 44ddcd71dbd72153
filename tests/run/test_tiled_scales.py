"""Blocked attention for scales of any sign, also none: extrema are taken before scaling, exponents are folded."""

from __future__ import annotations

import re

import pytest
import torch
from attention import attention, relative_error
from memory import Guarded
from tiles import Tiles, tiles

from teenyc.resources import kernels_directory

TOLERANCE = {torch.float32: 2e-6, torch.float64: 1e-13, torch.float16: 2e-3}
HEAD_DIM = 16


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Tiles:
    text = (kernels_directory() / "flash_attn2.tk").read_text()
    text = re.sub(r"#\[kernel\((?!.*tile)", "#[kernel(tile, ", text)
    return tiles(text, tmp_path_factory.mktemp("scales"), "attention_of_scales")


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d).removeprefix("torch."))
@pytest.mark.parametrize("scale", [0.25, -0.75, 0.0, 8.0])
def test_attention(kernels: Tiles, device: str, dtype: torch.dtype, scale: float) -> None:
    n_q, n_k = 17, 40
    q, do = (torch.randn(1, n_q, HEAD_DIM, dtype=torch.float64).to(device, dtype) for _ in range(2))
    k, v = (torch.randn(1, n_k, HEAD_DIM, dtype=torch.float64).to(device, dtype) for _ in range(2))
    expected = attention(q, k, v, do, scale)
    l_dtype = torch.float64 if dtype == torch.float64 else torch.float32
    o, l = Guarded((1, n_q, HEAD_DIM), dtype, device), Guarded((1, n_q), l_dtype, device)
    sizes = {"HEAD_DIM": HEAD_DIM, "BLOCK_M": 16, "BLOCK_N": 32}
    kernels.blocked("flash_attention2_forward", (n_q, 1), q, k, v, o.tensor, l.tensor, n_q, n_k, scale, **sizes)
    limit = TOLERANCE[dtype] * (1 + abs(scale))
    assert relative_error(o.check(), expected.o) < limit
    assert relative_error(l.check(), expected.l) < limit
