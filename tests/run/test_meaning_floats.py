"""Floats: constants keep their digits, scalars are typed, NaN follows IEEE, narrow types compute in f32."""

from __future__ import annotations

import math
import operator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from meaning import Array, empty, gpu_failures, module_of, numbers_of, tensor_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns of NaN

COMPUTED = {"f16": np.float32, "bf16": np.float32, "f32": np.float32, "f64": np.float64}


def stored(value: Any, dtype: str) -> float:
    """A number after a store into memory of a type."""
    number = torch.tensor(float(value), dtype=torch.float64)
    single = number.float()
    return {
        "f16": single.half().double(),
        "bf16": single.bfloat16().double(),
        "f32": single.double(),
        "f64": number,
    }[dtype].item()


# ---- constants ------------------------------------------------------------------------------------------------------

CONSTANTS = """
const TENTH: f64 = 0.1;
const SINGLE: f32 = 0.1;
const COUNT: i64 = 3_000_000_000;

#[kernel]
fn constants<D: Float>(x_ptr: Pointer<D>, out_ptr: Pointer<D>, wide_ptr: Pointer<f64>, s: f32, w: f64) {
    let one = load(x_ptr);
    store(out_ptr + 0 + arange(0, 1), full::<D>(&[1], 0.1));
    store(out_ptr + 1 + arange(0, 1), cast::<f32, D>(full::<f32>(&[1], 0.1)));
    store(out_ptr + 2, D::from_f64(0.1));
    store(out_ptr + 3, D::from_f32(0.1));
    store(out_ptr + 4, one * 0.1);
    store(out_ptr + 5, one * 0.1f32);
    store(out_ptr + 6, one * SINGLE);
    store(out_ptr + 7, D::from_f64(TENTH));
    store(out_ptr + 8, one * s);
    store(out_ptr + 9, D::from_f64(w));
    store(out_ptr + 10, D::from_f64(s as f64));
    store(out_ptr + 11, one * D::from_f64(0.1) + D::from_f64(1e-9));
    store(out_ptr + 12 + arange(0, 1), one + full::<D>(&[1], 1e-10) - one);
    store(out_ptr + 13, s * one / 3.0);
    store(out_ptr + 14 + arange(0, 1), full::<D>(&[1], D::from_f64(w)));
    let scalar = 0.1;
    store(out_ptr + 15, D::from_f32(scalar));
    store(wide_ptr + 0, (0.1 + 0.2) as f64);
    store(wide_ptr + 1, 0.1f64 + 0.2);
    store(wide_ptr + 2, (s * s) as f64);
    store(wide_ptr + 3, w * w);
    store(wide_ptr + 4, (s * 3.0 - 0.3) as f64);
    store(wide_ptr + 5, TENTH / 3.0);
    store(wide_ptr + 6, (SINGLE / 3.0) as f64);
    store(wide_ptr + 7, (1.0 / 3.0f32) as f64);
    store(wide_ptr + 8, f32::MAX as f64);
    store(wide_ptr + 9, f32::EPSILON as f64);
    store(wide_ptr + 10, f64::MAX);
    store(wide_ptr + 11, f64::MIN_POSITIVE);
    store(wide_ptr + 12, (s - w as f32) as f64);
    store(wide_ptr + 13, (COUNT * 3) as f64);
    let mut total = 0.0;
    for i in 0..10 { total += s; }
    store(wide_ptr + 14, total as f64);
    store(wide_ptr + 15, s as f64 - w);
}
"""


@pytest.mark.parametrize("dtype", COMPUTED)
def test_constants_keep_their_digits(dtype: str, tmp_path: Path, device: str) -> None:
    kernels = module_of(CONSTANTS, tmp_path)
    out, wide = empty(16, dtype, device), empty(16, "f64", device)
    kernels.Constants()[(1,)](tensor_of([1.0], dtype, device), out, wide, 0.1, 0.1, enable_fp_fusion=False)
    c, s = COMPUTED[dtype], np.float32(0.1)
    tenth = c(0.1)
    wanted = [tenth, c(s), tenth, c(s), tenth, c(s), c(s), tenth, c(s), tenth, c(s), tenth + c(1e-9)]
    wanted += [c(1) + c(1e-10) - c(1), c(s) / c(3), tenth, c(s)]
    assert numbers_of(out) == [stored(v, dtype) for v in wanted]
    three, total = np.float32(3), np.float32(0)
    for _ in range(10):
        total += s
    assert numbers_of(wide) == [
        0.1 + 0.2, 0.1 + 0.2, float(s * s), 0.1 * 0.1, float(s * three - np.float32(0.3)), 0.1 / 3,
        float(s / three), float(np.float32(1) / three), float(np.finfo("f4").max), 2.0**-23, float(np.finfo("f8").max),
        2.0**-1022, 0.0, 9e9, float(total), float(s) - 0.1,
    ]  # fmt: skip


