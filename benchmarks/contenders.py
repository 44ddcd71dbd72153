"""Attentions that are compared: the shape of a case goes in, functions to time and what they gave come out."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import report
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

BACK_ENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}


@dataclass(frozen=True)
class Contender:
    """One attention on fixed inputs: what to time, and what it gave (`o`, `dq`, `dk`, `dv`) when it ran once."""

    passes: Mapping[str, Callable[[], object]]
    results: tuple[Tensor, ...]


def inputs(shape: tuple[int, int, int, int], dtype: torch.dtype, device: str) -> tuple[Tensor, ...]:
    """Random q, k, v and the gradient of o, each `[B, H, N, D]`."""
    generator = torch.Generator(device).manual_seed(sum(shape))
    return tuple(report.normal(shape, dtype, generator) for _ in range(4))


def ours(kernels: ModuleType, q: Tensor, k: Tensor, v: Tensor, do: Tensor) -> Contender:
    """The three bundled kernels."""
    shape = q.shape
    q, k, v, do = (x.flatten(0, 1) for x in (q, k, v, do))
    bh, n, d = q.shape
    op, scale = operator(kernels)(head_dim=d), d**-0.5
    o, dq, dk, dv = (report.poisoned(q.shape, q) for _ in range(4))
    log_sum = report.poisoned((bh, n), q, torch.float32)

    def forward() -> None:
        op.forward[(n, bh)](q, k, v, o, log_sum, n, n, scale)

    def backward() -> None:
        op.backward_dq[(n, bh)](q, k, v, o, do, log_sum, dq, n, n, scale)
        op.backward_dkv[(n, bh)](q, k, v, o, do, log_sum, dk, dv, n, n, scale)

    return _ran({"forward": forward, "backward": backward}, *(x.view(shape) for x in (o, dq, dk, dv)))


def operator(kernels: ModuleType) -> Any:
    """The Op class of the three kernels of a module."""
    return next(value for name, value in vars(kernels).items() if name.endswith("Op") and name[0] != "_")


def seed(kernels: ModuleType, q: Tensor, k: Tensor, v: Tensor, do: Tensor) -> Contender:
    """The kernels of the first Rust file, which take `-inf` as an argument and keep the log-sum-exp in `D`."""
    shape = q.shape
    q, k, v, do = (x.flatten(0, 1) for x in (q, k, v, do))
    bh, n, d = q.shape
    scale = d**-0.5
    o, dq, dk, dv = (report.poisoned(q.shape, q) for _ in range(4))
    log_sum = report.poisoned((bh, n), q)
    launch = {name: getattr(kernels, f"flash_attention2_{name}") for name in ("forward", "backward_dq", "backward_dkv")}

    def forward() -> None:
        launch["forward"][(n, bh)](q, k, v, o, log_sum, n, n, scale, float("-inf"), HEAD_DIM=d)

    def backward() -> None:
        launch["backward_dq"][(n, bh)](q, k, v, o, do, log_sum, dq, n, n, scale, HEAD_DIM=d)
        launch["backward_dkv"][(n, bh)](q, k, v, o, do, log_sum, dk, dv, n, n, scale, HEAD_DIM=d)

    return _ran({"forward": forward, "backward": backward}, *(x.view(shape) for x in (o, dq, dk, dv)))


def blocked_by_hand(reference: ModuleType, q: Tensor, k: Tensor, v: Tensor, do: Tensor) -> Contender:
    """Kernels that somebody blocked by hand."""
    import by_hand

    passes, results = by_hand.passes(reference, *(x.flatten(0, 1) for x in (q, k, v, do)))
    return _ran(passes, *(x.view(q.shape) for x in results))


def by_torch(name: str, is_causal: bool, *given: Tensor) -> Contender | None:
    """One back end of `scaled_dot_product_attention`; None where it refuses the case."""
    leaves, do = [x.detach().requires_grad_() for x in given[:3]], given[3]

    def forward() -> Tensor:
        with sdpa_kernel(BACK_ENDS[name]):
            return torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=is_causal)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the reasons why each back end refuses
            o = forward()
            gradients = torch.autograd.grad(o, leaves, do, retain_graph=True)
    except RuntimeError as error:
        print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
        return None
    passes = {"forward": forward, "backward": lambda: torch.autograd.grad(o, leaves, do, retain_graph=True)}
    return Contender(passes, (o.detach(), *gradients))


def _ran(passes: Mapping[str, Callable[[], object]], *results: Tensor) -> Contender:
    """A contender that ran once, so that there are results and nothing is left to compile."""
    for run in passes.values():
        run()
    return Contender(passes, results)
