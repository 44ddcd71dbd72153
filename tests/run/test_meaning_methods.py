"""Methods of Rust's numbers on scalars and tensors: against exact integers and Python's floats."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from meaning import (
    INTEGERS,
    bounds,
    empty,
    gpu_failures,
    module_of,
    numbers_of,
    quotient,
    remainder,
    samples,
    tensor_of,
    wrapped,
)

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
    "(x.abs_diff(y) >> 1) as T": lambda x, y, t: abs(x - y) >> 1,
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
    "x.saturating_mul(y)": lambda x, y, t: clamped(x * y, t),
    "x.wrapping_abs()": lambda x, y, t: abs(x),
    "x.wrapping_pow(5)": lambda x, y, t: x**5,
    "x.wrapping_pow(e)": lambda x, y, t: x ** (y & 63),
    "x.pow(e)": lambda x, y, t: x ** (y & 63),
    "x.pow(70)": lambda x, y, t: x**70,
    "x.div_ceil(d)": lambda x, y, t: -(-x // (y or 1)),
    "x.next_multiple_of(d)": lambda x, y, t: -(-x // (y or 1)) * (y or 1),
    "x.next_power_of_two()": lambda x, y, t: 1 << max(x - 1, 0).bit_length() if x > 1 else 1,
    "x.maximum(1).ilog2() as T": lambda x, y, t: max(x, 1).bit_length() - 1,
    "x.count_ones() as T": lambda x, y, t: digits(x, t).count("1"),
    "x.count_zeros() as T": lambda x, y, t: digits(x, t).count("0"),
    "x.leading_zeros() as T": lambda x, y, t: len(digits(x, t)) - len(digits(x, t).lstrip("0")),
    "x.leading_ones() as T": lambda x, y, t: len(digits(x, t)) - len(digits(x, t).lstrip("1")),
    "x.trailing_zeros() as T": lambda x, y, t: len(digits(x, t)) - len(digits(x, t).rstrip("0")),
    "x.trailing_ones() as T": lambda x, y, t: len(digits(x, t)) - len(digits(x, t).rstrip("1")),
    "x.reverse_bits()": lambda x, y, t: int(digits(x, t)[::-1], 2),
    "x.swap_bytes()": lambda x, y, t: int.from_bytes(int(digits(x, t), 2).to_bytes(int(t[1:]) // 8, "little")),
}

SIGNED: dict[str, Callable[[int, int, str], int]] = {
    "x.unsigned_abs() as T": lambda x, y, t: abs(x),
    "(x.unsigned_abs() / 2) as T": lambda x, y, t: abs(x) // 2,
    "x.is_positive() as T": lambda x, y, t: x > 0,
    "x.is_negative() as T": lambda x, y, t: x < 0,
}


def digits(value: int, dtype: str) -> str:
    """The bits of an integer, the highest first."""
    bits = int(dtype[1:])
    return format(value % (1 << bits), f"0{bits}b")


def forms_of(dtype: str) -> dict[str, Callable[[int, int, str], int]]:
    return INTEGER | (SIGNED if dtype[0] == "i" else {})


def integer_text(dtype: str) -> str:
    forms = [form.replace("T", dtype) for form in forms_of(dtype)]
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
    let e = y as u32 & 63;
    {" ".join(lanes)}
}}

#[kernel]
fn scalars(x: {dtype}, y: {dtype}, out_ptr: Pointer<{dtype}>) {{
    let d = if y == 0 {{ 1 }} else {{ y }};
    let n = y;
    let e = y as u32 & 63;
    {" ".join(scalars)}
    store(out_ptr + {len(forms)}, x.max(1));
    store(out_ptr + {len(forms) + 1}, x.min(y).max(2));
}}
"""


