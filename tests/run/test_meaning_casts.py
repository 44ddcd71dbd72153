"""`as` between numbers means what Rust says: every pair of types, on tensors, elements, parameters and literals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from meaning import INTEGERS, bounds, empty, gpu_failures, module_of, numbers_of, samples, tensor_of, wrapped

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns where floats leave a range

FLOATS = ("f16", "bf16", "f32", "f64")
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
LEAST = {"f16": -14, "bf16": -126, "f32": -126, "f64": -1022}
"""The exponent of the least normal number."""
GREATEST = {"f16": 15, "bf16": 127, "f32": 127, "f64": 1023}


def rounded(value: Fraction, dtype: str) -> float:
    """The float of a type nearest to an exact number, ties to even."""
    if value == 0:
        return 0.0
    exponent = max(math.floor(math.log2(abs(value))), LEAST[dtype])
    while abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while exponent > LEAST[dtype] and abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** (exponent - DIGITS[dtype] + 1)
    nearest = round(value / step) * step  # Python rounds a fraction's ties to even
    if abs(nearest) >= Fraction(2) ** (GREATEST[dtype] + 1):
        return math.copysign(math.inf, value)
    return float(nearest)


def as_integer(value: float, dtype: str) -> int:
    low, high = bounds(dtype)
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(int(value), low), high)


# ---- floats to integers ---------------------------------------------------------------------------------------------


def float_samples(dtype: str) -> list[float]:
    """Numbers of a float type around every bound of the integers, with what is no number."""
    bases = [0.0, 0.4, 0.5, 0.99, 1.0, 1.5, 2.5, 126.9, 127.0, 127.5, 128.0, 128.9, 254.9, 255.0, 255.9, 256.0, 300.0]
    bases += [2.0**k + d for k in (15, 16) for d in (-1, -0.5, 0, 0.5, 1)]
    bases += [2.0**k + d for k in (31, 32) for d in (-128, -1, -0.5, 0, 1, 256)]
    bases += [2.0**63, 2.0**64, 2.0**62, math.nextafter(2.0**63, 0), math.nextafter(2.0**64, 0), 1e30, math.inf]
    values = [*bases, *(-b for b in bases), math.nan, 3.999, -3.999]
    return [v if not math.isfinite(v) else rounded(Fraction(v), dtype) for v in values]


def to_integers(source: str) -> str:
    count = len(float_samples(source))
    size = 1 << (count - 1).bit_length()
    pointers = ", ".join(f"{t}_ptr: Pointer<{t}>" for t in INTEGERS)
    tensors = [f"store({t}_ptr + i, x as {t}, mask = m);" for t in INTEGERS]
    scalars = [f"store({t}_ptr, x as {t});" for t in INTEGERS]
    return f"""
#[kernel]
fn tensors(x_ptr: Pointer<{source}>, {pointers}) {{
    let i = arange(0, {size});
    let m = i < {count};
    let x = load(x_ptr + i, mask = m, other = 0.0);
    {" ".join(tensors)}
}}

#[kernel]
fn parameters(x: {source}, {pointers}) {{
    {" ".join(scalars)}
}}
"""


@pytest.mark.parametrize("source", FLOATS)
def test_floats_become_integers(source: str, tmp_path: Path, device: str) -> None:
    kernels = module_of(to_integers(source), tmp_path)
    values = float_samples(source)
    outputs = {t: empty(len(values), t, device) for t in INTEGERS}
    kernels.Tensors()[(1,)](tensor_of(values, source, device), *outputs.values())
    for dtype, output in outputs.items():
        assert numbers_of(output) == [as_integer(v, dtype) for v in values], dtype
    for value in (math.nan, -math.inf, 2.0**63, 1.0, -1.0, 255.5 if source in ("f32", "f64") else 255.0):
        outputs = {t: empty(1, t, device) for t in INTEGERS}
        kernels.Parameters()[(1,)](value, *outputs.values())
        found = {t: numbers_of(o)[0] for t, o in outputs.items()}
        given = value if not math.isfinite(value) else rounded(Fraction(value), source)
        assert found == {t: as_integer(given, t) for t in INTEGERS}, value


# ---- integers to numbers --------------------------------------------------------------------------------------------

COUNT = 64


def integer_samples(dtype: str) -> list[int]:
    """Numbers that tie or nearly tie between two floats of each type, and extremes."""
    low, high = bounds(dtype)
    near = [(1 << k) + d for k in range(8, 64, 5) for d in (-1, 0, 1)]
    ties = [
        (n << s) + (1 << s - 1) + d for n in (129, 2049, 16777217, 16777218) for s in (1, 9, 23, 30) for d in (-1, 0, 1)
    ]
    twice = [(0x100 << 24) + (1 << 24) + 1, (0x101 << 40) + (1 << 39) + 1, (1 << 54) + (1 << 46) + 1]
    pool = [n for n in (*twice, *ties, *near) if low <= n <= high]
    return (pool + [-n for n in pool if low <= -n] + samples(dtype, COUNT, 5))[: COUNT - 6] + samples(dtype, 6, 6)


def from_integers(source: str) -> str:
    pointers = ", ".join(f"{t}_ptr: Pointer<{t}>" for t in (*INTEGERS, *FLOATS))
    tensors = [f"store({t}_ptr + i, x as {t});" for t in (*INTEGERS, *FLOATS)]
    scalars = [f"store({t}_ptr, x as {t});" for t in (*INTEGERS, *FLOATS)]
    return f"""
