"""The torch operator: values and gradients against float64, every layout that it takes, words for what it does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from attention import attention, relative_error

import teenyc.functional as functional
from teenyc.functional import flash_attention2

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12, torch.float16: 2e-3, torch.bfloat16: 1e-2}
dtypes = pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d).removeprefix("torch."))


def random(*shape: int, dtype: torch.dtype = torch.float32, device: str = "cpu", grad: bool = True) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(device, dtype).requires_grad_(grad)


def check(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float | None = None, *, is_causal: bool = False
) -> None:
    """Compares value and gradients with those of attention in float64."""
    o = flash_attention2(q, k, v, scale, is_causal=is_causal)
    do = torch.linspace(-1, 1, o.numel(), dtype=torch.float64).view(o.shape).to(o)
    grads = torch.autograd.grad(o, (q, k, v), do)
    flat = [x.detach().flatten(0, -3) for x in (q, k, v, do)]
    want = attention(*flat, scale=q.shape[-1] ** -0.5 if scale is None else scale, is_causal=is_causal)
    assert o.shape == q.shape
    assert (o.dtype, o.device) == (q.dtype, q.device)
    least = 1.0 if k.shape[-2] == 1 else 0.0  # dq and dk of one key are differences of equal numbers
    for got, expected in zip((o, *grads), (want.o, want.dq, want.dk, want.dv), strict=True):
        norm = max(float(expected.norm()), least)
        assert float((got.detach().flatten(0, -3).double() - expected).norm()) <= TOLERANCE[q.dtype] * norm


@dtypes
@pytest.mark.parametrize(("n_q", "n_k"), [(1, 1), (5, 3), (3, 5), (1, 17)])
def test_value_and_gradients_agree_with_float64(device: str, dtype: torch.dtype, n_q: int, n_k: int) -> None:
    q, k, v = (random(2, n, 16, dtype=dtype, device=device) for n in (n_q, n_k, n_k))
    check(q, k, v)


@dtypes
@pytest.mark.parametrize(("n_q", "n_k"), [(1, 1), (5, 3), (3, 5), (40, 33)])
def test_causal_attention(device: str, dtype: torch.dtype, n_q: int, n_k: int) -> None:
    q, k, v = (random(2, n, 16, dtype=dtype, device=device) for n in (n_q, n_k, n_k))
    check(q, k, v, is_causal=True)
    if n_q == n_k:
        peer = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).detach()
        assert relative_error(flash_attention2(q, k, v, is_causal=True).detach(), peer.double()) <= 2 * TOLERANCE[dtype]


@dtypes
def test_batch_and_heads_may_be_two_axes(device: str, dtype: torch.dtype) -> None:
    q, k, v = (random(2, 3, n, 32, dtype=dtype, device=device) for n in (2, 4, 4))
    check(q, k, v)


@pytest.mark.parametrize("head_dim", [1, 16, 32, 64, 80, 96, 112, 128, 256])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_head_size(device: str, dtype: torch.dtype, head_dim: int) -> None:
    check(*(random(1, n, head_dim, dtype=dtype, device=device) for n in (2, 3, 3)))


@pytest.mark.parametrize("scale", [0.3, -0.7, 0.0, 2, 1e-30])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_scale_may_be_given(device: str, dtype: torch.dtype, scale: float) -> None:
    q, k, v = (random(1, n, 16, dtype=dtype, device=device) for n in (3, 4, 4))
    check(q, k, v, scale=scale)


def test_tensors_need_not_be_contiguous(device: str) -> None:
    q, k, v = (random(2, n, 3, 16, device=device).transpose(1, 2) for n in (2, 4, 4))
    assert not q.is_contiguous()
    check(q, k, v)
    check(random(2, 16, 4, device=device).mT, *(random(2, 32, 5, device=device).mT[..., ::2] for _ in range(2)))


def test_expanded_gradients_are_fine(device: str) -> None:
    q, k, v = (random(1, 3, 16, device=device) for _ in range(3))
    flash_attention2(q, k, v).sum().backward()
    assert q.grad is not None
    assert bool(torch.isfinite(q.grad).all())


def test_gradcheck(device: str) -> None:
    tensors = tuple(random(1, n, 16, dtype=torch.float64, device=device) for n in (2, 3, 3))
    assert torch.autograd.gradcheck(lambda q, k, v: flash_attention2(q, k, v, 0.3), tensors, fast_mode=True)


@pytest.mark.parametrize("wanted", ["q", "k", "v"])
def test_only_wanted_gradients_are_computed(device: str, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tensors = {name: random(1, 3, 16, device=device, grad=name == wanted) for name in "qkv"}
    unwanted = "_backward_dkv" if wanted == "q" else "_backward_dq"
    monkeypatch.setattr(functional, unwanted, None)
    flash_attention2(**tensors).sum().backward()
    assert [name for name, x in tensors.items() if x.grad is not None] == [wanted]


def test_a_second_derivative_raises(device: str) -> None:
    q, k, v = (random(1, 2, 16, device=device) for _ in range(3))
    (dq,) = torch.autograd.grad(flash_attention2(q, k, v).sum(), q, create_graph=True)
    with pytest.raises(RuntimeError, match="flash_attention2_backward_dq"):
        dq.sum().backward()


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)], ids=["no heads", "no rows"])
def test_no_queries_give_an_empty_result(device: str, shape: tuple[int, int]) -> None:
    q = random(*shape, 16, device=device)
    k, v = (random(shape[0], 4, 16, device=device) for _ in range(2))
    o = flash_attention2(q, k, v)
    assert o.shape == q.shape
    o.sum().backward()
    assert k.grad is not None
    assert k.grad.shape == k.shape
    assert not k.grad.any()
    assert flash_attention2(*(x.detach().unsqueeze(0) for x in (q, k, v))).shape == (1, *q.shape)


def test_more_heads_than_a_grid_takes_are_split(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functional, "LARGEST_BATCH", 2)
    check(*(random(5, n, 16, device=device) for n in (2, 3, 3)))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda q, k, v: (1, k, v), TypeError, ["q must be a tensor", "int"]),
        (lambda q, k, v: (q, k.half(), v), TypeError, ["one type", "k torch.float16"]),
        (lambda q, k, v: (q.int(), k.int(), v.int()), TypeError, ["f16, bf16, f32 or f64", "torch.int32"]),
        (lambda q, k, v: (q, k.to("meta"), v), ValueError, ["one device", "k is on meta"]),
        (lambda q, k, v: (q[0], k[0], v[0]), ValueError, ["[B, H, N, D]", "q [3, 16]"]),
        (lambda q, k, v: (q[None], k, v), ValueError, ["q [1, 2, 3, 16]", "k [2, 4, 16]"]),
        (lambda q, k, v: (q, k[:1], v[:1]), ValueError, ["q [2, 3, 16]", "k [1, 4, 16]", "repeat k and v"]),
        (lambda q, k, v: (q, k[:, :2], v), ValueError, ["k [2, 2, 16]", "v [2, 4, 16]"]),
        (lambda q, k, v: (q, k[..., :8], v[..., :8]), ValueError, ["k [2, 4, 8]"]),
        (lambda q, k, v: (q[..., :0], k[..., :0], v[..., :0]), ValueError, ["D, is 0", "from 1 to 256"]),
        (lambda q, k, v: (q, k[:, :0], v[:, :0]), ValueError, ["no rows"]),
        (lambda q, k, v: (q, k, v, float("nan")), ValueError, ["scale is nan"]),
        (lambda q, k, v: (q, k, v, float("inf")), ValueError, ["scale is inf"]),
    ],
)
def test_what_is_no_attention_raises(
    device: str, change: Callable[..., tuple[torch.Tensor, ...]], error: type[Exception], words: list[str]
) -> None:
    q, k, v = (random(2, n, 16, device=device, grad=False) for n in (3, 4, 4))
    with pytest.raises(error) as caught:
        flash_attention2(*change(q, k, v))
    assert not [word for word in words if word not in str(caught.value)], str(caught.value)


def test_torch_compile_takes_it_as_one_node(device: str) -> None:
    def twice(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return flash_attention2(flash_attention2(q, k, v) * 2, k, v)

    q, k, v = (random(1, 3, 16, device=device) for _ in range(3))
    compiled = torch.compile(twice, backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(q, k, v), twice(q, k, v))
    got = torch.autograd.grad(compiled(q, k, v).sum(), (q, k, v))
    want = torch.autograd.grad(twice(q, k, v).sum(), (q, k, v))
    assert all(torch.equal(a, b) for a, b in zip(got, want, strict=True))


def test_the_operator_keeps_the_rules_of_custom_operators(device: str) -> None:
    q, k, v = (random(2, n, 16, device=device) for n in (3, 4, 4))
    torch.library.opcheck(functional._forward, (q, k, v, 0.25, False))


@pytest.mark.gpu
def test_more_than_two_to_the_31_elements() -> None:
    """f16, BH 65,600, N 520, D 64: offsets do not wrap, and the heads take two launches."""
    bh, n, d = 65_600, 520, 64
    generator = torch.Generator("cuda").manual_seed(1)
    q, k, v = (torch.randn(bh, n, d, generator=generator, dtype=torch.float16, device="cuda") for _ in range(3))
    o = flash_attention2(q, k, v)
    for head in (0, 1, 40_000, 64_527, bh - 2, bh - 1):
        want = attention(q[head : head + 1], k[head : head + 1], v[head : head + 1], q[head : head + 1], d**-0.5)
        assert relative_error(o[head : head + 1], want.o) <= TOLERANCE[torch.float16]