LITERALS = {
    "i32": {
        "0xff": 255, "0xFF": 255, "0o17": 15, "0b1010": 10, "1_000_000": 10**6, "017": 17, "-2147483648": -(2**31),
        "2147483647": 2**31 - 1, "0x7FFF_FFFF": 2**31 - 1, "0x1f32": 0x1F32, "1_0_i32": 10, "0b1_i32": 1,
        "-0x8000_0000": -(2**31),
        "i32::MIN": -(2**31), "-(5)": -5, "- 7": -7, "!0": -1, "0xFFFF_FFFFu32 as i32": -1,
    },
    "i64": {
        "3_000_000_000": 3 * 10**9, "9223372036854775807": 2**63 - 1, "-9223372036854775808": -(2**63),
        "0x7FFF_FFFF_FFFF_FFFF": 2**63 - 1, "1i64 << 40": 1 << 40, "5_i64": 5, "-1": -1, "i64::MAX": 2**63 - 1,
        "3_000_000_000 * 3": 9 * 10**9,
    },
    "u64": {
        "18446744073709551615": 2**64 - 1, "0xFFFF_FFFF_FFFF_FFFFu64": 2**64 - 1, "1 << 63": 1 << 63,
        "u64::MAX - 1": 2**64 - 2,
    },
    "u32": {"4294967295": 2**32 - 1, "0xdead_beef": 0xDEADBEEF, "4_000_000_000 / 3": 4 * 10**9 // 3},
    "i8": {"-128i8": -128, "-128": -128, "127 + 1": -128, "i8::MIN": -128, "-128i8 / -1": -128},
    "u8": {"255": 255, "200 + 100": 44, "!0": 255, "0b1111_0000": 240},
    "f64": {
        "1.": 1.0, "1e3": 1000.0, "1.5e-3": 1.5e-3, "2.0E+3": 2000.0, "1_0.2_5": 10.25, "1f64": 1.0, "1e-400": 0.0,
        "0.1": 0.1,
        "123_456_789.123_456_789": 123456789.123456789, "-0.0": -0.0, "1e3_f64": 1000.0, "1.0e0": 1.0,
        "f64::INFINITY": math.inf, "5e-324": 5e-324, "1.7976931348623157e308": 1.7976931348623157e308,
    },
}  # fmt: skip


@pytest.mark.parametrize("dtype", LITERALS)
def test_literals_of_every_form(dtype: str, tmp_path: Path, device: str) -> None:
    forms = LITERALS[dtype]
    lines = [f"store(out_ptr + {k}, {text}); let n{k}: {dtype} = {text};" for k, text in enumerate(forms)]
    lines += [f"store(out_ptr + {k + len(forms)}, n{k});" for k in range(len(forms))]
    lines += [f"store(out_ptr + {k + 2 * len(forms)}, x + ({text}));" for k, text in enumerate(forms)]
    head = f"#[kernel]\nfn literals(x_ptr: Pointer<{dtype}>, out_ptr: Pointer<{dtype}>)"
    text = f"{head} {{ let x = load(x_ptr); {' '.join(lines)} }}"
    out = empty(3 * len(forms), dtype, device)
    module_of(text, tmp_path).Literals()[(1,)](tensor_of([0], dtype, device), out)
    for third in range(3):
        found = numbers_of(out)[third * len(forms) : (third + 1) * len(forms)]
        assert dict(zip(forms, found, strict=True)) == forms


# ---- NaN ------------------------------------------------------------------------------------------------------------

COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
EXTREMA = {
    "maximum(x, y)": np.fmax,
    "minimum(x, y)": np.fmin,
    'maximum(x, y, propagate_nan = "all")': np.maximum,
    "minimum(x, y, propagate_nan = PropagateNan::All)": np.minimum,
    "x.max(y)": np.fmax,
    "clamp(x, -1.0, y)": lambda x, y: np.fmin(np.fmax(x, -1), y),
    "maximum(x, 0.0)": lambda x, y: np.fmax(x, 0),
}


def nan_text() -> str:
    names = [f"store(out_ptr + {64 * k} + i, (x {s} y) as i32);" for k, s in enumerate(COMPARE)]
    scalars = [f"store(out_ptr + {384 + k}, (s {sign} t) as i32);" for k, sign in enumerate(COMPARE)]
    branches = [
        f"if s {sign} t {{ store(out_ptr + {390 + k}, 1); }} else {{ store(out_ptr + {390 + k}, 0); }}"
        for k, sign in enumerate(COMPARE)
    ]
    negated = [f"store(out_ptr + {396 + k}, (!(s {sign} t)) as i32);" for k, sign in enumerate(COMPARE)]
    extrema = [f"store(ext_ptr + {64 * k} + i, {form});" for k, form in enumerate(EXTREMA)]
    return f"""
#[kernel]
fn nans<D: Float>(x_ptr: Pointer<D>, y_ptr: Pointer<D>, s: f32, t: f32, out_ptr: Pointer<i32>, ext_ptr: Pointer<D>) {{
    let i = arange(0, 64);
    let x = load(x_ptr + i);
    let y = load(y_ptr + i);
    {" ".join(names + scalars + branches + negated + extrema)}
}}
"""


@pytest.mark.parametrize("dtype", COMPUTED)
def test_nan_compares_and_yields_as_ieee_says(dtype: str, tmp_path: Path, device: str) -> None:
    numbers = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -2.0, 3.0]
    x, y = [a for a in numbers for _ in numbers], numbers * 8
    kernels = module_of(nan_text(), tmp_path)
    for s, t in ((math.nan, 1.0), (1.0, math.nan), (math.nan, math.nan), (1.0, 2.0), (2.0, 2.0)):
        out, extrema = empty(402, "i32", device), empty(64 * len(EXTREMA), dtype, device)
        given = (tensor_of(x, dtype, device), tensor_of(y, dtype, device))
        kernels.Nans()[(1,)](*given, s, t, out, extrema)
        found = numbers_of(out)
        for k, (sign, compare) in enumerate(COMPARE.items()):
            assert found[64 * k : 64 * k + 64] == [compare(a, b) for a, b in zip(x, y, strict=True)], sign
        decided = [int(compare(s, t)) for compare in COMPARE.values()]
        assert found[384:] == [*decided, *decided, *(1 - d for d in decided)]
        for k, (form, reference) in enumerate(EXTREMA.items()):
            # min and max of zeros of two signs, and clamp's low bound over NaN as a high one, are not determined
            row, wanted = numbers_of(extrema)[64 * k : 64 * k + 64], reference(np.array(x), np.array(y))
            for a, b, r, w in zip(x, y, row, wanted, strict=True):
                if "clamp" not in form or b >= -1:
                    assert r == w or (math.isnan(r) and math.isnan(w)), (form, a, b)


