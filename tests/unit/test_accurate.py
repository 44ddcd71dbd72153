"""Functions of floats against exact arithmetic: `fma` rounds once, `erf` and others are right to the last bit or so."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.products import multiplied

RNG = np.random.default_rng(5)


def reference(name: str) -> Callable[..., Any]:
    found = TABLE[name].reference
    assert found is not None
    return found


def exactly(x: Any, y: Any, z: Any, dtype: str) -> Any:
    """`x * y + z` of finite numbers, from fractions, which NumPy rounds to f32 after they were made odd."""
    found = []
    for numbers in zip(x.tolist(), y.tolist(), z.tolist(), strict=True):
        a, b, c = map(Fraction, numbers)
        found.append(_rounded(a * b + c, dtype))
    return np.array(found, dtype)


def _rounded(exact: Fraction, dtype: str) -> float:
    near = np.dtype(dtype).type(float(exact))
    around = [near, np.nextafter(near, near.dtype.type(-np.inf)), np.nextafter(near, near.dtype.type(np.inf))]
    finite = [n for n in around if np.isfinite(n)]
    return float(min(finite, key=lambda n: (abs(Fraction(float(n)) - exact), int(n.view(f"u{n.itemsize}")) & 1)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fma_rounds_once(dtype: str) -> None:
    """Also where the product and the sum nearly cancel, or lie half-way between two numbers."""
    x, y = (RNG.standard_normal(600).astype(dtype) * 2.0 ** RNG.integers(-9, 9, 600) for _ in range(2))
    x, y = x.astype(dtype), y.astype(dtype)
    near = -(x * y)
    z = np.where(np.arange(600) % 3 == 0, near, near * RNG.standard_normal(600)).astype(dtype)
    z[::7] *= np.dtype(dtype).type(2.0**-40)
    np.testing.assert_array_equal(reference("fma")(x, y, z), exactly(x, y, z, dtype))


def test_fma_of_far_and_strange_numbers() -> None:
    x = np.array([1e300, 1e-200, np.inf, np.nan, 1.0, 5e-324, 2.0, -0.0])
    y = np.array([1e300, 1e-200, 0.0, 1.0, -1.0, 0.5, 1e308, 3.0])
    z = np.array([-np.inf, 1.0, 1.0, 1.0, 1.0, 5e-324, -1e308, -0.0])
    expected = [-math.inf, 1.0, math.nan, math.nan, 0.0, 1e-323, 1e308, -0.0]
    found = reference("fma")(x, y, z)
    np.testing.assert_array_equal(found, expected)
    assert math.copysign(1, found[-1]) == -1


@pytest.mark.parametrize("name", ["exp", "exp2", "log", "sigmoid", "erf"])
def test_f32_is_right_to_the_last_bit(name: str) -> None:
    x = RNG.uniform(-20, 20, 20_000).astype("f")
    x = np.abs(x) + np.float32(1e-3) if name == "log" else x
    exact = reference(name)(x.astype("d"))
    found = reference(name)(x)
    assert found.dtype == np.float32
    assert (np.abs(found - exact) <= 0.5001 * np.spacing(np.abs(found)).astype("d")).all()


def test_the_error_function() -> None:
    x = np.concatenate([RNG.uniform(-7, 7, 4000), 10.0 ** RNG.uniform(-300, 0, 500), [0.0, -0.0, np.inf, -np.inf]])
    exact = np.array([math.erf(v) for v in x.tolist()])
    found = reference("erf")(x)
    assert (np.abs(found - exact) <= 3 * np.spacing(np.abs(exact))).all()
    assert np.signbit(found[-3])
    assert np.isnan(reference("erf")(np.array([np.nan]))).all()


# ---- products -------------------------------------------------------------------------------------------------------


def test_tf32_cuts_operands() -> None:
    """2¹⁰ + 1 + 2⁻¹ has 12 bits: the matrix units read the first eleven."""
    one = np.eye(16, dtype="f")
    x = np.full((16, 16), 1025.5, "f")
    assert (multiplied(x, one, "tf32") == 1025).all()
    assert (multiplied(-x, one, "tf32") == -1025).all()
    assert (multiplied(x, one, "ieee") == 1025.5).all()
    assert (multiplied(np.full((16, 16), np.inf, "f"), one + 1, "tf32x3") == np.inf).all()


@pytest.mark.parametrize(
    ("precision", "least", "most"),
    [("tf32", 2e-4, 2e-3), ("tf32x3", 0, 5e-7), ("bf16x3", 1e-6, 4e-5), ("bf16x6", 0, 5e-7), ("ieee", 0, 5e-7)],
)
def test_precisions_are_as_near_as_their_bits(precision: str, least: float, most: float) -> None:
    a, b = (RNG.standard_normal((64, 64)).astype("f") for _ in range(2))
    exact = a.astype("d") @ b.astype("d")
    error = np.linalg.norm(multiplied(a, b, precision) - exact) / np.linalg.norm(exact)
    assert least <= error <= most
