"""What makes proofs of bounds hold at a launch: the grid that is stated, extents from 0 on, and guards."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
import torch

import teenyc

SOURCE = """
#[kernel(grid = [rows], shape(x = [rows, cols], y = [rows]))]
fn firsts(x: Pointer<f32>, y: Pointer<f32>, rows: i32, cols: i32) {
    let row = program_id(0);
    let mut s = 0.0;
    for c in 0..cols {
        s += load(x + row * cols + c);
    }
    store(y + row, s);
}

#[kernel(grid = [batch * heads], shape(x = [batch, n, heads], y = [batch, heads]))]
fn sums(x: Pointer<f32>, y: Pointer<f32>, n: i32, heads: i32) {
    let i = program_id(0);
    let mut s = 0.0;
    for c in 0..n {
        s += load(x + (i / heads * n + c) * heads + i % heads);
    }
    store(y + i, s);
}

#[kernel(grid = [cdiv(n, B)], deny(unproven))]
fn doubled<const B: i32>(x: Pointer<f32>, y: Pointer<f32>, n: i32) {
    let at = program_id(0) * B + arange(0, B);
    store(y + at, load(x + at, mask = at < n, other = 0.0) * 2.0, mask = at < n);
}

#[kernel(grid = [rows], deny(unproven))]
fn ends(x: Pointer<f32>, rows: i32, stride: i32) {
    store(x + program_id(0) * stride, 7.0);
}

#[kernel(grid = [cdiv(n, B)], shape(x = [n]), configs = [config(B = 16), config(B = 32)])]
fn filled<const B: i32>(x: Pointer<f32>, n: i32) {
    let at = program_id(0) * B + arange(0, B);
    store(x + at, zeros::<f32>(&[B]) + 3.0, mask = at < n);
}
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = tmp_path_factory.mktemp("limits") / "limits.tk"
    path.write_text(SOURCE, encoding="utf-8")
    return teenyc.load(path)


@pytest.fixture
def zeros(device: str) -> Any:
    return lambda *extents: torch.zeros(*extents, device=device)


def test_a_grid_may_have_no_more_programs_than_stated(kernels: ModuleType, zeros: Any) -> None:
    launch = kernels.Firsts()
    x, y = zeros(3, 5) + 1, zeros(3)
    for _ in range(2):  # what was checked before is known the second time
        launch[(3,)](x, y, 3, 5)
        launch[(2, 1)](x, y, rows=3, cols=5)
        with pytest.raises(ValueError, match="Firsts: the grid has 4 programs along x, the kernel states 3"):
            launch[(4,)](x, y, 3, 5)
        with pytest.raises(ValueError, match="the grid has 2 programs along y, the kernel states 1"):
            launch[(3, 2)](x, y, cols=5, rows=3)
    launch[(4, 0)](x, y, 3, 5)  # runs nothing
    assert y.tolist() == [5, 5, 5]
    kernels.Firsts(check=False)[(2,)](x, y, 3, 5)


def test_a_grid_of_what_a_shape_binds(kernels: ModuleType, zeros: Any) -> None:
    launch = kernels.Sums()
    x, y = zeros(2, 3, 4) + 1, zeros(2, 4)
    launch[(8,)](x, y, 3, 4)
    assert y.tolist() == [[3.0] * 4] * 2
    with pytest.raises(ValueError, match="the grid has 9 programs along x, the kernel states 8"):
        launch[(9,)](x, y, 3, 4)


def test_an_extent_of_zero_leaves_nothing_unchecked(kernels: ModuleType, zeros: Any) -> None:
    launch = kernels.Sums()
    y = zeros(2, 4) + 1
    launch[(8,)](zeros(2, 0, 4), y, 0, 4)
    assert y.tolist() == [[0.0] * 4] * 2
    with pytest.raises(ValueError, match="the grid has 12 programs along x, the kernel states 8"):
        launch[(12,)](zeros(2, 0, 4), y, 0, 4)
    with pytest.raises(ValueError, match="needs 0 elements"):
        launch[(8,)](zeros(2, 1, 4), y, 0, 4)


def test_extents_are_not_below_zero(kernels: ModuleType, zeros: Any) -> None:
    with pytest.raises(ValueError, match=r"`x` has the shape \[rows=-3, cols=-5\], of which no extent may be below 0"):
        kernels.Firsts()[(3,)](zeros(3, 5), zeros(3), -3, -5)


def test_guards_are_checked_where_unproven_is_denied(kernels: ModuleType, zeros: Any) -> None:
    launch = kernels.Doubled(16)
    x, y = zeros(20) + 1, zeros(20)
    for _ in range(2):
        launch[(2,)](x, y, 20)
        with pytest.raises(ValueError, match=r"Doubled: accesses are in bounds only where `n <= len\(y\)`"):
            launch[(2,)](x, y[:19], 20)
        with pytest.raises(ValueError, match=r"only where `n <= len\(x\)`"):
            launch[(2,)](x[:19], y, n=20)
    assert y.tolist() == [2.0] * 20
    kernels.Doubled(16, check=False)[(1,)](x, y, 16)


def test_guards_know_tensors_that_skip_elements(kernels: ModuleType, zeros: Any) -> None:
    memory = zeros(9)
    kernels.Ends()[(3,)](memory[::2], 3, 4)
    assert memory.tolist() == [7, 0, 0, 0, 7, 0, 0, 0, 7]
    with pytest.raises(ValueError, match="accesses are in bounds only where"):
        kernels.Ends()[(3,)](memory[:8:2], 3, 4)
    with pytest.raises(ValueError, match="`0 <= stride`"):
        kernels.Ends()[(3,)](memory, 3, -1)


def test_a_grid_that_depends_on_what_is_chosen(kernels: ModuleType, zeros: Any) -> None:
    x = zeros(70)
    kernels.Filled()[lambda meta: (-(-70 // meta["B"]),)](x, 70)
    assert x.tolist() == [3.0] * 70
    with pytest.raises(ValueError, match="the grid has 6 programs along x, the kernel states 5"):
        kernels.Filled(16)[(6,)](x, 70)
