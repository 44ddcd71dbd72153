"""Attention whose kernels somebody blocked by hand: a file of kernels goes in, passes on fixed inputs come out.

The file defines the `@triton.autotune`d kernels `forward`, `backward_dq` and `backward_dkv` over `[BH, N, D]`, whose
backward ones take the row sums of `o * do` in the place of `o`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import report
import torch
import triton
import triton.language as tl
from torch import Tensor


def load(path: str) -> ModuleType:
    """The kernels of a file."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def passes(
    kernels: ModuleType, q: Tensor, k: Tensor, v: Tensor, do: Tensor
) -> tuple[dict[str, Callable[[], object]], tuple[Tensor, ...]]:
    """Forward and backward as functions, and what they write: o, dq, dk, dv. Inputs are `[BH, N, D]`."""
    bh, n, d = q.shape
    scale = d**-0.5
    o, dq, dk, dv = (report.poisoned(q.shape, q) for _ in range(4))
    log_sum, delta = (report.poisoned((bh, n), q, torch.float32) for _ in range(2))

    def forward() -> None:
        kernels.forward[_grid(n, bh, "BLOCK_M")](q, k, v, o, log_sum, n, n, scale, HEAD_DIM=d)

    def backward() -> None:
        _row_products[(triton.cdiv(bh * n, 64),)](o, do, delta, bh * n, HEAD_DIM=d, BLOCK=64)
        given = (q, k, v, delta, do, log_sum)
        kernels.backward_dq[_grid(n, bh, "BLOCK_M")](*given, dq, n, n, scale, HEAD_DIM=d)
        kernels.backward_dkv[_grid(n, bh, "BLOCK_N")](*given, dk, dv, n, n, scale, HEAD_DIM=d)

    return {"forward": forward, "backward": backward}, (o, dq, dk, dv)


def _grid(n: int, bh: int, block: str) -> Callable[[dict[str, int]], tuple[int, int]]:
    return lambda config: (triton.cdiv(n, config[block]), bh)


@triton.jit
def _row_products(o_ptr, do_ptr, delta_ptr, rows, HEAD_DIM: tl.constexpr, BLOCK: tl.constexpr):  # noqa: N803
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offset = row.to(tl.int64)[:, None] * HEAD_DIM + tl.arange(0, HEAD_DIM)
    valid = (row < rows)[:, None]
    o = tl.load(o_ptr + offset, mask=valid, other=0.0).to(tl.float32)
    do = tl.load(do_ptr + offset, mask=valid, other=0.0).to(tl.float32)
    tl.store(delta_ptr + row, tl.sum(o * do, axis=1), mask=row < rows)
