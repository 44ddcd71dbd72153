"""`break` and `continue`: the kernels of `golden/loop_jumps.tk` against the same loops in Python."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
import torch

import teenyc

SOURCE = Path(__file__).parents[1] / "golden" / "loop_jumps.tk"


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    return teenyc.load(SOURCE)


@pytest.mark.parametrize("limit", [0, 1, 7, 10, 1000])
def test_a_for_loop_ends_early_and_skips(kernels: ModuleType, device: str, limit: int) -> None:
    x = torch.randint(-5, 6, (4, 9), dtype=torch.int32)
    out = torch.full((4, 2), -77, dtype=torch.int32, device=device)
    kernels.UntilFull()[(4,)](x.to(device), out, 9, limit)
    assert out.tolist() == [_until_full(row, limit) for row in x.tolist()]


def _until_full(row: list[int], limit: int) -> list[int]:
    total = used = 0
    for v in row:
        if v < 0:
            continue
        if total + v > limit:
            break
        total += v
        used += 1
    return [total, used]


@pytest.mark.parametrize(("n", "wanted"), [(0, 1), (1, 1), (6, 12), (6, 17)])
def test_a_label_leaves_two_loops(kernels: ModuleType, device: str, n: int, wanted: int) -> None:
    out = torch.full((3, 2), -77, dtype=torch.int32, device=device)
    kernels.FirstPair()[(3,)](out, n, wanted)
    assert out.tolist() == [_first_pair(n, wanted + row) for row in range(3)]


def _first_pair(n: int, wanted: int) -> list[int]:
    pairs = ([i, j] for i in range(1, n + 1) for j in range(i, n + 1) if i * j == wanted)
    return next(pairs, [0, 0])


def test_loop_ends_by_break(kernels: ModuleType, device: str) -> None:
    out = torch.full((30,), -77, dtype=torch.int32, device=device)
    kernels.Collatz()[(30,)](out, 1)
    assert out.tolist() == [_collatz(row + 1) for row in range(30)]


def _collatz(value: int) -> int:
    steps = 0
    while value > 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        steps += 1
    return steps
