"""The bundled attention in blocks: the three kernels against float64 for heads of several sizes, and gradcheck."""

from __future__ import annotations

from types import ModuleType

import pytest
import torch
from attention import attention, relative_error
from conftest import INTERPRETED
from memory import Guarded

import teenyc
from teenyc.functional import flash_attention2
from teenyc.resources import kernels_directory

TOLERANCE = {torch.float32: 2e-6, torch.float64: 1e-13, torch.float16: 2e-3}
NAMES = ("flash_attention2_forward", "flash_attention2_backward_dq", "flash_attention2_backward_dkv")


@pytest.fixture(scope="module")
def bundled() -> ModuleType:
    return teenyc.load(kernels_directory() / "flash_attn2.tk")


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d).removeprefix("torch."))
@pytest.mark.parametrize("head_dim", [16, 80, 96])
@pytest.mark.parametrize(("n_q", "n_k"), [(1, 100), (15, 17), (17, 1), (100, 15)])
def test_kernels(bundled: ModuleType, device: str, dtype: torch.dtype, head_dim: int, n_q: int, n_k: int) -> None:
    q, do = (torch.randn(2, n_q, head_dim, dtype=torch.float64).to(device, dtype) for _ in range(2))
    k, v = (torch.randn(2, n_k, head_dim, dtype=torch.float64).to(device, dtype) for _ in range(2))
    scale = 0.125
    expected = attention(q, k, v, do, scale)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    o, l = Guarded((2, n_q, head_dim), dtype, device), Guarded((2, n_q), wide, device)
    dq, dk, dv = (Guarded((2, n, head_dim), dtype, device) for n in (n_q, n_k, n_k))
    op, sizes = bundled.FlashAttention2Op(head_dim=head_dim), (n_q, n_k, scale)
    op.forward[(n_q, 2)](q, k, v, o.tensor, l.tensor, *sizes)
    given = (q, k, v, o.check(), do, l.check())
    op.backward_dq[(n_q, 2)](*given, dq.tensor, *sizes)
    op.backward_dkv[(n_k, 2)](*given, dk.tensor, dv.tensor, *sizes)
    assert all(took_blocks(bundled, name) for name in NAMES)
    for name, got in (("o", o), ("l", l), ("dq", dq), ("dk", dk), ("dv", dv)):
        wanted = getattr(expected, name)
        # One row's gradient of scores is a difference of equal numbers where there is one key.
        error = (got.check().double() - wanted).norm() / max(float(wanted.norm()), float(do.double().norm()))
        assert error < 4 * TOLERANCE[dtype], f"{name}: {relative_error(got.tensor, wanted)}"


def took_blocks(module: ModuleType, name: str) -> bool:
    """Whether all launches of a kernel so far took blocks, and there were some; on a GPU a table may know better."""
    chosen = getattr(module, name).chosen()
    return not INTERPRETED or (bool(chosen) and all(config is not None for config in chosen.values()))


@pytest.mark.parametrize(("n_q", "n_k"), [(17, 3), (2, 34)])
def test_gradcheck(bundled: ModuleType, device: str, n_q: int, n_k: int) -> None:
    shapes = ((1, n_q, 16), (1, n_k, 16), (1, n_k, 16))
    tensors = tuple(torch.randn(s, dtype=torch.float64, device=device, requires_grad=True) for s in shapes)
    assert torch.autograd.gradcheck(lambda q, k, v: flash_attention2(q, k, v, 0.25), tensors, fast_mode=True)
    assert all(took_blocks(bundled, name) for name in NAMES)
