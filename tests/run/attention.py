"""Attention in float64 by its definition: the values that the kernels are compared with."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Attention:
    """Output, log-sum-exp and gradients of one attention, all float64."""

    o: torch.Tensor
    l: torch.Tensor
    dq: torch.Tensor
    dk: torch.Tensor
    dv: torch.Tensor


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, do: torch.Tensor, scale: float, *, is_causal: bool = False
) -> Attention:
    """`softmax(q kᵀ scale) v` over `[BH, N, D]` tensors of any float dtype, and its gradients for `do`."""
    q, k, v = (x.detach().double().requires_grad_() for x in (q, k, v))
    scores = q @ k.transpose(-1, -2) * scale
    if is_causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    o = torch.softmax(scores, dim=-1) @ v
    dq, dk, dv = torch.autograd.grad(o, (q, k, v), do.double())
    return Attention(o.detach(), torch.logsumexp(scores, dim=-1).detach(), dq, dk, dv)


def relative_error(got: torch.Tensor, expected: torch.Tensor) -> float:
    """The relative L2 error; not a number where any element is not."""
    return float((got.double() - expected).norm() / expected.norm().clamp_min(1e-300))
