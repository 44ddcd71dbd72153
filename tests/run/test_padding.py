"""Padded axes: the kernels of `golden/padded_rows.tk` against float64, beside memory that they must not touch."""

from __future__ import annotations

from functools import reduce
from math import prod
from operator import and_, xor
from pathlib import Path
from types import ModuleType

import pytest
import torch
from attention import attention, relative_error
from memory import MARGIN, Guarded

import teenyc

SOURCE = Path(__file__).parents[1] / "golden" / "padded_rows.tk"
EPS = 2.0**-10  # exact in f32
SIZES = pytest.mark.parametrize("n", [1, 3, 5, 7, 12, 16, 33, 64, 80, 96, 100, 112])
TOLERANCE = {torch.float32: 2e-6, torch.float64: 1e-13, torch.float16: 2e-3, torch.bfloat16: 1e-2}
dtypes = pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d).removeprefix("torch."))


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    return teenyc.load(SOURCE)


def poisoned(x: torch.Tensor, device: str) -> torch.Tensor:
    """The tensor with NaN, or the greatest integer, in the memory around it."""
    bad = float("nan") if x.dtype.is_floating_point else torch.iinfo(x.dtype).max
    whole = torch.full((2 * MARGIN + x.numel(),), bad, dtype=x.dtype, device=device)
    inside = whole[MARGIN : MARGIN + x.numel()].view(x.shape)
    return inside.copy_(x)


def given(device: str, dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return poisoned(torch.randn(shape, dtype=torch.float64).to(dtype), device)


def check(got: torch.Tensor, expected: torch.Tensor) -> None:
    assert relative_error(got.cpu(), expected.cpu()) < TOLERANCE[got.dtype]


@dtypes
@SIZES
def test_a_row_changes_and_nothing_beside_it(kernels: ModuleType, device: str, dtype: torch.dtype, n: int) -> None:
    x = given(device, dtype, 4, n)
    before = x.clone()
    kernels.ScaleRows(n)[(2,)](x)
    expected = before.double() * torch.tensor([[2.0], [3.0], [1.0], [1.0]], device=device)
    assert torch.equal(x, expected.to(dtype))


@dtypes
@SIZES
def test_norms_count_true_lanes_only(kernels: ModuleType, device: str, dtype: torch.dtype, n: int) -> None:
    x, w, b = given(device, dtype, 3, n), given(device, dtype, n), given(device, dtype, n)
    y, z = Guarded((3, n), dtype, device), Guarded((3, n), dtype, device)
    moved = poisoned((x + 3).cpu(), device)
    kernels.LayerNorm(n)[(3,)](moved, w, b, y.tensor, EPS)
    kernels.RmsNorm(n)[(3,)](x, z.tensor, EPS)
    check(y.check(), torch.nn.functional.layer_norm(moved.double(), (n,), w.double(), b.double(), EPS))
    check(z.check(), x.double() * (x.double().square().mean(1, keepdim=True) + EPS).rsqrt())


@dtypes
@SIZES
def test_softmax_of_a_block_of_rows(kernels: ModuleType, device: str, dtype: torch.dtype, n: int) -> None:
    x, y = given(device, dtype, 5, n), Guarded((5, n), dtype, device)
    kernels.SoftmaxBlock(4, n)[(2,)](x, y.tensor, 5)
    check(y.check(), x.double().softmax(1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["f32", "f16"])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 16), (12, 5), (16, 33), (33, 80), (80, 96)])
def test_products(kernels: ModuleType, device: str, dtype: torch.dtype, n: int, k: int) -> None:
    a, b, c = given(device, dtype, 19, k), given(device, dtype, n, k), Guarded((19, n), dtype, device)
    kernels.Product(16, n, k)[(2,)](a, b, c.tensor, 19)
    check(c.check(), a.double() @ b.double().T)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["f32", "f16"])
@pytest.mark.parametrize("n", [5, 16, 80, 96])
def test_attention(kernels: ModuleType, device: str, dtype: torch.dtype, n: int) -> None:
    q, k, v = (given(device, dtype, 1, 19, n) for _ in range(3))
    o = Guarded((1, 19, n), dtype, device)
    kernels.Attention(16, n)[(2,)](q, k, v, o.tensor, 19, n**-0.5)
    check(o.check(), attention(q, k, v, torch.ones_like(q), n**-0.5).o)


@SIZES
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_extrema_are_of_true_lanes(kernels: ModuleType, device: str, n: int, sign: float) -> None:
    """Rows of one sign: the zeros with which lanes are loaded would win."""
    x = poisoned((torch.rand(3, n) + 0.5) * sign, device)
    values, places = Guarded((3, 4), torch.float32, device), torch.full((3, 4), -7, dtype=torch.int32, device=device)
    kernels.Extrema(n)[(3,)](x, values.tensor, places)
    greatest, least = x.max(1), x.min(1)
    expected = torch.stack([greatest.values, greatest.values, least.values, -least.values], 1)
    assert torch.equal(values.check(), expected)
    whole = x.exp().int().argmin(1)
    assert places.tolist() == torch.stack([greatest.indices, greatest.indices, least.indices, whole], 1).tolist()


