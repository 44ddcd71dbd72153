"""Kernels in blocks over bf16, of which Triton's interpreter computes the products wrongly: by the runner."""

from __future__ import annotations

import math
import zlib
from typing import Any

import calls_of_attention
import calls_of_products
import calls_of_sums
import pytest
import torch
from by_runner import load
from called import check, saying
from calls import BF16, KERNELS, Blocks, Draw
from cases import TESTS

TABLES = (calls_of_attention, calls_of_products, calls_of_sums)
"""What they hold they have put into `KERNELS`."""

FEW = 100
OVER_BF16 = [kernel for kernel in KERNELS.values() if BF16 in kernel.dtypes]


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("kernel", OVER_BF16, ids=lambda kernel: kernel.name)
def test_numbers(kernel: Blocks) -> None:
    launch: Any = getattr(load(TESTS / "tiling" / "kernels" / f"{kernel.name}.tk"), kernel.name)
    for rows, n in kernel.sizes[3:-1]:
        draw = Draw(BF16, torch.Generator().manual_seed(zlib.crc32(f"{kernel.name} {rows} {n}".encode())))
        with saying(f"of {rows} rows and {n} iterations"):
            call = kernel.call(draw, rows, n)
            check(launch, call, BF16, "cpu", math.prod(call.grid) * n <= FEW, kernel.loss)
