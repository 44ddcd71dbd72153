"""8-bit floats: casts round once, to nearest even or toward zero, and saturate, against all values of each format."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from intrinsic_kernels import Array, module

triton = pytest.importorskip("triton")

FORMATS = {
    # bits of mantissa, bias, greatest value, whether zero has no sign
    "float8e4nv": (3, 7, 448.0, False),
    "float8e5": (2, 15, 57344.0, False),
    "float8e4b8": (3, 8, 240.0, True),
    "float8e5b16": (2, 16, 57344.0, True),
    "float8e4b15": (3, 15, 1.75, False),
}
KERNEL = """@triton.jit
def run_{name}(x_ptr, code_ptr, cut_ptr):
    x = tl.load(x_ptr + tl.arange(0, 1024))
    tl.store(code_ptr + tl.arange(0, 1024), _to_f8(x, tl.{name}).to(tl.uint8, bitcast=True))
    tl.store(cut_ptr + tl.arange(0, 1024), _to_f8(x, tl.{name}, True).to(tl.uint8, bitcast=True))
"""


def values_of(name: str) -> Array:
    """The values of the codes from 0 to the greatest, ascending."""
    mantissa, bias, greatest, _ = FORMATS[name]
    codes = np.arange(128)
    exponent, fraction = codes >> mantissa, (codes % (1 << mantissa)) / 2.0**mantissa
    values = np.where(exponent == 0, 2.0 ** (1 - bias) * fraction, 2.0 ** (exponent - bias) * (1 + fraction))
    return values[values <= greatest]


def expected(name: str, x: Array, toward_zero: bool) -> Array:
    values, (_, _, greatest, is_unsigned) = values_of(name), FORMATS[name]
    size = np.minimum(np.abs(x).astype(np.longdouble), greatest)
    below = np.clip(np.searchsorted(values, size, side="right") - 1, 0, len(values) - 1)
    above = np.minimum(below + 1, len(values) - 1)
    down, up = size - values[below], values[above] - size
    is_up = (up < down) | ((up == down) & (below % 2 == 1))
    code = np.where(is_up & (not toward_zero) & (above > below), above, below)
    signed = code + 128 * np.signbit(x)
    signed = np.where((code == 0) & is_unsigned, 0, signed)
    return np.where(np.isnan(x), 128 if is_unsigned else 127, signed).astype(np.uint8)


def samples(name: str, dtype: str) -> Array:
    values = values_of(name)
    near = np.concatenate([values, (values[1:] + values[:-1]) / 2, values * 1.25, values * 5, [1e30, np.inf, 1e-30]])
    step = np.nextafter(near.astype(dtype), np.array(0, dtype))
    rest = np.random.default_rng(3).uniform(0, FORMATS[name][2] * 1.1, 1024)
    whole = np.concatenate([near, step, rest])[:1024].astype(dtype)
    whole[::2] *= -1
    whole[5] = np.nan
    return whole


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = Path(tmp_path_factory.mktemp("bytes")) / "byte_cases.py"
    return module([], path, [KERNEL.format(name=name) for name in FORMATS])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", FORMATS)
def test_bytes_are_the_nearest(kernels: ModuleType, name: str, dtype: str, device: str) -> None:
    if device == "cuda" and name in ("float8e4b8", "float8e5b16"):
        pytest.skip("no GPU of NVIDIA has these formats")
    if device == "cpu" and name in ("float8e4b8", "float8e5b16") and triton.__version__ < "3.8":
        pytest.skip("Triton's interpreter has these formats since 3.8")
    with np.errstate(over="ignore"):
        x = samples(name, dtype)
    code, cut = run(getattr(kernels, f"run_{name}"), x, device)
    if name == "float8e4b15":
        x, code, cut = (a[~np.isnan(x)] for a in (x, code, cut))
    np.testing.assert_array_equal(cut & 0x7F, expected(name, x, toward_zero=True) & 0x7F)
    np.testing.assert_array_equal(code & 0x7F, expected(name, x, toward_zero=False) & 0x7F)
    is_number = ~np.isnan(x)
    np.testing.assert_array_equal(code[is_number], expected(name, x, toward_zero=False)[is_number])


def run(kernel: Any, x: Array, device: str) -> tuple[Array, Array]:
    import torch

    code, cut = (torch.zeros(1024, dtype=torch.uint8).to(device) for _ in range(2))
    kernel[(1,)](torch.from_numpy(x).to(device), code, cut)
    return code.cpu().numpy(), cut.cpu().numpy()
