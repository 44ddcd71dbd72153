"""The bundled kernels of rows and matrices against float64, in what they are launched as: odd sizes, one and none."""

from __future__ import annotations

from types import ModuleType

import pytest
import torch

import teenyc
from teenyc.resources import kernels_directory

DTYPES = {torch.float32: 2e-6, torch.float16: 2e-3, torch.float64: 1e-13, torch.bfloat16: 1e-2}


def kernels(name: str) -> ModuleType:
    return teenyc.load(kernels_directory() / f"{name}.tk")


def random(*shape: int, dtype: torch.dtype, device: str) -> torch.Tensor:
    return torch.randn(*shape, device=device).to(dtype)


def written(*shape: int, dtype: torch.dtype, device: str) -> torch.Tensor:
    """An output whose elements that nothing writes show."""
    return torch.full(shape, float("nan"), dtype=dtype, device=device)


def agree(got: torch.Tensor, expected: torch.Tensor, bound: float) -> None:
    assert torch.isfinite(got).all()
    error = (got.double() - expected).norm() / expected.norm().clamp_min(1e-30)
    assert error <= bound, float(error)


def compute(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("sizes", [(1, 1, 1), (15, 17, 100), (64, 33, 16), (3, 50, 0)], ids=str)
def test_matmul(sizes: tuple[int, int, int], dtype: torch.dtype, device: str) -> None:
    m, n, k = sizes
    a, b = random(m, k, dtype=dtype, device=device), random(k, n, dtype=dtype, device=device)
    c = written(m, n, dtype=dtype, device=device)
    kernels("matmul").Matmul()[(m, n)](a, b, c, m, n, k)
    agree(c, a.double() @ b.double(), DTYPES[dtype])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("sizes", [(1, 1), (5, 100), (3, 1000), (2, 64)], ids=str)
def test_softmax_and_its_gradient(sizes: tuple[int, int], dtype: torch.dtype, device: str) -> None:
    rows, n = sizes
    x, dy = random(rows, n, dtype=dtype, device=device), random(rows, n, dtype=dtype, device=device)
    y, dx = (written(rows, n, dtype=dtype, device=device) for _ in range(2))
    module = kernels("softmax")
    module.Softmax(n=n)[(rows,)](x, y, rows)
    agree(y, x.double().softmax(1), DTYPES[dtype])
    module.SoftmaxBackward(n=n)[(rows,)](y, dy, dx, rows)
    expected = y.double() * (dy.double() - (y.double() * dy.double()).sum(1, keepdim=True))
    if n > 1:
        agree(dx, expected, DTYPES[dtype])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("sizes", [(1, 2), (5, 100), (3, 1000), (2, 64)], ids=str)
def test_layer_norm(sizes: tuple[int, int], dtype: torch.dtype, device: str) -> None:
    rows, n = sizes
    x = random(rows, n, dtype=dtype, device=device) + 3
    weight, bias = random(n, dtype=dtype, device=device), random(n, dtype=dtype, device=device)
    y = written(rows, n, dtype=dtype, device=device)
    mean, rstd = (written(rows, dtype=compute(dtype), device=device) for _ in range(2))
    kernels("layer_norm").LayerNorm(n=n)[(rows,)](x, weight, bias, y, mean, rstd, rows, 1e-5)
    wide = x.double()
    agree(mean, wide.mean(1), 1e-6)
    agree(rstd, (wide.var(1, unbiased=False) + 1e-5).rsqrt(), 1e-5)
    far = (
        wide.mean(1).abs() * rstd.double()
    ).max() / 3  # what the mean is rounded by counts for more in small distances
    expected = torch.nn.functional.layer_norm(wide, [n], weight.double(), bias.double(), 1e-5)
    agree(y, expected, 2 * DTYPES[dtype] * max(1.0, float(far)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("sizes", [(1, 1), (5, 100), (3, 1000), (2, 64)], ids=str)
def test_cross_entropy(sizes: tuple[int, int], dtype: torch.dtype, device: str) -> None:
    rows, classes = sizes
    x = random(rows, classes, dtype=dtype, device=device) * 20
    target = torch.randint(classes, (rows,), device=device)
    loss, log_sum = (written(rows, dtype=compute(dtype), device=device) for _ in range(2))
    kernels("cross_entropy").CrossEntropy()[(rows,)](x, target, loss, log_sum, rows, classes)
    expected = torch.nn.functional.cross_entropy(x.double(), target, reduction="none")
    agree(log_sum, x.double().logsumexp(1), 1e-6)
    assert torch.allclose(loss.double(), expected, atol=1e-4, rtol=1e-5)
