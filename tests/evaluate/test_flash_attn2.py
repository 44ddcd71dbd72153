"""The bundled attention by the runner, against float64: as written and in blocks, in every dtype, bf16 among them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from attention import attention, relative_error
from by_runner import load
from cases import TESTS

SOURCE = TESTS.parent / "kernels" / "flash_attn2.tk"
TOLERANCE = {torch.float32: 3e-6, torch.float64: 1e-13, torch.float16: 3e-3, torch.bfloat16: 2e-2}
dtypes = pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d).removeprefix("torch."))
sizes = pytest.mark.parametrize(("n_q", "n_k", "d"), [(1, 1, 16), (33, 20, 16), (16, 64, 40), (5, 17, 8)])
SCALE = 0.3


@pytest.fixture(scope="module")
def kernels() -> Any:
    return load(SOURCE)


def given(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64).to(dtype)


def launches(kernels: Any, name: str, d: int, rows: int, bh: int) -> list[Any]:
    """The kernel as written, and in blocks."""
    kernel = getattr(kernels, name)
    forms = kernel.plain[(rows, bh)], kernel[(rows, bh)]
    return [lambda *given, form=form: form(*given, HEAD_DIM=d) for form in forms]


@dtypes
@sizes
def test_attention_and_its_gradients(kernels: Any, dtype: torch.dtype, n_q: int, n_k: int, d: int) -> None:
    bh, wide = 2, torch.float64 if dtype == torch.float64 else torch.float32
    q, k, v, d_o = (
        given(dtype, bh, n_q, d),
        given(dtype, bh, n_k, d),
        given(dtype, bh, n_k, d),
        given(dtype, bh, n_q, d),
    )
    expected = attention(q, k, v, d_o, SCALE)
    numbers = (n_q, n_k, SCALE)
    for forward, dq_pass, dkv_pass in zip(
        launches(kernels, "flash_attention2_forward", d, n_q, bh),
        launches(kernels, "flash_attention2_backward_dq", d, n_q, bh),
        launches(kernels, "flash_attention2_backward_dkv", d, n_k, bh),
        strict=True,
    ):
        o, log_sums = torch.empty_like(q), torch.empty(bh, n_q, dtype=wide)
        dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
        forward(q, k, v, o, log_sums, *numbers)
        dq_pass(q, k, v, o, d_o, log_sums, dq, *numbers)
        dkv_pass(q, k, v, o, d_o, log_sums, dk, dv, *numbers)
        for got, name in ((o, "o"), (dq, "dq"), (dk, "dk"), (dv, "dv")):
            wanted = getattr(expected, name)
            if wanted.numel() and wanted.norm() > 1e-12:
                assert relative_error(got, wanted) < TOLERANCE[dtype], name
            assert torch.isfinite(got).all()
