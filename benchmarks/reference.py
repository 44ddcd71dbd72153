"""Attention in float64 by its definition, head by head: the values that kernels are compared with."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Attention:
    """Output, log-sum-exp and gradients of one attention over `[BH, N, D]`."""

    o: Tensor
    log_sum: Tensor
    dq: Tensor
    dk: Tensor
    dv: Tensor


def attention(q: Tensor, k: Tensor, v: Tensor, do: Tensor, scale: float) -> Attention:
    """`softmax(q kᵀ scale) v` and its gradients for `do`, in float64; one head's matrix of scores at a time."""
    heads = [_head(*row, scale) for row in zip(q, k, v, do, strict=True)]
    return Attention(*(torch.stack(parts) for parts in zip(*heads, strict=True)))


def _head(q: Tensor, k: Tensor, v: Tensor, do: Tensor, scale: float) -> tuple[Tensor, ...]:
    q, k, v, do = q.double(), k.double(), v.double(), do.double()
    scores = q @ k.T * scale
    p = torch.softmax(scores, dim=-1)
    o = p @ v
    ds = p * (do @ v.T - (o * do).sum(-1, keepdim=True)) * scale
    return o, torch.logsumexp(scores, dim=-1), ds @ k, ds.T @ q, p.T @ do
