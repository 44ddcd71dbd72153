"""On a GPU: the flagship against float64 by every way to launch it, at odd sizes and every head size; limits of grids.

The cases of `test_flash_attn2.py` and `test_functional.py` also run on a GPU where there is one; these are those that
would take the interpreter too long, or that only hardware can show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from attention import attention, relative_error
from memory import Guarded

import teenyc
from teenyc.functional import flash_attention2
from teenyc.resources import kernels_directory

pytestmark = pytest.mark.gpu

BUNDLED = kernels_directory() / "flash_attn2.tk"
RUST_FORM = Path(__file__).parents[1] / "golden" / "rust_form.tk"
BH = 3

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12, torch.float16: 2e-3, torch.bfloat16: 1e-2}
SIZES = [(n_q, n_k) for n_q in (1, 7, 77) for n_k in (1, 7, 77)]
dtypes = pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d).removeprefix("torch."))


@dataclass(frozen=True)
class Given:
    """The inputs of one attention over `[BH, N, D]`."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    do: torch.Tensor
    scale: float


@pytest.fixture(scope="module")
def bundled() -> ModuleType:
    return teenyc.load(BUNDLED)


def by_plain_kernels(module: ModuleType, given: Given) -> dict[str, torch.Tensor]:
    """Each kernel under its own name, launched as in Triton: the constant goes by keyword."""
    forward, backward_dq, backward_dkv = (
        _Plain(getattr(module, f"flash_attention2_{name}"), given.q.shape[-1])
        for name in ("forward", "backward_dq", "backward_dkv")
    )
    return _launched(forward, backward_dq, backward_dkv, given)


def by_op(module: ModuleType, given: Given) -> dict[str, torch.Tensor]:
    """The fields of the Op class."""
    op = module.FlashAttention2Op(head_dim=given.q.shape[-1])
    return _launched(op.forward, op.backward_dq, op.backward_dkv, given)


def by_functional(module: ModuleType, given: Given) -> dict[str, torch.Tensor]:
    """The torch operator and its gradients."""
    q, k, v = (x.detach().requires_grad_() for x in (given.q, given.k, given.v))
    o = flash_attention2(q, k, v, given.scale)
    dq, dk, dv = torch.autograd.grad(o, (q, k, v), given.do)
    return {"o": o.detach(), "dq": dq, "dk": dk, "dv": dv}


forms = pytest.mark.parametrize("form", [by_plain_kernels, by_op, by_functional], ids=["plain", "op", "functional"])
Form = Callable[[ModuleType, Given], dict[str, torch.Tensor]]


@forms
@dtypes
@pytest.mark.parametrize(("n_q", "n_k"), SIZES)
def test_odd_sizes(bundled: ModuleType, device: str, form: Form, dtype: torch.dtype, n_q: int, n_k: int) -> None:
    _check(bundled, form, _given(n_q, n_k, 64, dtype, device))


@forms
@dtypes
@pytest.mark.parametrize("head_dim", [16, 32, 64, 80, 96, 112, 128, 256])
def test_head_dims(bundled: ModuleType, device: str, form: Form, dtype: torch.dtype, head_dim: int) -> None:
    _check(bundled, form, _given(77, 33, head_dim, dtype, device))


def test_two_runs_give_the_same_bits(bundled: ModuleType, device: str) -> None:
    given = _given(77, 200, 64, torch.bfloat16, device)
    first, second = by_op(bundled, given), by_op(bundled, given)
    assert all(torch.equal(x, second[part]) for part, x in first.items())


def test_the_rust_form_runs(device: str) -> None:
    module, n = teenyc.load(RUST_FORM), 100
    x, y = torch.randn(n, device=device), Guarded((n,), torch.float32, device)
    module.scale_vector[(2,)](x, y.tensor, n, 0.5, BLOCK=64)
    assert torch.equal(y.check(), x * 0.5)


over_limits = pytest.mark.parametrize("grid", [(1, 65_536), (1, 1, 65_536), (2**31, 1)], ids=["y", "z", "x"])


