"""Blocks of loops that run up to the ends of i32, or in steps that only a launch knows: no iteration is lost."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import torch
from blocked import BLOCKS, agreed, blocked, close, written
from meaning import module_of

N = 16
LEAST, GREATEST = -(2**31), 2**31 - 1

KERNEL = """
#[kernel(tile(row, k))]
fn far<const N: i32>(x: Pointer<f32>, y: Pointer<f32>, o: Pointer<f32>, start: i32, stop: i32, s: i32) {
    let row = program_id(0);
    let lane = arange(0, N);
    let mut acc = zeros::<f32>(&[N]);
    for k in RANGE {
        let at = (((k as i64) - (start as i64)) SHARE) as i32;
        acc += load(x + row * 64 + at) * load(y + at * N + lane);
    }
    store(o + row * N + lane, acc);
}
"""

RANGES = {
    "plain": ("start..stop", lambda row, start, stop, s: range(start, stop)),
    "steps": ("(start..stop).step_by(s)", lambda row, start, stop, s: range(start, stop, s)),
    "steps_of_three": ("(start..stop).step_by(3)", lambda row, start, stop, s: range(start, stop, 3)),
    "to_the_row": ("start..minimum(start + row + 1, stop)", lambda row, start, stop, s: range(start, start + row + 1)),
    "from_the_row": ("start + row..stop", lambda row, start, stop, s: range(start + row, stop)),
    "steps_to_the_row": (
        "(start..minimum(start + row * s + 1, stop)).step_by(s)",
        lambda row, start, stop, s: range(start, start + row * s + 1, s),
    ),
}
PLACES = {
    "low": (LEAST, LEAST + 50),
    "high": (GREATEST - 50, GREATEST),
    "middle": (-20, 30),
    "empty": (GREATEST, LEAST),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("far")


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # NumPy's, of iterations that do not count
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", RANGES)
def test_iterations_near_the_ends_of_i32(folder: Path, device: str, kind: str, place: str) -> None:
    (start, stop), s = PLACES[place], 3 if "steps" in kind else 1
    _check(folder, device, kind, start, stop, s)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("s", [2**26, 2**28 + 7, 2**31 - 1])
def test_steps_so_wide_that_a_block_passes_the_end(folder: Path, device: str, s: int) -> None:
    _check(folder, device, "steps", LEAST, GREATEST, s)


def _check(folder: Path, device: str, kind: str, start: int, stop: int, s: int) -> None:
    text, iterations = RANGES[kind]
    is_shared = "row" not in kind  # a division that not all rows reach differs between them
    share = "/ (s as i64)" if is_shared else ""
    module = module_of(KERNEL.replace("RANGE", text).replace("SHARE", share), folder, kind)
    assert "BLOCK_N" in inspect.signature(module.far_tiled.fn).parameters, "the loop takes blocks"
    rows = 17
    generator = torch.Generator().manual_seed(5)
    x, y = (torch.randn(64, width, generator=generator).to(device) for width in (64, N))
    arguments = {"x": x, "y": y, "start": start, "stop": stop, "s": s}
    outputs = {"o": ((rows, N), torch.float32)}
    if kind == "steps_of_three" and stop == GREATEST:  # a GPU counts steps of the plain kernel beyond the greatest i32
        out = written(blocked, module.far, (rows,), arguments, outputs, N=N)
    else:
        out = agreed(module.far, (rows,), arguments, outputs, 1e-5, N=N)
    counts = torch.zeros(rows, 64, dtype=torch.float64)
    for row in range(rows):
        for k in iterations(row, start, stop, s):
            if k < stop:
                counts[row, (k - start) // s if is_shared else k - start] += 1
    close(out["o"], (x[:rows].double().cpu() * counts) @ y.double().cpu(), 1e-5)


def test_loops_near_the_ends_of_i32_are_not_looked_ahead_in(folder: Path, device: str) -> None:
    """Triton loads for later iterations where their counters, in 32 bits, seem to be in the loop."""
    module = module_of(KERNEL.replace("RANGE", "start..stop").replace("SHARE", ""), folder, "ahead")
    x, y, o = (torch.empty(4, 4, device=device) for _ in range(3))
    for start, stop, careful in ((0, 2**30 - 1, False), (0, 2**30, True), (LEAST, 0, True)):
        _, _, named = module.far._plan({**BLOCKS, "num_stages": 3}, (4, 1, 1), {}, (x, y, o, start, stop, 1))
        assert ("num_stages", 1 if careful else 3) in named.items()
