"""Control flow of blocked kernels: branches, returns, and loops that stay, against plain kernels and float64."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from blocked import agreed, close
from meaning import module_of

SIZES = (1, 15, 16, 17, 40)

SEQUENTIAL = """
#[kernel(tile(row))]
fn decayed<const N: i32>(x: Pointer<f32>, y: Pointer<f32>, o: Pointer<f32>, steps: i32) {
    let row = program_id(0);
    let lane = arange(0, N);
    let mut state = zeros::<f32>(&[N]);
    let mut last = 0.0;
    for k in 0..steps {
        let own = load(y + row * steps + k);
        state = 0.5 * state + own * load(x + k * N + lane);
        for j in 0..2 {
            last = 0.25 * last + own * (j as f32);
        }
    }
    let mut n = 0;
    while n < steps {
        state = state * 0.75 + last;
        n = n + 2;
    }
    store(o + row * N + lane, state);
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("control")


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("steps", [0, 1, 5])
def test_a_recurrence_without_a_law_is_walked_for_all_rows_at_once(
    folder: Path, device: str, rows: int, steps: int
) -> None:
    module = module_of(SEQUENTIAL, folder, "sequential")
    x, y = torch.randn(max(steps, 1), 8, device=device), torch.randn(rows, max(steps, 1), device=device)
    arguments = {"x": x, "y": y, "steps": steps}
    out = agreed(module.decayed, (rows,), arguments, {"o": ((rows, 8), torch.float32)}, 1e-6, N=8)
    state, last = torch.zeros(rows, 8, dtype=torch.float64), torch.zeros(rows, dtype=torch.float64)
    for k in range(steps):
        own = y[:, k].double().cpu()
        state = 0.5 * state + own[:, None] * x[k].double().cpu()
        last = 0.25 * (0.25 * last) + own
    for _ in range(0, steps, 2):
        state = state * 0.75 + last[:, None]
    close(out["o"], state, 1e-6)


BRANCHES = """
#[kernel(tile(row))]
fn chosen<const N: i32>(x: Pointer<f32>, o: Pointer<f32>, n: i32, kind: i32) {
    let row = program_id(0);
    if row >= n {
        return;
    }
    let lane = arange(0, N);
    let mut v = load(x + row * N + lane);
    if kind > 0 {
        v = v * 2.0;
    }
    let mut scale = 1.0;
    if row % 3 == 1 {
        scale = load(x + row * N + 10 / (row % 3));
        v = v + sum(v, axis = 0);
    } else if row % 3 == 2 {
        if kind == 2 {
            return;
        }
        if row > 20 {
            store(o + row * N + lane, v);
            return;
        }
    }
    store(o + row * N + lane, v * scale);
}
"""


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("kind", [0, 1, 2])
def test_branches_and_returns_that_differ_from_row_to_row(folder: Path, device: str, rows: int, kind: int) -> None:
    module = module_of(BRANCHES, folder, "branches")
    n = max(rows - 3, 1)
    x = torch.randn(n, 16, device=device)
    arguments = {"x": x, "n": n, "kind": kind}
    out = agreed(module.chosen, (rows,), arguments, {"o": ((rows, 16), torch.float32)}, 1e-6, N=16)
    expected = torch.full((rows, 16), float("nan"), dtype=torch.float64)
    for row in (r for r in range(n) if kind < 2 or r % 3 < 2):
        v = x[row].double().cpu() * (2 if kind else 1)
        expected[row] = (v + v.sum()) * x[row, 10].double().cpu() if row % 3 == 1 else v
    close(out["o"], expected, 1e-6)