# ---- narrow types ---------------------------------------------------------------------------------------------------

NARROW = """
#[kernel]
fn narrow<D: Float, const N: i32>(x_ptr: Pointer<D>, y_ptr: Pointer<D>, out_ptr: Pointer<D>, s: f32, n: i32) {
    let i = arange(0, N);
    let x = load(x_ptr + i);
    let y = load(y_ptr + i);
    store(out_ptr + i, x * y + s * x - y / 3.0);
    let mut acc = zeros::<D>(&[N]);
    for k in 0..n {
        acc += x * D::from_f64(0.001) * (k as f32);
    }
    store(out_ptr + N + i, acc);
    store(out_ptr + 2 * N + i, x + full::<D>(&[N], 1e-5) - x);
    store(out_ptr + 3 * N + i, full::<D>(&[N], 0.0) + sum(x, axis = 0));
    let rounded = (x * y) as D;
    store(out_ptr + 4 * N + i, rounded - x * y);
    store(out_ptr + 5 * N + i, exp(x) * (1.0 - 1e-4));
    let mut scalar = load(x_ptr);
    for k in 0..n { scalar = scalar * 1.0009765625; }
    store(out_ptr + 6 * N + i, scalar);
}
"""


@pytest.mark.parametrize("dtype", COMPUTED)
def test_narrow_types_compute_in_f32_and_round_once(dtype: str, tmp_path: Path, device: str) -> None:
    rng = np.random.default_rng(11)
    size, trips, c = 16, 7, COMPUTED[dtype]
    x, y = (tensor_of(rng.normal(0, 2, size), dtype, device) for _ in range(2))
    out = empty(7 * size, dtype, device)
    module_of(NARROW, tmp_path).Narrow(size)[(1,)](x, y, out, 0.3, trips, enable_fp_fusion=False)
    a, b = (np.array(numbers_of(t), c) for t in (x, y))
    s = c(np.float32(0.3))
    acc, scalar = np.zeros(size, c), a[0]
    for k in range(trips):
        acc = acc + a * c(0.001) * c(k)
        scalar = scalar * c(1.0009765625)
    total = np.full(size, a.astype("f8").sum())
    rows = [a * b + s * a - b / c(3), acc, a + c(1e-5) - a, total, np.zeros(size), np.exp(a) * c(1 - 1e-4)]
    rows.append(np.full(size, scalar))
    tolerance = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 3e-6, "f64": 1e-14}[dtype]
    found = np.array(numbers_of(out), "f8").reshape(7, size)
    for k, row in enumerate(rows):
        assert_near(found[k], row, tolerance * (1.01 if tolerance > 1e-4 else 1), k)


