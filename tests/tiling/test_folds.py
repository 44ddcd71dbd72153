"""Folds in blocks against plain kernels and exact numbers: products, bits, flags, extrema in all words for them."""

from __future__ import annotations

import math
from functools import reduce
from operator import and_, or_, xor
from pathlib import Path
from types import ModuleType

import pytest
import torch
from blocked import blocked, plain
from meaning import module_of
from memory import Guarded

GOLDEN = Path(__file__).parents[1] / "golden" / "tiled_folds.tk"
ROWS = pytest.mark.parametrize(("rows", "n"), [(1, 1), (2, 15), (3, 16), (2, 17), (1, 64), (2, 100)])
SIZES = (1, 15, 16, 17, 64, 100)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of(GOLDEN.read_text(encoding="utf-8"), tmp_path_factory.mktemp("folds"), "tiled_folds")


@ROWS
def test_floats(source: ModuleType, device: str, rows: int, n: int) -> None:
    x = (torch.rand(rows, n) + 0.8) * torch.where(torch.rand(rows, n) < 0.5, -1.0, 1.0)
    given = x.to(device)
    wide, even = x.double(), x[:, ::2].double()
    expected = [(wide * 0.75).prod(1), 0.5 ** (wide > 0).sum(1), wide.amin(1), wide.amax(1), even.amax(1), wide.amin(1)]
    expected += [wide.amax(1).clamp_min(0)]
    for launch in (blocked, plain):
        o = Guarded((rows, 7), torch.float32, device)
        launch(source.of_floats, (rows,), given, o.tensor, n)
        torch.testing.assert_close(o.check().double().cpu(), torch.stack(expected, 1), rtol=1e-5, atol=1e-7)


def test_nan_passes_on_where_it_is_asked_for(source: ModuleType, device: str) -> None:
    x = torch.rand(2, 40, device=device)
    x[1, 3] = math.nan
    o = torch.zeros(2, 7, device=device)
    blocked(source.of_floats, (2,), x, o, 40)
    assert o[:, 6].isnan().tolist() == [False, True]
    torch.testing.assert_close(o[:, 2], x.nan_to_num(2.0).amin(1))


@ROWS
def test_integers_and_flags(source: ModuleType, device: str, rows: int, n: int) -> None:
    x = torch.randint(0, 1000, (rows, n), dtype=torch.int32, device=device)
    for launch in (blocked, plain):
        o = torch.full((rows, 8), -7, dtype=torch.int32, device=device)
        launch(source.of_bits, (rows,), x, o, n)
        assert o.tolist() == [_bits(row, n) for row in x.tolist()]


def _bits(row: list[int], n: int) -> list[int]:
    product = math.prod(v * 3 for v in row if v % 4)
    wrapped = (product + 2**31) % 2**32 - 2**31
    found = [any(v > 900 for v in row), all(v >= 32 for v in row), sum(v > 500 for v in row) % 2]
    return [
        reduce(and_, row) | 6,
        reduce(or_, row) << 1,
        reduce(xor, row),
        wrapped,
        n if n % 2 else 0,
        *map(int, found),
    ]


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("keys", [1, 17, 40])
def test_rows_in_blocks(source: ModuleType, device: str, rows: int, keys: int) -> None:
    q, k = torch.randn(rows, 16, device=device) / 2, torch.randn(keys, 16, device=device) / 2
    o = Guarded((rows, 2), torch.float32, device)
    blocked(source.of_rows, (rows,), q, k, o.tensor, keys, N=16)
    scores = q.double() @ k.double().T
    below = torch.arange(keys)[None, :] <= torch.arange(rows)[:, None]
    chance = torch.where(below.to(device), 1 - scores.sigmoid(), 1.0).prod(1)
    torch.testing.assert_close(o.check().double(), torch.stack([scores.amax(1), chance], 1), rtol=1e-4, atol=1e-6)
    if rows <= 16:
        beside = Guarded((rows, 2), torch.float32, device)
        plain(source.of_rows, (rows,), q, k, beside.tensor, keys, N=16)
        torch.testing.assert_close(o.check(), beside.check(), rtol=1e-4, atol=1e-6)


@ROWS
def test_narrow_integers_keep_their_type(source: ModuleType, device: str, rows: int, n: int) -> None:
    x = torch.randint(-5, 6, (rows, n), dtype=torch.int8, device=device) | 1
    y = torch.randint(0, 1 << 15, (rows, n), dtype=torch.int32, device=device).to(torch.uint16)
    written = []
    for launch in (blocked, plain):
        o, u = (torch.zeros(rows, k, dtype=t, device=device) for k, t in ((3, torch.int8), (2, torch.uint16)))
        launch(source.of_narrow, (rows,), x, y, o, u, n)
        product = torch.zeros(rows, dtype=torch.int8, device=device)
        launch(source.of_numbers, (rows,), x, product, n)
        assert product.tolist() == o[:, 0].tolist()
        written.append((o.tolist(), u.tolist()))
    assert written[0] == written[1]
    exact = [[_wrapped(math.prod(r), 8), _wrapped(sum(r), 8), max(r)] for r in x.tolist()]
    assert written[0][0] == exact


def _wrapped(number: int, bits: int) -> int:
    half = 1 << bits - 1
    return (number + half) % (2 * half) - half
