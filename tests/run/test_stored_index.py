"""Indices that are stored as floats: the kernel of `golden/stored_index.tk`."""

from __future__ import annotations

import math
from pathlib import Path

import torch

import teenyc

SOURCE = Path(__file__).parents[1] / "golden" / "stored_index.tk"


def test_a_stored_index_is_cut_toward_zero_and_does_not_wrap(device: str) -> None:
    kernels = teenyc.load(SOURCE)
    table = torch.randn(5 * 8)
    stored = [0.0, 3.9, -0.9, 4.0, -1.5, 5.0, 2.0**28, 2.0**29, math.inf, math.nan]
    out = torch.zeros(len(stored), 8, device=device)
    kernels.Lookup(8)[(len(stored),)](table.to(device), torch.tensor(stored, device=device), out, 38)
    for row, value in zip(out.cpu(), stored, strict=True):
        index = 0 if math.isnan(value) else int(max(min(value, 2**31 - 1), -(2**31)))
        places = [index * 8 + lane for lane in range(8)]
        assert row.tolist() == [table[p].item() if 0 <= p < 38 else -1.0 for p in places]