@pytest.mark.parametrize("dtype", INTEGERS)
def test_methods_of_integers(dtype: str, tmp_path: Path, device: str) -> None:
    kernels = module_of(integer_text(dtype), tmp_path)
    x, y = samples(dtype, COUNT, 1), samples(dtype, COUNT, 2)
    forms = forms_of(dtype)
    out = empty(COUNT * len(forms), dtype, device)
    kernels.Lanes()[(1,)](tensor_of(x, dtype, device), tensor_of(y, dtype, device), out)
    for (form, exact), row in zip(forms.items(), out.reshape(-1, COUNT), strict=True):
        assert numbers_of(row) == [wrapped(int(exact(a, b, dtype)), dtype) for a, b in zip(x, y, strict=True)], form
    for a, b in ((1, 1), (bounds(dtype)[0], bounds(dtype)[1]), (7, 3)):
        out = empty(len(forms) + 2, dtype, device)
        kernels.Scalars()[(1,)](a, b, out)
        wanted = [wrapped(int(exact(a, b, dtype)), dtype) for exact in forms.values()]
        assert numbers_of(out) == [*wanted, max(a, 1), max(min(a, b), 2)]


def literal(value: int, dtype: str) -> str:
    return f"({value}{dtype})" if value >= 0 else f"(-{-value}{dtype})"


def substituted(form: str, words: dict[str, str]) -> str:
    return re.sub(r"\b[xydneT]\b", lambda match: words[match[0]], form)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_methods_of_literals_mean_the_same(dtype: str, tmp_path: Path, device: str) -> None:
    """What is known when a kernel is compiled, and folded then."""
    low, high = bounds(dtype)
    pairs = [(low, high), (high, 3), (low, -1 if low < 0 else 1), (5, 2), (0, 1)]
    lines: list[str] = []
    wanted: list[int] = []
    for a, b in pairs:
        words = {"x": literal(a, dtype), "y": literal(b, dtype), "d": literal(b, dtype), "n": literal(b, dtype)}
        words |= {"e": f"{b & 63}u32", "T": dtype}
        for form, exact in forms_of(dtype).items():
            text = substituted(form, words)
            lines.append(f"store(out_ptr + {len(wanted)}, {text});")
            wanted.append(wrapped(int(exact(a, b, dtype)), dtype))
    kernel = f"#[kernel]\nfn literals(out_ptr: Pointer<{dtype}>) {{ {' '.join(lines)} }}"
    out = empty(len(wanted), dtype, device)
    module_of(kernel, tmp_path).Literals()[(1,)](out)
    for line, found, expected in zip(lines, numbers_of(out), wanted, strict=True):
        assert found == expected, line


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
    "x.exp_m1()": math.expm1,
    "x.exp2()": lambda x: 2.0**x,
    "x.abs().ln_1p()": lambda x: math.log1p(abs(x)),
    "x.abs().log2()": lambda x: math.log2(abs(x)),
    "x.abs().log10()": lambda x: math.log10(abs(x)),
    "x.abs().log(3.0)": lambda x: math.log(abs(x), 3),
    "x.sin()": math.sin,
    "x.cos()": math.cos,
    "x.tan()": math.tan,
    "x.sin_cos().1": math.cos,
    "x.atan()": math.atan,
    "x.atan2(2.0)": lambda x: math.atan2(x, 2),
    "x.clamp(-1.0, 1.0).asin()": lambda x: math.asin(min(max(x, -1), 1)),
    "x.clamp(-1.0, 1.0).acos()": lambda x: math.acos(min(max(x, -1), 1)),
    "x.sinh()": math.sinh,
    "x.cosh()": math.cosh,
    "x.tanh()": math.tanh,
    "x.asinh()": math.asinh,
    "(x.abs() + 1.0).acosh()": lambda x: math.acosh(abs(x) + 1),
    "x.fract().atanh()": lambda x: math.atanh(x - math.trunc(x)),
    "x.cbrt()": lambda x: math.copysign(abs(x) ** (1 / 3), x),
    "x.hypot(4.0)": lambda x: math.hypot(x, 4),
    "x.copysign(-1.0)": lambda x: -abs(x),
    "x.abs().powf(1.5)": lambda x: abs(x) ** 1.5,
    "x.powi(k)": lambda x: x**-3,
    "x.powi(65) * 1e-30": lambda x: x**65 * 1e-30,
    "x.div_euclid(-2.0)": lambda x: -float(Fraction(x) // 2),
    "x.to_degrees()": math.degrees,
    "x.to_radians()": math.radians,
    "x.round_ties_even()": lambda x: math.copysign(round(x), x),
    "f64::from_bits(x.to_bits())": lambda x: x,
    "where_(x.is_sign_negative(), -1.0, 1.0)": lambda x: math.copysign(1, x),
    "where_(x.is_sign_positive(), 1.0, -1.0)": lambda x: math.copysign(1, x),
}