@over_limits
def test_a_grid_over_the_limits_raises_through_the_op(bundled: ModuleType, device: str, grid: tuple[int, ...]) -> None:
    launch = bundled.FlashAttention2Op(head_dim=16).forward[grid]
    with pytest.raises(ValueError, match=f"programs along {'xyz'[grid.index(max(grid))]}"):
        launch(*_forward_arguments(65_536, device))


@over_limits
def test_a_grid_over_the_limits_raises_by_the_plain_kernel(
    bundled: ModuleType, device: str, grid: tuple[int, ...]
) -> None:
    arguments = _forward_arguments(65_536, device)
    with pytest.raises((RuntimeError, OverflowError)):
        bundled.flash_attention2_forward[(*grid, 1)[:3]](*arguments, HEAD_DIM=16)
    torch.cuda.synchronize()
    assert bool(arguments[3].isnan().all())


def test_the_operator_takes_more_heads_than_a_grid(device: str) -> None:
    q, k, v = (torch.randn((65_600, n, 16), device=device) for n in (2, 3, 3))
    expected = torch.softmax(q.double() @ k.double().mT * 0.25, dim=-1) @ v.double()
    assert relative_error(flash_attention2(q, k, v), expected) < TOLERANCE[torch.float32]


class _Plain:
    def __init__(self, kernel: Any, head_dim: int) -> None:
        self.kernel, self.head_dim = kernel, head_dim

    def __getitem__(self, grid: tuple[int, ...]) -> Any:
        return lambda *arguments: self.kernel[(*grid, 1)](*arguments, HEAD_DIM=self.head_dim)


def _launched(forward: Any, backward_dq: Any, backward_dkv: Any, given: Given) -> dict[str, torch.Tensor]:
    """Runs the three kernels into tensors full of NaN, between canaries."""
    q, k, v, do, scale = given.q, given.k, given.v, given.do, given.scale
    (bh, n_q, _), n_k = q.shape, k.shape[1]
    o, dq = (Guarded(tuple(q.shape), q.dtype, str(q.device)) for _ in range(2))
    dk, dv = (Guarded(tuple(k.shape), q.dtype, str(q.device)) for _ in range(2))
    l = Guarded((bh, n_q), torch.promote_types(q.dtype, torch.float32), str(q.device))
    forward[(n_q, bh)](q, k, v, o.tensor, l.tensor, n_q, n_k, scale)
    backward_dq[(n_q, bh)](q, k, v, o.tensor, do, l.tensor, dq.tensor, n_q, n_k, scale)
    backward_dkv[(n_k, bh)](q, k, v, o.tensor, do, l.tensor, dk.tensor, dv.tensor, n_q, n_k, scale)
    return {part: x.check() for part, x in {"o": o, "l": l, "dq": dq, "dk": dk, "dv": dv}.items()}


def _forward_arguments(heads: int, device: str) -> tuple[Any, ...]:
    """Arguments of the forward kernel for heads of one row, with NaN in the outputs."""
    q, k, v = (torch.ones((heads, 1, 16), device=device) for _ in range(3))
    return q, k, v, torch.full_like(q, float("nan")), torch.empty((heads, 1), device=device), 1, 1, 0.25


def _given(n_q: int, n_k: int, head_dim: int, dtype: torch.dtype, device: str) -> Given:
    generator = torch.Generator().manual_seed(n_q * 1000 + n_k)
    q, k, v, do = (
        torch.randn((BH, n, head_dim), generator=generator, dtype=torch.float64).to(device, dtype)
        for n in (n_q, n_k, n_k, n_q)
    )
    return Given(q, k, v, do, head_dim**-0.5)


def _check(module: ModuleType, form: Form, given: Given) -> None:
    """Compares with float64; gradients by the size of all three, since with one key `dq` is zero."""
    got = form(module, given)
    expected = attention(given.q, given.k, given.v, given.do, given.scale)
    tolerance = TOLERANCE[given.q.dtype]
    assert relative_error(got["o"], expected.o) < tolerance
    if "l" in got:
        assert relative_error(got["l"], expected.l) < tolerance
    size = expected.dq.norm() + expected.dk.norm() + expected.dv.norm()
    for part in ("dq", "dk", "dv"):
        assert float((got[part].double() - getattr(expected, part)).norm() / size) < tolerance, part
