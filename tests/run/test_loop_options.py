"""Options of loops change nothing but the machine code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

import teenyc

GOLDEN = Path(__file__).parent.parent / "golden" / "loop_options.tk"


def test_loops_with_options_give_the_same(device: str) -> None:
    module = teenyc.load(GOLDEN)
    x = np.random.default_rng(1).integers(-9, 9, (5, 16)).astype(np.float32)
    memory = torch.from_numpy(x.copy()).to(device)
    module.Options(16, 2)[1](memory, 5)
    total = x.sum(0) + 2 * (x[0] + x[2] + x[4])
    np.testing.assert_array_equal(memory.cpu().numpy()[0], total * 0.5**5)
    np.testing.assert_array_equal(memory.cpu().numpy()[1:], x[1:])
