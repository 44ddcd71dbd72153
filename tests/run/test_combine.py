"""`reduce`, `associative_scan` and `map_elementwise` with functions of the source, against the same in Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import teenyc
from teenyc.intrinsics import TABLE

SOURCE = Path(__file__).parents[1] / "golden" / "combine.tk"
ROWS = 2
LIMIT = 20


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    return teenyc.load(SOURCE)


def leading(a: tuple[float, int], b: tuple[float, int]) -> tuple[float, int]:
    return max(a, b, key=lambda pair: (pair[0], -pair[1]))


def farther(a: float, b: float) -> float:
    return b if abs(a) < abs(b) else a


def recurrence(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    return a[0] * b[0], a[1] * b[0] + b[1]


def capped(limit: int) -> Callable[[int, int], int]:
    return lambda a, b: min(a + b, limit)


def share(whole: int) -> int:
    return 0 if whole == 0 else int(LIMIT / whole)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
def test_combinations(kernels: ModuleType, device: str, dtype: torch.dtype) -> None:
    x = torch.randn(ROWS, 16).to(dtype)
    y = torch.randint(-8, 9, (ROWS, 16)).float() / 4
    n = torch.randint(0, 6, (ROWS, 16), dtype=torch.int32)  # capped sums of them do not depend on the order
    out = torch.full((ROWS, 48), float("nan"), device=device)
    places = torch.full((ROWS, 48), -77, dtype=torch.int32, device=device)
    kernels.Combine(limit=LIMIT)[(ROWS,)](x.to(device), y.to(device), n.to(device), out, places)
    for row in range(ROWS):
        values, numbers = y[row].tolist(), n[row].tolist()
        top, place = reduce(leading, zip(values, range(16), strict=True))
        assert out[row, 0].item() == top
        assert out[row, 1].item() == pytest.approx(reduce(farther, x[row].tolist()), rel=1e-7)
        assert places[row, :3].tolist() == [place, reduce(capped(7), numbers), reduce(capped(LIMIT), numbers)]
        pairs = [(v * 0.25, v) for v in reversed(values)]
        expected = [state for _, state in accumulate(pairs, recurrence)][::-1]
        assert out[row, 16:32].tolist() == pytest.approx(expected, rel=1e-5, abs=1e-6)
        assert places[row, 16:32].tolist() == list(accumulate(numbers, capped(LIMIT)))
        assert places[row, 32:].tolist() == list(map(share, numbers))
        grid = [[a - b for b in values] for a in values]
        assert abs(out[row, 2].item()) == abs(reduce(farther, [v for line in grid for v in line]))
        assert [abs(v) for v in out[row, 32:].tolist()] == [abs(reduce(farther, line)) for line in grid]


# ---- references -----------------------------------------------------------------------------------------------------


def reference(name: str) -> Callable[..., Any]:
    found = TABLE[name].reference
    assert found is not None
    return found


def test_references_call_the_function() -> None:
    x = np.random.default_rng(3).integers(-9, 9, (3, 5, 4)).astype(np.int32)
    for axis in range(3):
        np.testing.assert_array_equal(reference("reduce")(x, axis, np.add), x.sum(axis))
        np.testing.assert_array_equal(reference("associative_scan")(x, axis, np.add), x.cumsum(axis))
        turned = np.flip(np.flip(x, axis).cumsum(axis), axis)
        np.testing.assert_array_equal(reference("associative_scan")(x, axis, np.add, reverse=True), turned)
    assert reference("reduce")(x, None, np.maximum, True).shape == (1, 1, 1)
    assert reference("reduce")(x, None, lambda a, b: a).item() == x.flat[0]
    both = reference("reduce")(x, 1, lambda a, i, b, j: (a + b, np.maximum(i, j)), input1=x)
    np.testing.assert_array_equal(both[0], x.sum(1))
    np.testing.assert_array_equal(both[1], x.max(1))
    np.testing.assert_array_equal(reference("map_elementwise")(np.multiply, x, input1=x), x * x)
