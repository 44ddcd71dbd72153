"""Blocked attention for scales of any sign, also none: extrema are taken before scaling, exponents are folded."""

from __future__ import annotations

import re
from types import ModuleType

import pytest
import torch
from attention import attention, relative_error
from blocked import blocked
from meaning import module_of
from memory import Guarded

from teenyc.resources import kernels_directory

TOLERANCE = {torch.float32: 2e-6, torch.float64: 1e-13, torch.float16: 2e-3}
HEAD_DIM = 16


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    text = (kernels_directory() / "flash_attn2.tk").read_text()
    text = re.sub(r"#\[kernel\((?!.*tile)", "#[kernel(tile, ", text)
    return module_of(text, tmp_path_factory.mktemp("scales"), "attention_of_scales")


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d).removeprefix("torch."))
@pytest.mark.parametrize("scale", [0.25, -0.75, 0.0, 8.0])
def test_attention(kernels: ModuleType, device: str, dtype: torch.dtype, scale: float) -> None:
    n_q, n_k = 17, 40
    q, do = (torch.randn(1, n_q, HEAD_DIM, dtype=torch.float64).to(device, dtype) for _ in range(2))
    k, v = (torch.randn(1, n_k, HEAD_DIM, dtype=torch.float64).to(device, dtype) for _ in range(2))
    expected = attention(q, k, v, do, scale)
    l_dtype = torch.float64 if dtype == torch.float64 else torch.float32
    o, l = Guarded((1, n_q, HEAD_DIM), dtype, device), Guarded((1, n_q), l_dtype, device)
    arguments = (q, k, v, o.tensor, l.tensor, n_q, n_k, scale)
    blocked(kernels.flash_attention2_forward, (n_q, 1), *arguments, HEAD_DIM=HEAD_DIM)
    limit = TOLERANCE[dtype] * (1 + abs(scale))
    assert relative_error(o.check(), expected.o) < limit
    assert relative_error(l.check(), expected.l) < limit
