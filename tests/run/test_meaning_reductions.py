"""Reductions and scans: types of sums, NaN, ties, default axes, kept axes, higher ranks; against NumPy."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from meaning import INTEGERS, Array, bounds, empty, gpu_failures, module_of, numbers_of, samples, tensor_of, wrapped

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns of NaN and where integers wrap

COUNT = 64


def sum_text(dtype: str) -> str:
    """8- and 16-bit integers are summed in i32."""
    total = "i32" if dtype[1:] in ("8", "16") else dtype
    return f"""
#[kernel]
fn sums(x_ptr: Pointer<{dtype}>, total_ptr: Pointer<{total}>, out_ptr: Pointer<{dtype}>, at_ptr: Pointer<i32>) {{
    let i = arange(0, {COUNT});
    let x = load(x_ptr + i);
    let total: {total} = sum(x);
    store(total_ptr, total);
    store(total_ptr + 1 + i, cumsum(x, axis = 0));
    store(out_ptr, max(x));
    store(out_ptr + 1, min(x, axis = 0));
    store(out_ptr + 2 + i, where_(x == max(x, axis = 0), x - min(x), 0));
    store(out_ptr + {COUNT + 2}, xor_sum(x, axis = 0));
    store(at_ptr, argmax(x, axis = 0));
    store(at_ptr + 1, argmin(x, axis = 0));
    store(total_ptr + {COUNT + 1} + arange(0, 8), sum(reshape(x, &[8, 8]), axis = 1));
}}
"""


@pytest.mark.parametrize("dtype", INTEGERS)
def test_reductions_of_integers(dtype: str, tmp_path: Path, device: str) -> None:
    kernels = module_of(sum_text(dtype), tmp_path)
    total = "i32" if dtype[1:] in ("8", "16") else dtype
    x = samples(dtype, COUNT, 7)
    x[40:44] = [bounds(dtype)[1]] * 2 + [bounds(dtype)[0]] * 2
    sums, out, at = empty(COUNT + 9, total, device), empty(COUNT + 3, dtype, device), empty(2, "i32", device)
    kernels.Sums()[(1,)](tensor_of(x, dtype, device), sums, out, at)
    running = [wrapped(sum(x[: k + 1]), total) for k in range(COUNT)]
    rows = [wrapped(sum(x[8 * k : 8 * k + 8]), total) for k in range(8)]
    assert numbers_of(sums) == [running[-1], *running, *rows]
    selected = [wrapped(v - min(x), dtype) if v == max(x) else 0 for v in x]
    bits = 0
    for v in x:
        bits ^= v
    assert numbers_of(out) == [max(x), min(x), *selected, bits]
    assert numbers_of(at) == [x.index(max(x)), x.index(min(x))]


FLOATS = """
#[kernel]
fn extrema<D: Float>(x_ptr: Pointer<D>, out_ptr: Pointer<D>) {
    let x = load(x_ptr + arange(0, 32));
    store(out_ptr, max(x));
    store(out_ptr + 1, min(x));
    store(out_ptr + 2, sum(x));
}

#[kernel]
fn places<D: Float>(x_ptr: Pointer<D>, out_ptr: Pointer<D>, at_ptr: Pointer<i32>) {
    let x = load(x_ptr + arange(0, 32));
    store(at_ptr, argmax(x, axis = 0));
    store(at_ptr + 1, argmin(x, axis = 0));
    let (most, at) = max(x, axis = 0, return_indices = true);
    store(out_ptr, most);
    store(at_ptr + 2, at);
}
"""


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
@pytest.mark.parametrize("holes", [(), (3,), (0, 9, 31), tuple(range(32))])
def test_extrema_leave_out_nan(dtype: str, holes: tuple[int, ...], tmp_path: Path, device: str) -> None:
    """As Triton's rule for `maximum`: a number wins over NaN, and NaN is left where there is nothing else."""
    x = np.random.default_rng(len(holes)).integers(-8, 8, 32).astype("f8")
    x[list(holes)] = math.nan
    kernels, given = module_of(FLOATS, tmp_path), tensor_of(x, dtype, device)
    out = empty(3, dtype, device)
    kernels.Extrema()[(1,)](given, out)
    most, least, total = numbers_of(out)
    assert math.isnan(total) == bool(holes)
    if len(holes) == 32:
        assert math.isnan(most)
        assert math.isnan(least)
        return  # Triton's interpreter refuses the place of an extremum that there is not
    assert [most, least] == [np.nanmax(x), np.nanmin(x)]
    at = empty(3, "i32", device)
    kernels.Places()[(1,)](given, out, at)
    assert numbers_of(out)[0] == np.nanmax(x)
    assert numbers_of(at) == [np.nanargmax(x), np.nanargmin(x), np.nanargmax(x)]


