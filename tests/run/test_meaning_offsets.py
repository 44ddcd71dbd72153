"""What reaches an address does not wrap: offsets over 2³¹ that come back to a small tensor, and masks of them."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from meaning import empty, gpu_failures, module_of, numbers_of, tensor_of, wrapped

# Each kernel goes `n * stride` elements away and the same back in 64 bits: an offset that wrapped would be elsewhere.
TEXT = """
fn index(row: i32, stride: i32) -> i32 { row * stride }

#[kernel]
fn lets(x_ptr: Pointer<i32>, out_ptr: Pointer<i32>, n: i32, stride: i32) {
    let far = n * stride;
    let named = far + 3;
    let back = n as i64 * stride as i64;
    store(out_ptr, load(x_ptr + named - back));
    store(out_ptr + 1, (far < 0) as i32);
    store(out_ptr + 2 + index(n, stride) - back, 7);
    store(out_ptr + 3, far, mask = far > 2_000_000_000);
    store(out_ptr + 4, n.wrapping_mul(stride));
    let lanes = arange(0, 4);
    let offsets = (lanes + n) * stride;
    store(out_ptr + 8 + lanes, load(x_ptr + offsets - back - lanes * (stride - 1)));
}

#[kernel]
fn loops(x_ptr: Pointer<i32>, out_ptr: Pointer<i32>, n: i32, stride: i32) {
    let mut at = 0;
    for i in 0..n {
        at += stride;
    }
    let back = n as i64 * stride as i64;
    store(out_ptr, load(x_ptr + at - back + 2));
    let mut k = 0;
    let mut offset = 5;
    while k < n {
        offset = offset + stride;
        k += 1;
    }
    store(out_ptr + 1, load(x_ptr + offset - back));
    let chosen = if n > 2 { n * stride } else { 0 };
    store(out_ptr + 2, load(x_ptr + chosen - (if n > 2 { back } else { 0 }) + 1));
    let kept = if chosen > 0 { 1 } else { 0 };
    store(out_ptr + 3, kept);
}

#[kernel]
fn masks(x_ptr: Pointer<i32>, out_ptr: Pointer<i32>, n: i32, stride: i32, limit: i64) {
    let lane = arange(0, 8);
    let place = n * stride + lane;
    let inside = (place as i64) < limit;
    store(out_ptr + lane, load(x_ptr + lane, mask = inside, other = -1));
    let row = n * stride;
    store(out_ptr + 8 + lane, lane, mask = row + lane >= 4);
}
"""
FAR = [(4, 2**30), (3, 2**31 - 1), (1, 1), (65537, 65537), (5, 2**29 + 7)]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of(TEXT, tmp_path_factory.mktemp("offsets"))


@pytest.mark.parametrize(("n", "stride"), FAR)
def test_offsets_through_lets_and_functions(kernels: ModuleType, n: int, stride: int, device: str) -> None:
    x, out = tensor_of(range(10, 18), "i32", device), tensor_of([-7] * 12, "i32", device)
    kernels.Lets()[(1,)](x, out, n, stride)
    far = n * stride
    kept = wrapped(far, "i32") if far > 2_000_000_000 else -7
    assert numbers_of(out) == [13, 0, 7, kept, wrapped(far, "i32"), -7, -7, -7, 10, 11, 12, 13]


@pytest.mark.parametrize(("n", "stride"), [p for p in FAR if p[0] < 100])
def test_offsets_through_loops_and_branches(kernels: ModuleType, n: int, stride: int, device: str) -> None:
    x, out = tensor_of(range(10, 18), "i32", device), empty(4, "i32", device)
    kernels.Loops()[(1,)](x, out, n, stride)
    assert numbers_of(out) == [12, 15, 11, int(n > 2)]


@pytest.mark.parametrize(("n", "stride"), FAR)
def test_masks_see_the_exact_number(kernels: ModuleType, n: int, stride: int, device: str) -> None:
    x = tensor_of(range(10, 18), "i32", device)
    far = n * stride
    out = tensor_of([-7] * 16, "i32", device)
    kernels.Masks()[(1,)](x, out, n, stride, far + 3)
    assert numbers_of(out) == [10, 11, 12] + [-1] * 5 + [k if far + k >= 4 else -7 for k in range(8)]


def test_kernels_compile_for_a_gpu(tmp_path: Path) -> None:
    assert gpu_failures({"offsets": TEXT}, tmp_path, {}, {}) == ""