#[kernel]
fn tensors(x_ptr: Pointer<{source}>, {pointers}) {{
    let i = arange(0, {COUNT});
    let x = load(x_ptr + i);
    {" ".join(tensors)}
}}

#[kernel]
fn parameters(x: {source}, {pointers}) {{
    {" ".join(scalars)}
}}
"""


def converted(value: int, dtype: str) -> int | float:
    return wrapped(value, dtype) if dtype in INTEGERS else rounded(Fraction(value), dtype)


@pytest.mark.parametrize("source", INTEGERS)
def test_integers_become_numbers(source: str, tmp_path: Path, device: str) -> None:
    kernels = module_of(from_integers(source), tmp_path)
    values = integer_samples(source)
    outputs = {t: empty(COUNT, t, device) for t in (*INTEGERS, *FLOATS)}
    kernels.Tensors()[(1,)](tensor_of(values, source, device), *outputs.values())
    for dtype, output in outputs.items():
        wanted = [converted(v, dtype) for v in values]
        assert dict(zip(values, numbers_of(output), strict=True)) == dict(zip(values, wanted, strict=True)), dtype
    for value in (1, 0, *bounds(source)):
        outputs = {t: empty(1, t, device) for t in (*INTEGERS, *FLOATS)}
        kernels.Parameters()[(1,)](value, *outputs.values())
        assert {t: numbers_of(o)[0] for t, o in outputs.items()} == {t: converted(value, t) for t in outputs}, value


def literals() -> Iterator[tuple[str, str, int | float]]:
    """Casts of literals: text, type, and what it is."""
    for dtype in INTEGERS:
        for number in (-129.9, 3e9, 1e20, -1e20, 0.99, -0.99, 255.5):
            yield f"({number!r}) as {dtype}", dtype, as_integer(rounded(Fraction(number), "f32"), dtype)
            yield f"({number!r}f64) as {dtype}", dtype, as_integer(number, dtype)
        yield f"f32::NAN as {dtype}", dtype, 0
        yield f"f64::NEG_INFINITY as {dtype}", dtype, bounds(dtype)[0]
        for source in INTEGERS:
            for number in (*bounds(source), 1):
                yield f"({number}{source}) as {dtype}", dtype, wrapped(number, dtype)
    for source in INTEGERS:
        for number in (*bounds(source), min((1 << 24) + 1, bounds(source)[1])):
            for dtype in ("f16", "f32", "f64"):
                yield f"({number}{source}) as {dtype}", dtype, rounded(Fraction(number), dtype)
    yield "true as i32", "i32", 1
    yield "false as u8", "u8", 0
    yield "-1.0 as u32", "u32", 0
    yield "-1i32 as u32", "u32", 2**32 - 1
    yield "300i32 as u8 as i64", "i64", 44
    yield "3.7f64 as f32 as f64", "f64", float(np.float32(3.7))
    yield "16777217 as f32", "f32", 16777216.0


def test_literals_are_cast(tmp_path: Path, device: str) -> None:
    cases = list(literals())
    types = sorted({dtype for _, dtype, _ in cases})
    pointers = ", ".join(f"{t}_ptr: Pointer<{t}>" for t in types)
    lines = [f"store({dtype}_ptr + {k}, {text});" for k, (text, dtype, _) in enumerate(cases)]
    kernels = module_of(f"#[kernel]\nfn literals({pointers}) {{ {' '.join(lines)} }}", tmp_path)
    outputs = {t: empty(len(cases), t, device) for t in types}
    kernels.Literals()[(1,)](*outputs.values())
    found = {t: numbers_of(o) for t, o in outputs.items()}
    assert {c[0]: found[c[1]][k] for k, c in enumerate(cases)} == {text: number for text, _, number in cases}


# ---- floats to floats, bools ----------------------------------------------------------------------------------------


def hard_floats() -> list[float]:
    """f64 numbers that round wrongly to a narrower type when they are rounded to f32 first, and extremes."""
    doubly = [1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-8 + 2.0**-40, 1 + 3 * 2.0**-11 - 2.0**-40, 1 + 3 * 2.0**-8 - 2.0**-40]
    edges = [65519.999999999, 65520.0, 2.0**-25, 2.0**-25 * (1 + 2.0**-30), 2.0**-24 * 1.5, 3.4e38, 1e39, 1e-46, 0.1]
    return [s * v for v in (*doubly, *edges, 0.0, math.inf, 1 / 3) for s in (1, -1)]


FLOATS_TEXT = """
#[kernel]
fn floats(x_ptr: Pointer<f64>, a_ptr: Pointer<f16>, b_ptr: Pointer<bf16>, c_ptr: Pointer<f32>, d_ptr: Pointer<f64>) {
    let i = arange(0, 32);
    let x = load(x_ptr + i);
    store(a_ptr + i, x as f16);
    store(b_ptr + i, x as bf16);
    store(c_ptr + i, x as f32);
    store(d_ptr + i, x as f32 as f16 as f64);
}

