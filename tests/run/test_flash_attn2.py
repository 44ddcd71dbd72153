"""The flagship's numbers against float64 attention: every dtype, odd sizes, and each way to get at the kernels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from attention import attention, relative_error
from memory import Guarded

import teenyc
from teenyc.resources import kernels_directory

BUNDLED = kernels_directory() / "flash_attn2.tk"
RUST = Path(__file__).parents[3] / "shared" / "seed" / "flash_attn2.rs"
BH = 2

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12, torch.float16: 2e-3, torch.bfloat16: 1e-2}
SIZES = [(1, 1), (2, 7), (7, 2), (16, 16), (1, 33), (33, 1), (16, 33)]
dtypes = pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d).removeprefix("torch."))


@pytest.fixture(scope="module")
def bundled() -> ModuleType:
    return teenyc.load(BUNDLED)


@pytest.fixture(scope="module")
def rust() -> ModuleType:
    if not RUST.exists():
        pytest.skip("the Rust file of these kernels is not beside the checkout")
    return teenyc.load(RUST)


@dtypes
@pytest.mark.parametrize(("n_q", "n_k"), SIZES)
def test_op_agrees_with_float64(bundled: ModuleType, device: str, dtype: torch.dtype, n_q: int, n_k: int) -> None:
    op = bundled.FlashAttention2Op(head_dim=16)
    _check(op.forward, op.backward_dq, op.backward_dkv, dtype, device, n_q, n_k, 16)


@pytest.mark.parametrize("head_dim", [1, 5, 16, 32, 64, 80, 96, 112, 128, 256])
@dtypes
def test_head_dims(bundled: ModuleType, device: str, dtype: torch.dtype, head_dim: int) -> None:
    op = bundled.FlashAttention2Op(head_dim=head_dim)
    _check(op.forward, op.backward_dq, op.backward_dkv, dtype, device, 5, 3, head_dim)


@dtypes
def test_plain_kernels(bundled: ModuleType, device: str, dtype: torch.dtype) -> None:
    names = ("flash_attention2_forward", "flash_attention2_backward_dq", "flash_attention2_backward_dkv")
    _check(*(_Plain(getattr(bundled, name), 32) for name in names), dtype, device, 7, 5, 32)


@dtypes
def test_rust_file(rust: ModuleType, device: str, dtype: torch.dtype) -> None:
    op = rust.FlashAttention2Op(head_dim=32)
    _check(op.forward, op.backward_dq, op.backward_dkv, dtype, device, 7, 5, 32, l_dtype=dtype, last=(float("-inf"),))


@pytest.mark.filterwarnings("ignore:overflow encountered in exp")  # of lanes behind the last key, which do not count
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_logits_of_great_size_give_no_nan(bundled: ModuleType, device: str, sign: float) -> None:
    op = bundled.FlashAttention2Op(head_dim=16)
    q = torch.full((1, 3, 16), 30.0, device=device)
    k = torch.full((1, 4, 16), sign * 30.0, device=device)
    v = torch.arange(64.0, device=device).view(1, 4, 16)
    o, l = torch.empty_like(q), torch.empty((1, 3), device=device)
    op.forward[(3, 1)](q, k, v, o, l, 3, 4, 1.0)
    assert relative_error(o, v.double().mean(1, keepdim=True).expand_as(o)) < 1e-6
    assert bool(torch.isfinite(l).all())


def test_an_empty_grid_does_nothing(bundled: ModuleType, device: str) -> None:
    op = bundled.FlashAttention2Op(head_dim=16)
    q, k, l = (torch.empty(shape, device=device) for shape in ((0, 3, 16), (0, 4, 16), (0, 3)))
    op.forward[(3, 0)](q, k, k, q, l, 3, 4, 1.0)


def test_a_built_file_needs_no_teenyc(tmp_path: Path) -> None:
    compiled = teenyc.compile_source(BUNDLED.read_text(encoding="utf-8"), name="flash_attn2.tk")
    assert compiled.source is not None
    (tmp_path / "flash_attn2.py").write_text(compiled.source, encoding="utf-8")
    script = Path(__file__).with_name("without_teenyc.py")
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "right\n"


def test_gradcheck(device: str) -> None:
    from teenyc.functional import flash_attention2

    generator = torch.Generator().manual_seed(3)
    q, k, v = (
        torch.randn((1, n, 16), generator=generator, dtype=torch.float64).to(device).requires_grad_() for n in (2, 3, 3)
    )
    assert torch.autograd.gradcheck(flash_attention2, (q, k, v))


class _Plain:
    """A kernel under its own name, launched as in Triton: the constant goes by keyword."""

    def __init__(self, kernel: Any, head_dim: int) -> None:
        self.kernel, self.head_dim = kernel, head_dim

    def __getitem__(self, grid: tuple[int, ...]) -> Any:
        return lambda *arguments: self.kernel[(*grid, 1)](*arguments, HEAD_DIM=self.head_dim)


def _check(
    forward: Any,
    backward_dq: Any,
    backward_dkv: Any,
    dtype: torch.dtype,
    device: str,
    n_q: int,
    n_k: int,
    head_dim: int,
    *,
    l_dtype: torch.dtype | None = None,
    last: tuple[float, ...] = (),
) -> None:
    """Runs the three kernels on random numbers; `last` holds what only the Rust form's forward kernel takes."""
    generator = torch.Generator().manual_seed(n_q * 1000 + n_k)
    q, do = (torch.randn((BH, n_q, head_dim), generator=generator).to(device, dtype) for _ in range(2))
    k, v = (torch.randn((BH, n_k, head_dim), generator=generator).to(device, dtype) for _ in range(2))
    scale = head_dim**-0.5 if dtype is not torch.float64 else 0.25  # an f32 parameter: a power of two loses nothing
    wide = torch.float64 if dtype is torch.float64 else torch.float32
    o, dq = (Guarded((BH, n_q, head_dim), dtype, device) for _ in range(2))
    dk, dv = (Guarded((BH, n_k, head_dim), dtype, device) for _ in range(2))
    l = Guarded((BH, n_q), l_dtype or wide, device)

    forward[(n_q, BH)](q, k, v, o.tensor, l.tensor, n_q, n_k, scale, *last)
    backward_dq[(n_q, BH)](q, k, v, o.tensor, do, l.tensor, dq.tensor, n_q, n_k, scale)
    backward_dkv[(n_k, BH)](q, k, v, o.tensor, do, l.tensor, dk.tensor, dv.tensor, n_q, n_k, scale)

    expected = attention(q, k, v, do, scale)
    assert relative_error(o.check(), expected.o) < TOLERANCE[dtype]
    assert relative_error(l.check(), expected.l) < TOLERANCE[dtype]
    scale_of_gradients = expected.dq.norm() + expected.dk.norm() + expected.dv.norm()
    for got, right in ((dq, expected.dq), (dk, expected.dk), (dv, expected.dv)):
        assert float((got.check().double() - right).norm() / scale_of_gradients) < TOLERANCE[dtype]
