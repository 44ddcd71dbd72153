"""Methods of Rust's numbers on scalars and tensors: against exact integers and Python's floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from meaning import bounds, empty, gpu_failures, module_of, numbers_of, quotient, remainder, samples, tensor_of, wrapped

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns where integers wrap

COUNT = 64


def clamped(value: int, dtype: str) -> int:
    return min(max(value, bounds(dtype)[0]), bounds(dtype)[1])


def rotated(value: int, count: int, dtype: str) -> int:
    bits = int(dtype[1:])
    value, count = value % (1 << bits), count % bits
    return wrapped(value << count | value >> (bits - count), dtype)


INTEGER: dict[str, Callable[[int, int, str], int]] = {
    "x.wrapping_add(y)": lambda x, y, t: x + y,
    "x.wrapping_sub(y)": lambda x, y, t: x - y,
    "x.wrapping_mul(y)": lambda x, y, t: x * y,
    "x.wrapping_div(d)": lambda x, y, t: quotient(x, y or 1),
    "x.wrapping_rem(d)": lambda x, y, t: remainder(x, y or 1),
    "x.wrapping_neg()": lambda x, y, t: -x,
    "x.wrapping_shl(n)": lambda x, y, t: x << y % int(t[1:]),
    "x.wrapping_shr(n)": lambda x, y, t: x >> y % int(t[1:]),
    "x.saturating_add(y)": lambda x, y, t: clamped(x + y, t),
    "x.saturating_sub(y)": lambda x, y, t: clamped(x - y, t),
    "x.rem_euclid(d)": lambda x, y, t: x % abs(y or 1),
    "x.div_euclid(d)": lambda x, y, t: (x - x % abs(y or 1)) // (y or 1),
    "x.abs_diff(y) as T": lambda x, y, t: abs(x - y),
    "x.rotate_left(n)": lambda x, y, t: rotated(x, y, t),
    "x.rotate_right(n)": lambda x, y, t: rotated(x, -y, t),
    "x.min(y)": lambda x, y, t: min(x, y),
    "x.max(y)": lambda x, y, t: max(x, y),
    "x.clamp(3, 99)": lambda x, y, t: min(max(x, 3), 99),
    "x.signum()": lambda x, y, t: (x > 0) - (x < 0),
    "x.pow(3)": lambda x, y, t: x**3,
    "x.pow(0)": lambda x, y, t: 1,
    "x.pow(13)": lambda x, y, t: x**13,
    "x.is_power_of_two() as T": lambda x, y, t: x > 0 and x & (x - 1) == 0,
}


def integer_text(dtype: str) -> str:
    forms = [form.replace("T", dtype) for form in INTEGER]
    lanes = [f"store(out_ptr + {COUNT * k} + i, {form});" for k, form in enumerate(forms)]
    scalars = [f"store(out_ptr + {k}, {form});" for k, form in enumerate(forms)]
    return f"""
#[kernel]
fn lanes(x_ptr: Pointer<{dtype}>, y_ptr: Pointer<{dtype}>, out_ptr: Pointer<{dtype}>) {{
    let i = arange(0, {COUNT});
    let x = load(x_ptr + i);
    let y = load(y_ptr + i);
    let d = where_(y == 0, 1, y);
    let n = y;
    {" ".join(lanes)}
}}

#[kernel]
fn scalars(x: {dtype}, y: {dtype}, out_ptr: Pointer<{dtype}>) {{
    let d = if y == 0 {{ 1 }} else {{ y }};
    let n = y;
    {" ".join(scalars)}
    store(out_ptr + {len(forms)}, x.max(1));
    store(out_ptr + {len(forms) + 1}, x.min(y).max(2));
}}
"""


@pytest.mark.parametrize("dtype", ["i8", "u8", "i32", "u32", "i64", "u64"])
def test_methods_of_integers(dtype: str, tmp_path: Path, device: str) -> None:
    kernels = module_of(integer_text(dtype), tmp_path)
    x, y = samples(dtype, COUNT, 1), samples(dtype, COUNT, 2)
    out = empty(COUNT * len(INTEGER), dtype, device)
    kernels.Lanes()[(1,)](tensor_of(x, dtype, device), tensor_of(y, dtype, device), out)
    for (form, exact), row in zip(INTEGER.items(), out.reshape(-1, COUNT), strict=True):
        assert numbers_of(row) == [wrapped(int(exact(a, b, dtype)), dtype) for a, b in zip(x, y, strict=True)], form
    for a, b in ((1, 1), (bounds(dtype)[0], bounds(dtype)[1]), (7, 3)):
        out = empty(len(INTEGER) + 2, dtype, device)
        kernels.Scalars()[(1,)](a, b, out)
        wanted = [wrapped(int(exact(a, b, dtype)), dtype) for exact in INTEGER.values()]
        assert numbers_of(out) == [*wanted, max(a, 1), max(min(a, b), 2)]


FLOAT: dict[str, Callable[[float], float]] = {
    "x.trunc()": math.trunc,
    "x.round()": lambda x: math.copysign(math.floor(Fraction(abs(x)) + Fraction(1, 2)), x),
    "x.fract()": lambda x: x - math.trunc(x),
    "x.recip()": lambda x: 1 / x,
    "x.powi(3)": lambda x: x * x * x,
    "x.powi(-2)": lambda x: 1 / (x * x),
    "x.powi(0)": lambda x: 1,
    "x.signum()": lambda x: math.copysign(1, x),
    "x.abs()": abs,
    "x.floor()": math.floor,
    "x.ceil()": math.ceil,
    "x.mul_add(2.0, 1.0)": lambda x: x * 2 + 1,
    "x.max(1.5)": lambda x: max(x, 1.5),
    "x.min(-1.5)": lambda x: min(x, -1.5),
    "x.clamp(-1.0, 1.0)": lambda x: min(max(x, -1), 1),
    "x.abs_diff(1.0)": lambda x: abs(x - 1),
    "x.rem_euclid(2.0)": lambda x: math.fmod(math.fmod(x, 2) + 2, 2),
    "x.abs().sqrt()": lambda x: math.sqrt(abs(x)),
    "x.abs().ln()": lambda x: math.log(abs(x)),
    "x.exp()": math.exp,
}


def float_text() -> str:
    lanes = [f"store(out_ptr + {COUNT * k} + i, {form});" for k, form in enumerate(FLOAT)]
    scalars = [f"store(out_ptr + {k}, {form});" for k, form in enumerate(FLOAT)]
    return f"""