def float_text() -> str:
    lanes = [f"store(out_ptr + {COUNT * k} + i, {form});" for k, form in enumerate(FLOAT)]
    scalars = [f"store(out_ptr + {k}, {form});" for k, form in enumerate(FLOAT)]
    return f"""
#[kernel]
fn lanes(x_ptr: Pointer<f64>, out_ptr: Pointer<f64>, k: i32) {{
    let i = arange(0, {COUNT});
    let x = load(x_ptr + i);
    {" ".join(lanes)}
}}

#[kernel]
fn scalars(x: f64, out_ptr: Pointer<f64>, f: f32, flag_ptr: Pointer<i32>, k: i32) {{
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
    finite = [v if abs(v) < 700 else 7.25 for v in x]
    out = empty(COUNT * len(FLOAT), "f64", device)
    kernels.Lanes()[(1,)](tensor_of(finite, "f64", device), out, -3)
    for (form, exact), row in zip(FLOAT.items(), out.reshape(-1, COUNT), strict=True):
        np.testing.assert_allclose(numbers_of(row), [exact(v) for v in finite], rtol=1e-14, err_msg=form)
    for value in (2.5, -7.25):
        for flag, f in enumerate((math.nan, math.inf, 1.0)):
            out, flags = empty(len(FLOAT), "f64", device), empty(3, "i32", device)
            kernels.Scalars()[(1,)](value, out, f, flags, -3)
            np.testing.assert_allclose(numbers_of(out), [exact(value) for exact in FLOAT.values()], rtol=1e-14)
            assert numbers_of(flags) == [int(k == flag) for k in range(3)]


EDGES: dict[str, list[float]] = {  # of NaN, infinities, zeros, and halves
    "x.signum()": [math.nan, 1, -1, 1, -1, 1, -1],
    "x.clamp(-0.25, 0.25)": [math.nan, 0.25, -0.25, 0.0, -0.0, 0.25, -0.25],
    "x.max(0.25)": [0.25, math.inf, 0.25, 0.25, 0.25, 0.5, 0.25],
    "x.round()": [math.nan, math.inf, -math.inf, 0.0, -0.0, 1, -1],
    "x.trunc()": [math.nan, math.inf, -math.inf, 0.0, -0.0, 0.0, -0.0],
    "where_(x.is_nan(), 1.0, 0.0)": [1, 0, 0, 0, 0, 0, 0],
    "where_(x.is_infinite(), 1.0, 0.0)": [0, 1, 1, 0, 0, 0, 0],
    "where_(x.is_finite(), 1.0, 0.0)": [0, 0, 0, 1, 1, 1, 1],
    "x.recip()": [math.nan, 0.0, -0.0, math.inf, -math.inf, 2, -2],
    "x.copysign(-1.0).abs()": [math.nan, math.inf, math.inf, 0.0, 0.0, 0.5, 0.5],
}


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
@pytest.mark.parametrize("signature", ["<D: Float>", ""])
def test_methods_of_floats_at_the_edges(dtype: str, signature: str, tmp_path: Path, device: str) -> None:
    element = "D" if signature else dtype
    lines = [f"store(out_ptr + {8 * k} + i, {form});" for k, form in enumerate(EDGES)]
    kernels = module_of(
        f"""