#[kernel]
fn doubles(x: f64, a_ptr: Pointer<f16>, b_ptr: Pointer<bf16>, c_ptr: Pointer<f32>, d_ptr: Pointer<f64>) {
    store(a_ptr, x as f16);
    store(b_ptr, x as bf16);
    store(c_ptr, x as f32);
    store(d_ptr, x as f32 as f16 as f64);
}

#[kernel]
fn named(x_ptr: Pointer<f32>, a_ptr: Pointer<f32>, b_ptr: Pointer<f32>) {
    let i = arange(0, 32);
    let x = load(x_ptr + i);
    store(a_ptr + i, x as f16 as f32);
    store(b_ptr + i, cast::<f32, bf16>(x) as f32);
}
"""


def narrowed(value: float, dtype: str) -> float:
    if value == 0 or not math.isfinite(value):
        return value
    return math.copysign(rounded(Fraction(value), dtype), value)


def test_floats_round_once(tmp_path: Path, device: str) -> None:
    kernels = module_of(FLOATS_TEXT, tmp_path)
    values = hard_floats()
    values += [float(v) for v in np.random.default_rng(3).normal(0, 100, 32 - len(values))]
    wanted = [[narrowed(v, t) for v in values] for t in ("f16", "bf16", "f32")]
    wanted.append([narrowed(narrowed(v, "f32"), "f16") for v in values])
    types = ("f16", "bf16", "f32", "f64")
    outputs = [empty(32, t, device) for t in types]
    kernels.Floats()[(1,)](tensor_of(values, "f64", device), *outputs)
    assert [numbers_of(o) for o in outputs] == wanted
    for k in (0, 2, 12, 20):
        outputs = [empty(1, t, device) for t in types]
        kernels.Doubles()[(1,)](values[k], *outputs)
        assert [numbers_of(o)[0] for o in outputs] == [row[k] for row in wanted], values[k]
    singles = [narrowed(v, "f32") for v in values]
    outputs = [empty(32, "f32", device) for _ in range(2)]
    kernels.Named()[(1,)](tensor_of(singles, "f32", device), *outputs)
    assert [numbers_of(o) for o in outputs] == [[narrowed(v, t) for v in singles] for t in ("f16", "bf16")]


BOOLS = """
#[kernel]
fn bools(x_ptr: Pointer<i32>, b: bool, out_ptr: Pointer<i64>, byte_ptr: Pointer<u8>) {
    let i = arange(0, 8);
    let positive = load(x_ptr + i) > 0;
    store(out_ptr + i, positive as i64 * 3 + (b as i64));
    store(byte_ptr + i, (positive as u8) << 7);
    store(out_ptr + 8, b as i64 - 1);
    store(out_ptr + 9, sum(positive as i32, axis = 0) as i64);
    store(out_ptr + 10, (!b) as i64);
}
"""


@pytest.mark.parametrize("b", [False, True])
def test_bools_become_integers(b: bool, tmp_path: Path, device: str) -> None:
    kernels = module_of(BOOLS, tmp_path)
    numbers = [-1, 0, 1, 2, 2**31 - 1, -(2**31), 5, 0]
    out, byte = empty(11, "i64", device), empty(8, "u8", device)
    kernels.Bools()[(1,)](tensor_of(numbers, "i32", device), b, out, byte)
    assert numbers_of(out) == [3 * (n > 0) + b for n in numbers] + [b - 1, 4, not b]
    assert numbers_of(byte) == [128 * (n > 0) for n in numbers]


def test_kernels_compile_for_a_gpu(tmp_path: Path) -> None:
    texts = {f"from_{t}": to_integers(t) for t in FLOATS} | {f"from_{t}": from_integers(t) for t in INTEGERS}
    assert gpu_failures({**texts, "floats": FLOATS_TEXT, "bools": BOOLS}, tmp_path, {}, {}) == ""
