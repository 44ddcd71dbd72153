"""`atomic_add` on every type of number, also where Triton has none: small integers, and `bf16` when it interprets."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
import torch

import teenyc

SOURCE = """
/// Every lane adds to a place that others add to as well, and keeps what it found.
#[kernel]
fn scatter<D: Num, const N: i32>(total: Pointer<D>, at: Pointer<i32>, x: Pointer<D>, found: Pointer<D>, n: i32) {
    let lane = program_id(0) * N + arange(0, N);
    let mask = lane < n;
    let place = load(at + lane, mask = mask, other = 0);
    let before = atomic_add(total + place, load(x + lane, mask = mask, other = D::from_f64(0.0)), mask = mask);
    store(found + lane, before, mask = mask);
}

/// Every program adds one scalar to the same place.
#[kernel]
fn count<D: Num>(total: Pointer<D>, x: Pointer<D>) {
    atomic_add(total, load(x + program_id(0)));
}

/// Rows and columns.
#[kernel]
fn grid<D: Num, const N: i32>(total: Pointer<D>, x: Pointer<D>) {
    let lane = arange(0, N)[(.., None)] * N + arange(0, N)[(None, ..)];
    atomic_add(total + lane, load(x + lane));
}
"""
INTEGERS = [torch.int8, torch.int16, torch.uint8, torch.uint16, torch.int32, torch.int64]
DTYPES = [*INTEGERS, torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = Path(tmp_path_factory.mktemp("atomics")) / "small.tk"
    path.write_text(SOURCE)
    return teenyc.load(path)


def numbers(count: int, dtype: torch.dtype, device: str) -> torch.Tensor:
    """Integers so small that no sum of them rounds, not even in `bf16`, and so many that bytes overflow."""
    largest = 3 if dtype.is_floating_point else 120
    return torch.randint(0, largest, (count,)).to(dtype).to(device)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("n", "places", "start"), [(13, 5, 1), (1, 1, 3), (32, 3, 2), (0, 4, 0)])
def test_sums_are_exact_and_nothing_beside_them_changes(
    kernels: ModuleType, device: str, dtype: torch.dtype, n: int, places: int, start: int
) -> None:
    whole = numbers(16, dtype, device)  # the sums lie inside, at any byte of a word
    before = whole.clone()
    x, at = numbers(max(n, 1), dtype, device), torch.randint(0, places, (max(n, 1),), dtype=torch.int32, device=device)
    found = torch.full_like(x, 77)
    kernels.Scatter(n=16)[(3,)](whole[start : start + places], at, x, found, n)
    expected = before.cpu().to(torch.float64 if dtype.is_floating_point else torch.int64, copy=True)
    for place, value in zip(at[:n].tolist(), x[:n].tolist(), strict=True):
        expected[start + place] += value
    assert torch.equal(whole.cpu(), expected.to(dtype))
    if n == 1:
        assert found.tolist() == [before[start + int(at[0])].item()]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_scalar_is_added_by_every_program(kernels: ModuleType, device: str, dtype: torch.dtype) -> None:
    total, x = numbers(5, dtype, device), numbers(7, dtype, device)
    before = total.tolist()
    kernels.Count()[(7,)](total[1:], x)
    wide = torch.float64 if dtype.is_floating_point else torch.int64
    before[1] = torch.tensor(before[1] + sum(x.tolist()), dtype=wide).to(dtype).item()
    assert total.tolist() == before


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint16, torch.bfloat16], ids=str)
def test_two_axes(kernels: ModuleType, device: str, dtype: torch.dtype) -> None:
    total, x = numbers(17, dtype, device), numbers(16, dtype, device)
    first, *others = total.tolist()
    expected = torch.tensor([first, *(a + b for a, b in zip(others, x.tolist(), strict=True))]).to(dtype)
    kernels.Grid(n=4)[(1,)](total[1:], x)
    assert torch.equal(total.cpu(), expected)


def test_bf16_rounds_to_nearest(kernels: ModuleType, device: str) -> None:
    total = torch.tensor([256.0], dtype=torch.bfloat16, device=device)
    kernels.Count()[(1,)](total, torch.tensor([3.0], dtype=torch.bfloat16, device=device))
    assert total.item() == 260.0  # 259 lies nearer to it than to 258
