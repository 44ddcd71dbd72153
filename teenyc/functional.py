"""Operators for torch that are built from the bundled kernels: tensors in, tensors out, with gradients."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import torch
from torch import Tensor

from teenyc.resources import kernels_directory
from teenyc.runtime.load import load

__all__ = ["flash_attention2"]

LARGEST_HEAD = 256
"""The greatest D: a program holds several rows of D numbers in registers."""
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
LARGEST_BATCH = 65_535
"""How many heads one launch takes: the hardware's limit for the second axis of a grid."""


def flash_attention2(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None, *, is_causal: bool = False) -> Tensor:
    """`softmax(q kᵀ scale) v`, differentiable once, without ever holding the matrix of scores.

    `q` is `[B, H, N_q, D]` or `[BH, N_q, D]`; `k` and `v` have `N_k >= 1` rows and the same other extents; the result
    is like `q`. D is 1 to 256; `scale` is 1/sqrt(D) unless given. With `is_causal` query `i` sees the keys `0..=i`, as
    in torch's `scaled_dot_product_attention`. All are f16, bf16, f32 or f64, of one type, on one device: a GPU, or the
    CPU under TRITON_INTERPRET=1. 16-bit types are computed in f32. Raises TypeError or ValueError for anything else.
    """
    _check(q, k, v)
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    if not math.isfinite(factor):
        raise ValueError(f"scale is {scale}, it must be finite")
    o, _ = _forward(*(x.flatten(0, -3) for x in (q, k, v)), factor, bool(is_causal))
    return o.view(q.shape)