SHAPES = """
#[kernel]
fn shapes<D: Float, const M: i32, const N: i32>(x_ptr: Pointer<D>, out_ptr: Pointer<D>) {
    let row = arange(0, M);
    let col = arange(0, N);
    let at = row[(.., None)] * N + col[(None, ..)];
    let x = load(x_ptr + at);
    store(out_ptr, sum(x));
    store(out_ptr + 1, max(x));
    store(out_ptr + 2, T::sum(x, None, false));
    store(out_ptr + 3 + at, softmax(x));
    store(out_ptr + 3 + M * N + at, softmax(x, dim = 0));
    store(out_ptr + 3 + 2 * M * N + at, x - T::max(x, Some(1), true));
    store(out_ptr + 3 + 3 * M * N + at, x - sum(x, axis = -2, keep_dims = true));
    store(out_ptr + 3 + 4 * M * N + at, x / sum(x, keep_dims = true));
    store(out_ptr + 3 + 5 * M * N + at, cumsum(x, axis = 1));
    store(out_ptr + 3 + 6 * M * N + at, cumsum(x, axis = 0, reverse = true));
}
"""


@pytest.mark.parametrize(("dtype", "tolerance"), [("f32", 1e-5), ("f64", 1e-13), ("f16", 2e-3)])
def test_axes(dtype: str, tolerance: float, tmp_path: Path, device: str) -> None:
    m, n = 4, 8
    x = np.array(numbers_of(tensor_of(np.random.default_rng(1).normal(1, 1, m * n), dtype, device)), "f8").reshape(m, n)
    out = empty(3 + 7 * m * n, dtype, device)
    text = SHAPES.replace("<D: Float", "<T: Triton, D: Float")
    module_of(text, tmp_path).Shapes(m, n)[(1,)](tensor_of(x.ravel(), dtype, device), out)
    found = np.array(numbers_of(out), "f8")
    np.testing.assert_allclose(found[:3], [x.sum(), x.max(), x.sum()], rtol=tolerance)

    def softmax(axis: int) -> Array:
        powers = np.exp(x - x.max(axis, keepdims=True))
        return powers / powers.sum(axis, keepdims=True)

    rows = [softmax(1), softmax(0), x - x.max(1, keepdims=True), x - x.sum(0, keepdims=True), x / x.sum()]
    rows += [np.cumsum(x, 1), np.cumsum(x[::-1], 0)[::-1]]
    np.testing.assert_allclose(found[3:].reshape(7, m, n), rows, rtol=tolerance, atol=tolerance)


BROADCAST = """
#[kernel]
fn broadcasts(x_ptr: Pointer<i32>, out_ptr: Pointer<i32>, s: i32) {
    let a = load(x_ptr + arange(0, 4));
    let one = load(x_ptr + 3 + arange(0, 1));
    let zero = load(x_ptr + 2);
    store(out_ptr + arange(0, 4), a + one);
    store(out_ptr + 4 + arange(0, 4), one * a - zero + s);
    let b = a[(.., None)] * 10 + a[(None, ..)];
    let c = a[(.., None, None)] * 100 + b;
    store(out_ptr + 8 + reshape(arange(0, 64), &[4, 4, 4]), c);
    store(out_ptr + 72 + reshape(arange(0, 64), &[4, 4, 4]), c + one - zero * one + s * 2);
    store(out_ptr + 136 + arange(0, 1), one + zero);
    store(out_ptr + 137 + arange(0, 4), where_(a > one, a, zero));
    store(out_ptr + 141 + arange(0, 4), where_(s > 0, a, one));
    store(out_ptr + 145 + reshape(arange(0, 16), &[4, 4]), maximum(a[(.., None)], a[(None, ..)]));
    store(out_ptr + 161 + arange(0, 4), if s > 0 { a } else { -a });
    store(out_ptr + 165 + arange(0, 4), zero + full::<i32>(&[4], s));
}
"""


@pytest.mark.parametrize("s", [1, 0, -7])
def test_shapes_broadcast(s: int, tmp_path: Path, device: str) -> None:
    x = [5, -3, 11, 2]
    out = empty(169, "i32", device)
    module_of(BROADCAST, tmp_path).Broadcasts()[(1,)](tensor_of(x, "i32", device), out, s)
    a, one, zero = np.array(x), np.array([x[3]]), np.array(x[2])
    c = a[:, None, None] * 100 + (a[:, None] * 10 + a)
    parts = [a + one, one * a - zero + s, c, c + one - zero * one + s * 2, one + zero, np.where(a > one, a, zero)]
    parts += [np.where(s > 0, a, one), np.maximum(a[:, None], a), a if s > 0 else -a, zero + np.full(4, s)]
    assert numbers_of(out) == np.concatenate([p.ravel() for p in parts]).tolist()


def test_kernels_compile_for_a_gpu(tmp_path: Path) -> None:
    texts = {t: sum_text(t) for t in ("i8", "u16", "u64")} | {"floats": FLOATS, "broadcast": BROADCAST}
    texts["shapes"] = SHAPES.replace("<D: Float", "<T: Triton, D: Float")
    assert gpu_failures(texts, tmp_path, {"M": 4, "N": 8}, {"D": "bf16"}) == ""
