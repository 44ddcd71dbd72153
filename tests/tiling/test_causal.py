"""Attention over some of the keys in blocks: causal, causal from the end, in a window; against float64."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from attention import relative_error
from blocked import blocked, plain
from meaning import module_of
from memory import Guarded

import teenyc
from teenyc.resources import kernels_directory

BUNDLED = kernels_directory() / "flash_attn2_causal.tk"
BH, HEAD_DIM, WINDOW = 2, 16, 9
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12, torch.float16: 2e-3}
SIZES = [(1, 1), (15, 16), (16, 16), (17, 40), (33, 7), (40, 17), (65, 65), (3, 70)]

Bounds = tuple[str, str]
"""Those of the loops over keys and over queries."""

KINDS: dict[str, Bounds] = {
    "causal": ("0..minimum(q_row + 1, n_ctx_k)", "k_row..n_ctx_q"),
    "from_the_end": (
        "0..minimum(q_row + 1 + n_ctx_k - n_ctx_q, n_ctx_k)",
        "maximum(0, k_row + n_ctx_q - n_ctx_k)..n_ctx_q",
    ),
    "window": (
        f"maximum(0, q_row - {WINDOW})..minimum(q_row + 1, n_ctx_k)",
        f"k_row..minimum(k_row + {WINDOW + 1}, n_ctx_q)",
    ),
}


def counts(kind: str, n_q: int, n_k: int) -> torch.Tensor:
    """Which keys count for which queries."""
    i, j = torch.arange(n_q)[:, None], torch.arange(n_k)[None, :]
    return {
        "causal": j <= i,
        "from_the_end": j <= i + n_k - n_q,
        "window": (j <= i) & (j >= i - WINDOW),
    }[kind]


@pytest.fixture(scope="module", params=KINDS)
def kernels(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ModuleType]:
    """The bundled causal kernels with the bounds of a kind."""
    kind: str = request.param
    text = BUNDLED.read_text(encoding="utf-8")
    for old, new in zip(KINDS["causal"], KINDS[kind], strict=True):
        assert f" in {old} {{" in text
        text = text.replace(f" in {old} {{", f" in {new} {{")
    return kind, module_of(text, tmp_path_factory.mktemp("causal"), kind)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # NumPy's, of lanes that do not count
@pytest.mark.parametrize("blocks", [(16, 32), (32, 16), (64, 16)], ids=str)
@pytest.mark.parametrize(("n_q", "n_k"), SIZES)
def test_blocks_agree_with_float64(
    kernels: tuple[str, ModuleType], device: str, blocks: tuple[int, int], n_q: int, n_k: int
) -> None:
    kind, module = kernels
    _check(module, _in_blocks(*blocks), kind, torch.float32, device, n_q, n_k)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d).removeprefix("torch."))
def test_every_dtype(kernels: tuple[str, ModuleType], device: str, dtype: torch.dtype) -> None:
    kind, module = kernels
    _check(module, _in_blocks(32, 16), kind, dtype, device, 50, 41)


def _in_blocks(block_m: int, block_n: int) -> Callable[..., None]:
    def launch(kernel: Any, grid: tuple[int, ...], *arguments: Any) -> None:
        blocked(kernel, grid, *arguments, BLOCK_M=block_m, BLOCK_N=block_n, HEAD_DIM=HEAD_DIM)

    return launch


def test_plain_kernels_agree_with_float64(kernels: tuple[str, ModuleType], device: str) -> None:
    kind, module = kernels

    def launch(kernel: Any, grid: tuple[int, ...], *arguments: Any) -> None:
        plain(kernel, grid, *arguments, HEAD_DIM=HEAD_DIM)

    _check(module, launch, kind, torch.float32, device, 5, 7)


def _check(
    module: ModuleType, launch: Callable[..., None], kind: str, dtype: torch.dtype, device: str, n_q: int, n_k: int
) -> None:
    """Runs the three kernels on random numbers between canaries."""
    generator = torch.Generator().manual_seed(n_q * 1000 + n_k)
    q, do = (torch.randn((BH, n_q, HEAD_DIM), generator=generator).to(device, dtype) for _ in range(2))
    k, v = (torch.randn((BH, n_k, HEAD_DIM), generator=generator).to(device, dtype) for _ in range(2))
    wide = torch.float64 if dtype is torch.float64 else torch.float32
    o, dq = (Guarded((BH, n_q, HEAD_DIM), dtype, device) for _ in range(2))
    dk, dv = (Guarded((BH, n_k, HEAD_DIM), dtype, device) for _ in range(2))
    l, scale = Guarded((BH, n_q), wide, device), 0.25
    of = "flash_attention2_causal"
    launch(getattr(module, f"{of}_forward"), (n_q, BH), q, k, v, o.tensor, l.tensor, n_q, n_k, scale)
    reads = (q, k, v, o.tensor, do, l.tensor)
    launch(getattr(module, f"{of}_backward_dq"), (n_q, BH), *reads, dq.tensor, n_q, n_k, scale)
    launch(getattr(module, f"{of}_backward_dkv"), (n_k, BH), *reads, dk.tensor, dv.tensor, n_q, n_k, scale)

    q, k, v = (x.detach().cpu().double().requires_grad_() for x in (q, k, v))
    scores = (q @ k.transpose(-1, -2) * scale).masked_fill(~counts(kind, n_q, n_k), float("-inf"))
    has_keys = counts(kind, n_q, n_k).any(1)
    weights = torch.where(has_keys[:, None], torch.softmax(torch.where(has_keys[:, None], scores, 0.0), -1), 0.0)
    expected = weights @ v
    gradients = torch.autograd.grad(expected, (q, k, v), do.cpu().double())
    _near(o.check(), expected.detach(), TOLERANCE[dtype])
    sums = l.between_canaries().cpu()
    _near(sums[:, has_keys], torch.logsumexp(scores, -1).detach()[:, has_keys], TOLERANCE[dtype])
    assert bool((sums[:, ~has_keys] == float("-inf")).all())
    total = sum(float(x.norm()) for x in gradients) + 1e-300
    for got, right in zip((dq, dk, dv), gradients, strict=True):
        assert float((got.check().cpu().double() - right).norm()) / total < TOLERANCE[dtype]


def _near(got: torch.Tensor, expected: torch.Tensor, tolerance: float) -> None:
    assert relative_error(got.cpu(), expected) < tolerance


def test_gradients_are_those_of_what_is_computed(device: str) -> None:
    """Differences of the forward kernel's outputs, as gradcheck takes them, beside what the backward kernels give."""
    op = teenyc.load(BUNDLED).FlashAttention2CausalOp(head_dim=HEAD_DIM)

    class Causal(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            (bh, n_q, _), n_k = q.shape, k.shape[1]
            o, l = torch.empty_like(q), torch.empty((bh, n_q), dtype=q.dtype, device=q.device)
            op.forward[(n_q, bh)](q, k, v, o, l, n_q, n_k, 0.25)
            context.save_for_backward(q, k, v, o, l)
            return o

        @staticmethod
        def backward(context: Any, do: torch.Tensor) -> tuple[torch.Tensor, ...]:
            q, k, v, o, l = context.saved_tensors
            (bh, n_q, _), n_k = q.shape, k.shape[1]
            do = do.contiguous()
            dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
            op.backward_dq[(n_q, bh)](q, k, v, o, do, l, dq, n_q, n_k, 0.25)
            op.backward_dkv[(n_k, bh)](q, k, v, o, do, l, dk, dv, n_q, n_k, 0.25)
            return dq, dk, dv

    generator = torch.Generator().manual_seed(3)
    q, k, v = (
        torch.randn((1, n, HEAD_DIM), generator=generator, dtype=torch.float64).to(device).requires_grad_()
        for n in (3, 2, 2)
    )
    assert torch.autograd.gradcheck(Causal.apply, (q, k, v), fast_mode=True)


def test_only_the_ends_are_masked() -> None:
    """Full blocks compute what those of attention over all keys do, in the same lines."""
    texts = {}
    for stem in ("flash_attn2", "flash_attn2_causal"):
        text = (kernels_directory() / f"{stem}.tk").read_text(encoding="utf-8")
        source = teenyc.compile_source(text.replace("2_causal", "2").replace("2Causal", "2")).source
        assert source is not None
        texts[stem] = source
    for kernel in ("forward", "backward_dq"):
        full, causal = (_loops(texts[stem], f"flash_attention2_{kernel}_tiled")[0] for stem in texts)
        computed = [[line for line in each.split("\n") if "kv_offset = " not in line] for each in (full, causal)]
        assert computed[0] == computed[1]
        assert "where" not in causal
        ends = _loops(texts["flash_attn2_causal"], f"flash_attention2_{kernel}_tiled")[1]
        assert "counts = k_row[None, :] < k_row_stop[:, None]" in ends


def _loops(source: str, kernel: str) -> list[str]:
    """The bodies of the loops of a kernel."""
    body = source.split(f"def {kernel}(")[1].split("@triton.jit")[0]
    return [part.split("\n    kv_offset")[0].split("\n    if ")[0] for part in re.split(r"\n    for .*\n", body)[1:]]