def _check(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Raises for arguments that are no attention, or one that the kernels do not compute."""
    named = {"q": q, "k": k, "v": v}
    for name, x in named.items():
        if not isinstance(x, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(x).__name__}")
        if x.dim() not in (3, 4) or x.dim() != q.dim():
            raise ValueError(f"q, k and v must all be [B, H, N, D] or all [BH, N, D], got {_shapes(named)}")
        if x.dtype not in DTYPES or x.dtype != q.dtype:
            types = ", ".join(f"{n} {t.dtype}" for n, t in named.items() if isinstance(t, Tensor))
            raise TypeError(f"q, k and v must have one type, f16, bf16, f32 or f64, got {types}")
        if x.device != q.device:
            raise ValueError(f"q, k and v must be on one device, {name} is on {x.device} and q on {q.device}")
    if k.shape != v.shape or q.shape[:-2] != k.shape[:-2] or q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"k and v must have one shape, and q the same but for its rows, got {_shapes(named)};"
            " where heads of q share those of k and v, repeat k and v"
        )
    if not 1 <= q.shape[-1] <= LARGEST_HEAD:
        raise ValueError(f"the last extent, D, is {q.shape[-1]}; it must be from 1 to {LARGEST_HEAD}")
    if k.shape[-2] == 0:
        raise ValueError("k and v have no rows: attention over no key is not defined")


def _shapes(named: dict[str, Tensor]) -> str:
    return ", ".join(f"{name} {list(x.shape)}" for name, x in named.items() if isinstance(x, Tensor))


# ---- what the operators compute, over `[BH, N, D]` ------------------------------------------------------------------


def _run_forward(q: Tensor, k: Tensor, v: Tensor, scale: float, is_causal: bool) -> tuple[Tensor, Tensor]:
    """The output and, for the backward pass, the log-sum-exp of each row of scores."""
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    o, log_sum = _like_forward(q, k, v, scale, is_causal)
    kernel, n_q, n_k = _operator(q.shape[-1], is_causal).forward, q.shape[1], k.shape[1]
    with _device_of(q):
        for p in _parts(q):
            kernel[n_q, len(q[p])](q[p], k[p], v[p], o[p], log_sum[p], n_q, n_k, scale)
    return o, log_sum


def _run_dq(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, do: Tensor, log_sum: Tensor, scale: float, is_causal: bool
) -> Tensor:
    """The gradient of q."""
    q, k, v, do = q.contiguous(), k.contiguous(), v.contiguous(), do.contiguous()
    dq = torch.empty_like(q)
    kernel, n_q, n_k = _operator(q.shape[-1], is_causal).backward_dq, q.shape[1], k.shape[1]
    with _device_of(q):
        for p in _parts(q):
            kernel[n_q, len(q[p])](q[p], k[p], v[p], o[p], do[p], log_sum[p], dq[p], n_q, n_k, scale)
    return dq


def _run_dkv(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, do: Tensor, log_sum: Tensor, scale: float, is_causal: bool
) -> tuple[Tensor, Tensor]:
    """The gradients of k and v."""
    q, k, v, do = q.contiguous(), k.contiguous(), v.contiguous(), do.contiguous()
    dk, dv = torch.empty_like(k), torch.empty_like(v)
    kernel, n_q, n_k = _operator(q.shape[-1], is_causal).backward_dkv, q.shape[1], k.shape[1]
    with _device_of(q):
        for p in _parts(q):
            kernel[n_k, len(q[p])](q[p], k[p], v[p], o[p], do[p], log_sum[p], dk[p], dv[p], n_q, n_k, scale)
    return dk, dv


def _parts(q: Tensor) -> list[slice]:
    """The heads, in pieces that one launch can take."""
    return [slice(start, start + LARGEST_BATCH) for start in range(0, q.shape[0], LARGEST_BATCH)]


def _device_of(q: Tensor) -> AbstractContextManager[object]:
    """Makes the tensor's GPU the current one, to which Triton launches."""
    return torch.cuda.device(q.device) if q.is_cuda else nullcontext()


@cache
def _operator(head_dim: int, is_causal: bool) -> Any:
    """The kernels for one head size, compiled and loaded at their first use."""
    if is_causal:
        return load(kernels_directory() / "flash_attn2_causal.tk").FlashAttention2CausalOp(head_dim=head_dim)
    return load(kernels_directory() / "flash_attn2.tk").FlashAttention2Op(head_dim=head_dim)


# ---- operators of torch ---------------------------------------------------------------------------------------------
# Custom operators are opaque to `torch.compile`, which sees shapes and types from the functions `_like_…`.


def _like_forward(q: Tensor, k: Tensor, v: Tensor, *others: Any) -> tuple[Tensor, Tensor]:
    log_sum_type = torch.float64 if q.dtype == torch.float64 else torch.float32
    return _like(q), q.new_empty(q.shape[:2], dtype=log_sum_type)


def _like_dq(q: Tensor, *others: Any) -> Tensor:
    return _like(q)


def _like_dkv(q: Tensor, k: Tensor, v: Tensor, *others: Any) -> tuple[Tensor, Tensor]:
    return _like(k), _like(v)


def _like(x: Tensor) -> Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _save(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor, float, bool], output: tuple[Tensor, Tensor]) -> None:
    *tensors, ctx.scale, ctx.is_causal = inputs
    ctx.save_for_backward(*tensors, *output)
    ctx.mark_non_differentiable(output[1])


def _gradients(ctx: Any, do: Tensor, _: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None, None, None]:
    q, k, v, o, log_sum = ctx.saved_tensors
    arguments = (q, k, v, o, do, log_sum, ctx.scale, ctx.is_causal)
    dq = _backward_dq(*arguments) if ctx.needs_input_grad[0] else None
    dk, dv = _backward_dkv(*arguments) if any(ctx.needs_input_grad[1:3]) else (None, None)
    return dq, dk, dv, None, None


_forward = torch.library.custom_op("teenyc::flash_attention2_forward", _run_forward, mutates_args=())
_backward_dq = torch.library.custom_op("teenyc::flash_attention2_backward_dq", _run_dq, mutates_args=())
_backward_dkv = torch.library.custom_op("teenyc::flash_attention2_backward_dkv", _run_dkv, mutates_args=())
_forward.register_fake(_like_forward)
_backward_dq.register_fake(_like_dq)
_backward_dkv.register_fake(_like_dkv)
_forward.register_autograd(_gradients, setup_context=_save)