@pytest.mark.filterwarnings("ignore:All-NaN slice encountered:RuntimeWarning")
@pytest.mark.parametrize("n", [3, 12])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_extrema_of_rows_without_a_number(kernels: ModuleType, device: str, n: int, value: float) -> None:
    x = torch.full((2, n), value, device=device)
    values, places = torch.zeros((2, 4), device=device), torch.full((2, 4), -7, dtype=torch.int32, device=device)
    kernels.Extrema(n)[(2,)](x, values, places)
    expected = torch.tensor([value, value, -value], device=device).expand(2, 3)
    assert torch.equal(values[:, 1:].nan_to_num(77), expected.nan_to_num(77))
    assert bool(((places >= 0) & (places < n)).all())


@SIZES
def test_scans_and_sorted_rows(kernels: ModuleType, device: str, n: int) -> None:
    x, out = poisoned(torch.rand(3, n) + 0.5, device), Guarded((3, 5, n), torch.float32, device)
    kernels.Scans(n)[(3,)](x, out.tensor)
    wide, ascending = x.double(), x.double().sort(1).values
    from_end = [f(wide.flip(1), 1).flip(1) for f in (torch.cumsum, torch.cumprod)]
    expected = torch.stack([wide.cumsum(1), *from_end, ascending, ascending.flip(1)], 1)
    got = out.check()
    assert torch.allclose(got.double(), expected, rtol=1e-4)
    assert torch.equal(got[:, 3].double(), ascending)


@pytest.mark.parametrize("n", [2, 3, 5, 12, 16, 33, 80])
def test_axes_of_half_and_twice_the_extent(kernels: ModuleType, device: str, n: int) -> None:
    x = given(device, torch.float32, 3, n)
    half, twice = Guarded((3, n // 2), torch.float32, device), Guarded((3, 2 * n), torch.float32, device)
    kernels.Halves(n)[(3,)](x, half.tensor, twice.tensor)
    m = n // 2
    assert torch.equal(half.check(), x[:, :m] - x[:, m : 2 * m])
    assert torch.equal(twice.check(), torch.stack([x, -x], 2).reshape(3, 2 * n))


@SIZES
def test_integers(kernels: ModuleType, device: str, n: int) -> None:
    x = poisoned(torch.randint(1, 16, (n,), dtype=torch.int32), device)
    counts = torch.zeros(37, dtype=torch.int32, device=device)
    quotients = torch.full((n + 8,), -7, dtype=torch.int32, device=device)
    kernels.Integers(n)[(1,)](x, counts, quotients[:n])
    seen = torch.bincount(x.cpu(), minlength=16).tolist()
    numbers = x.tolist()
    folded = [max(numbers), min(numbers), prod(v % 2 * 2 - 1 for v in numbers), reduce(and_, numbers) | 16]
    assert counts.tolist() == [*seen, *seen, reduce(xor, numbers), *folded]
    assert quotients.tolist() == [*(1000 // v + numbers[v % n] for v in numbers), *[-7] * 8]


@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 5), (6, 8), (8, 3), (12, 7)])
@pytest.mark.parametrize("offset", [-3.0, 1.0])
def test_two_padded_axes(kernels: ModuleType, device: str, n: int, k: int, offset: float) -> None:
    x = poisoned(torch.rand(2, n, k) + offset, device)
    sums, rows = Guarded((4,), torch.float32, device), Guarded((2 * n + k,), torch.float32, device)
    kernels.Cube(n, k)[(1,)](x, sums.tensor, rows.tensor)
    wide = x.double()
    both = wide.sum(0)
    check(sums.check(), torch.stack([(wide + 1).sum(), wide.max(), both.min() - 2, (both > 0.5).any().double()]))
    lengths = torch.hypot(wide, torch.ones_like(wide)).sum(2) * 0.5
    check(rows.check(), torch.cat([lengths.ravel(), wide.amax((0, 1))]))


@pytest.mark.parametrize("n", [1, 3, 5, 8, 12])
def test_functions_of_the_source(kernels: ModuleType, device: str, n: int) -> None:
    x = poisoned(torch.randint(0, 5, (2, n)).float() - 3, device)
    out, place = Guarded((2, n), torch.float32, device), torch.full((2, n + 4), -7, dtype=torch.int32, device=device)
    kernels.Functions(n)[(1,)](x, out.tensor, place.view(-1)[: 2 * n])
    running = x[0].cummax(0)
    assert torch.equal(out.check(), torch.stack([running.values, x.amax(0)]))
    last = (x[1] >= x[0]).int()
    assert place.view(-1).tolist() == [*running.indices.tolist(), *last.tolist(), *[-7] * 8]


def test_a_padded_constant_need_only_be_positive(kernels: ModuleType, device: str) -> None:
    x = torch.ones(4, device=device)
    for n in (0, -3):
        with pytest.raises(ValueError, match="must be at least 1"):
            kernels.ScaleRows(n)[(1,)](x)