#[kernel]
fn lanes(x_ptr: Pointer<f64>, out_ptr: Pointer<f64>) {{
    let i = arange(0, {COUNT});
    let x = load(x_ptr + i);
    {" ".join(lanes)}
}}

#[kernel]
fn scalars(x: f64, out_ptr: Pointer<f64>, f: f32, flag_ptr: Pointer<i32>) {{
    {" ".join(scalars)}
    store(flag_ptr, f.is_nan() as i32);
    store(flag_ptr + 1, f.is_infinite() as i32);
    store(flag_ptr + 2, f.is_finite() as i32);
}}
"""


def test_methods_of_floats(tmp_path: Path, device: str) -> None:
    kernels = module_of(float_text(), tmp_path)
    edges = [0.5, -0.5, 1.5, -1.5, 2.5, 0.49999999999999994, -0.49999999999999994, 4503599627370497.0, 1e15 + 0.5]
    x = [*edges, *(float(v) for v in np.random.default_rng(5).normal(0, 3, COUNT - len(edges)))]
    x = [min(v, 300.0) if index > len(edges) else v for index, v in enumerate(x)]
    finite = [v if v < 700 else 7.25 for v in x]
    out = empty(COUNT * len(FLOAT), "f64", device)
    kernels.Lanes()[(1,)](tensor_of(finite, "f64", device), out)
    for (form, exact), row in zip(FLOAT.items(), out.reshape(-1, COUNT), strict=True):
        np.testing.assert_allclose(numbers_of(row), [exact(v) for v in finite], rtol=1e-14, err_msg=form)
    for value in (2.5, -7.25):
        for flag, f in enumerate((math.nan, math.inf, 1.0)):
            out, flags = empty(len(FLOAT), "f64", device), empty(3, "i32", device)
            kernels.Scalars()[(1,)](value, out, f, flags)
            np.testing.assert_allclose(numbers_of(out), [exact(value) for exact in FLOAT.values()], rtol=1e-14)
            assert numbers_of(flags) == [int(k == flag) for k in range(3)]


TENSORS = """
#[kernel]
fn tensors(x_ptr: Pointer<f32>, out_ptr: Pointer<f32>, n: i32) {
    let x = load(x_ptr + arange(0, 32)).reshape(&[4, 8]);
    store(out_ptr + arange(0, 4), x.max(1));
    store(out_ptr + 4 + arange(0, 8), x.min(-2));
    store(out_ptr + 12, sum(x.max(0.5)));
    store(out_ptr + 13, x.max());
    store(out_ptr + 14, n.max(1) as f32);
    store(out_ptr + 15, (n as f32).max(2.5).min(3.0));
}
"""


def test_max_of_a_tensor_is_a_reduction_or_meets_a_number(tmp_path: Path, device: str) -> None:
    x = np.random.default_rng(2).normal(size=(4, 8)).astype("float32")
    out = empty(16, "f32", device)
    module_of(TENSORS, tmp_path).Tensors()[(1,)](tensor_of(x.ravel(), "f32", device), out, -3)
    found = numbers_of(out)
    assert found[:4] == x.max(1).tolist()
    assert found[4:12] == x.min(0).tolist()
    np.testing.assert_allclose(found[12], np.maximum(x, 0.5).sum(dtype="f8"), rtol=1e-6)
    assert found[13:] == [x.max(), 1, 2.5]


WRAPPING = """
#[kernel]
fn hashed(x_ptr: Pointer<i32>, out_ptr: Pointer<i32>, n: i32) {
    let h = n.wrapping_mul(-1640531535);
    let slot = h.wrapping_add(n).rem_euclid(8);
    store(out_ptr + slot, load(x_ptr + slot) + 1);
    let u = (n as u32).wrapping_mul(2654435761) >> 29;
    store(out_ptr + 8 + u as i32, 1);
}
"""


@pytest.mark.parametrize("n", [1, 77, 2**31 - 1, -5])
def test_what_is_asked_to_wrap_wraps_on_its_way_to_an_address(n: int, tmp_path: Path, device: str) -> None:
    out = tensor_of([0] * 16, "i32", device)
    module_of(WRAPPING, tmp_path).Hashed()[(1,)](tensor_of(range(8), "i32", device), out, n)
    slot = wrapped(wrapped(n * -1640531535, "i32") + n, "i32") % 8
    wanted = [0] * 16
    wanted[slot] = slot + 1
    wanted[8 + (wrapped(n * 2654435761, "u32") >> 29)] = 1
    assert numbers_of(out) == wanted


def test_kernels_compile_for_a_gpu(tmp_path: Path) -> None:
    texts = {dtype: integer_text(dtype) for dtype in ("i8", "u32", "i64")}
    texts |= {"floats": float_text(), "tensors": TENSORS, "wrapping": WRAPPING}
    assert gpu_failures(texts, tmp_path, {}, {}) == ""