#[kernel]
fn edges{signature}(x_ptr: Pointer<{element}>, out_ptr: Pointer<{element}>) {{
    let i = arange(0, 8);
    let x = load(x_ptr + i);
    {" ".join(lines)}
}}
""",
        tmp_path,
    )
    given = [math.nan, math.inf, -math.inf, 0.0, -0.0, 0.5, -0.5, 1.0]
    out = empty(8 * len(EDGES), dtype, device)
    kernels.Edges()[(1,)](tensor_of(given, dtype, device), out)
    for (form, wanted), row in zip(EDGES.items(), out.reshape(-1, 8), strict=True):
        found = numbers_of(row)[:7]
        np.testing.assert_array_equal(found, wanted, err_msg=form)
        signs = [math.copysign(1, v) for v in wanted if not math.isnan(v)]
        assert [math.copysign(1, v) for v in found if not math.isnan(v)] == signs, form


@pytest.mark.parametrize(("dtype", "bits"), [("f16", "u16"), ("bf16", "u16"), ("f32", "u32"), ("f64", "u64")])
def test_bits_of_floats(dtype: str, bits: str, tmp_path: Path, device: str) -> None:
    kernels = module_of(
        f"""
#[kernel]
fn bits(x_ptr: Pointer<{dtype}>, n_ptr: Pointer<{bits}>, out_ptr: Pointer<{dtype}>) {{
    let i = arange(0, 8);
    let n = load(x_ptr + i).to_bits();
    store(n_ptr + i, n);
    store(out_ptr + i, {dtype}::from_bits(n ^ 1));
}}
""",
        tmp_path,
    )
    x = tensor_of([0.0, -0.0, 1.0, -2.5, 1e-3, 300.0, math.inf, 0.1], dtype, device)
    found, out = empty(8, bits, device), empty(8, dtype, device)
    kernels.Bits()[(1,)](x, found, out)
    width = getattr(torch, f"int{bits[1:]}")
    assert torch.equal(found.view(width), x.view(width))
    assert torch.equal(out.view(width), x.view(width) ^ 1)


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


PATHS = """
#[kernel]
fn paths(out_ptr: Pointer<f64>, n: i32, k: u8, w: i64, s: f64) {
    store(out_ptr, i32::max(n, 3) as f64);
    store(out_ptr + 1, f64::sqrt(s));
    store(out_ptr + 2, std::f64::consts::PI + f64::consts::E);
    store(out_ptr + 3, core::f64::MAX);
    store(out_ptr + 4, f64::powi(s, 2).max(1.0));
    store(out_ptr + 5, (n << k) as f64);
    store(out_ptr + 6, (n >> w) as f64);
    store(out_ptr + 7, (k << n) as f64);
    store(out_ptr + 8, (w >> 3u32) as f64);
    let mut x = n;
    x <<= w;
    store(out_ptr + 9, x as f64);
}
"""


@pytest.mark.parametrize(("n", "k", "w"), [(5, 3, 1), (-77, 33, 40), (1, 1, 1), (2**31 - 1, 255, -1)])
def test_paths_of_types_and_counts_of_other_types(n: int, k: int, w: int, tmp_path: Path, device: str) -> None:
    out = empty(10, "f64", device)
    module_of(PATHS, tmp_path).Paths()[(1,)](out, n, k, w, 2.5)
    assert numbers_of(out) == [
        max(n, 3), math.sqrt(2.5), math.pi + math.e, float(np.finfo("f8").max), 6.25, wrapped(n << k % 32, "i32"),
        n >> w % 32, wrapped(k << n % 8, "u8"), w >> 3, wrapped(n << w % 32, "i32"),
    ]  # fmt: skip


def test_kernels_compile_for_a_gpu(tmp_path: Path) -> None:
    texts = {dtype: integer_text(dtype) for dtype in ("i8", "u32", "i64")}
    texts |= {"floats": float_text(), "tensors": TENSORS, "wrapping": WRAPPING, "paths": PATHS}
    assert gpu_failures(texts, tmp_path, {}, {}) == ""