def assert_near(found: Array, wanted: Array, tolerance: float, row: int) -> None:
    """Half a unit in the last place of the storage type: what is rounded more than once is further away."""
    scale = np.maximum(np.abs(wanted.astype("f8")), 2.0**-14)
    floor = 2.0**-24 if tolerance > 1e-4 else 1e-6 if tolerance > 1e-9 else 1e-15
    assert bool((np.abs(found - wanted.astype("f8")) <= tolerance * scale + floor * (row != 2)).all()), row


NAMED = """
#[kernel]
fn named(h_ptr: Pointer<f16>, b_ptr: Pointer<bf16>, out_ptr: Pointer<f32>, s: f32) {
    let h = load(h_ptr);
    let b = load(b_ptr);
    store(out_ptr, h as f32 * s);
    store(out_ptr + 1, (h * h) as f32);
    store(out_ptr + 2, (h * h) as f16 as f32);
    store(out_ptr + 3, (b + b * b) as f32);
    store(out_ptr + 4, s as bf16 as f32);
    store(out_ptr + 5, (b * s) as bf16 as f32);
    store(h_ptr + 1, s as f16);
    store(h_ptr + 2, 0.1);
    store(b_ptr + 1, 0.1);
    store(h_ptr + 3, h * h);
    store(b_ptr + 2, b * b);
}
"""


def test_named_narrow_types(tmp_path: Path, device: str) -> None:
    h, b, out = (
        tensor_of([1.2001953125] * 4, "f16", device),
        tensor_of([1.203125] * 4, "bf16", device),
        empty(6, "f32", device),
    )
    module_of(NAMED, tmp_path).Named()[(1,)](h, b, out, 0.3, enable_fp_fusion=False)
    x, y, s = np.float32(1.2001953125), np.float32(1.203125), np.float32(0.3)
    wanted = [x * s, x * x, stored(x * x, "f16"), y + y * y, stored(s, "bf16"), stored(y * s, "bf16")]
    assert numbers_of(out) == [float(np.float32(w)) for w in wanted]
    assert numbers_of(h) == [float(x), stored(s, "f16"), stored(np.float32(0.1), "f16"), stored(x * x, "f16")]
    assert numbers_of(b)[:3] == [float(y), stored(np.float32(0.1), "bf16"), stored(y * y, "bf16")]


def test_kernels_compile_for_a_gpu(tmp_path: Path) -> None:
    texts = {"constants": CONSTANTS, "nans": nan_text(), "narrow": NARROW, "named": NAMED}
    for dtype in COMPUTED:
        assert gpu_failures(texts, tmp_path, {"N": 16}, {"D": dtype}) == "", dtype
