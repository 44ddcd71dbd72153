"""Launchers of tiled kernels: every way to call one is right, and gives what the kernel as written gives."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from bench import CHOICES, ROW_SUMS, Case, Scaled
from memory import Guarded

import teenyc

HEADS = """
/// Sums of products over lanes: a matrix product whose inner extent is WIDTH.
#[kernel(tile)]
fn scores<const WIDTH: i32>(q: Pointer<f32>, k: Pointer<f32>, o: Pointer<f32>, n_q: i32, n_k: i32) {
    let row = program_id(Axis::Y);
    let batch = program_id(Axis::X);
    let lane = arange(0, WIDTH);
    let x = load(q + (batch * n_q + row) * WIDTH + lane);
    let mut total = 0.0f32;
    for key in 0..n_k {
        total += exp(sum(x * load(k + (batch * n_k + key) * WIDTH + lane), axis = 0));
    }
    store(o + batch * n_q + row, total);
}
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = tmp_path_factory.mktemp("launcher") / "rows.tk"
    path.write_text(ROW_SUMS)
    return teenyc.load(path)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("launcher") / "scores.tk"
    path.write_text(HEADS)
    return path


def test_every_form_of_a_call(rows: ModuleType, device: str) -> None:
    case, kernel = Case(device), rows.row_products
    kernel[(37,)](*case.arguments)
    case.check()
    kernel[37](*case.arguments, num_warps=2)
    case.check()
    kernel[[37, 1, 1]](*case.arguments[:3], scale=0.5, columns=41, rows=37)
    case.check()
    kernel[lambda meta: (meta["rows"],)](*case.arguments)
    case.check()
    kernel.run(*case.arguments, grid=(37,))
    case.check()
    rows.RowOp().products[(37,)](*case.arguments)
    case.check()
    rows.RowProducts()[lambda meta: (meta["rows"],)](*case.arguments)
    case.check()


@pytest.mark.parametrize("count", [1, 15, 16, 17, 64, 100])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64], ids=str)
def test_sizes(rows: ModuleType, device: str, count: int, dtype: torch.dtype) -> None:
    for other in (1, 16, 33):
        for sizes in ((count, other), (other, count)):
            case = Case(device, *sizes, dtype)
            rows.row_products[(sizes[0],)](*case.arguments)
            case.check()


def test_blocks_may_be_named(rows: ModuleType, device: str) -> None:
    case = Case(device)
    for block in (16, 64):
        rows.row_products[(37,)](*case.arguments, BLOCK_M=block, BLOCK_N=16, num_warps=4)
        case.check()


def test_both_kernels_are_at_hand(rows: ModuleType, device: str) -> None:
    case, kernel = Case(device), rows.row_products
    kernel.plain[(37,)](*case.arguments)
    case.check()
    kernel.tiled[(3,)](*case.arguments, num_rows=37, BLOCK_M=16, BLOCK_N=16)
    case.check()
    assert kernel.__name__ == "row_products"
    assert kernel.__doc__.startswith("The products of rows")


def test_the_names_of_the_author_come_first(rows: ModuleType, device: str) -> None:
    x = torch.zeros(1, device=device)
    rows.row_products_tiled[(1,)](x)
    assert x.item() == 1.0
    assert rows.TEENYC["kernels"]["row_products"]["tiled"]["function"] != "row_products_tiled"


def test_an_empty_grid_does_nothing(rows: ModuleType, device: str) -> None:
    case = Case(device)
    assert rows.row_products[(0,)](*case.arguments) is None
    assert bool(case.y.tensor.isnan().all())


def test_fewer_programs_than_rows(rows: ModuleType, device: str) -> None:
    case = Case(device)
    rows.row_products[(20,)](*case.arguments)
    assert bool(case.y.tensor[20:].isnan().all())
    assert torch.allclose(case.y.tensor[:20].double(), case.expected[:20], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shared", ["v", "y", "none"])
def test_the_plain_kernel_runs_where_tensors_overlap(
    rows: ModuleType, device: str, shared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = torch.zeros(100, device=device)
    x, y = torch.ones((4, 4), device=device), memory[:4]
    v = {"v": memory[2:6], "y": memory[:4], "none": memory[4:8]}[shared]
    kernel, seen = rows.row_products, []
    monkeypatch.setattr(kernel, "plain", Recorder(kernel.plain, "plain", seen))
    monkeypatch.setattr(kernel, "tiled", Recorder(kernel.tiled, "tiled", seen))
    monkeypatch.setattr(kernel, "_plans", {})
    kernel[(4,)](x, v, y, 4, 4, 0.5)
    assert seen == ["tiled" if shared == "none" else "plain"]


class Recorder:
    """A kernel that says that it was launched."""

    def __init__(self, kernel: Any, name: str, seen: list[str]) -> None:
        self.kernel, self.name, self.seen = kernel, name, seen

    def __getitem__(self, grid: Any) -> Any:
        self.seen.append(self.name)
        return self.kernel[grid]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)


@pytest.mark.parametrize("width", [8, 16, 32])
def test_constants_by_position_and_too_small_for_products(source: Path, device: str, width: int) -> None:
    kernel = teenyc.load(source).scores
    q, k = torch.randn(3, 20, width, device=device) / width, torch.randn(3, 35, width, device=device)
    expected = torch.exp(q.double() @ k.double().transpose(1, 2)).sum(2)
    for how in ("keyword", "position"):
        o = Guarded((3, 20), torch.float32, device)
        if how == "keyword":
            kernel[(3, 20)](q, k, o.tensor, 20, 35, WIDTH=width)
        else:
            kernel[(3, 20)](q, k, o.tensor, 20, 35, width)
        assert torch.allclose(o.check().double(), expected, rtol=1e-4)


def test_tile_asks_for_blocks_or_none(source: Path, tmp_path: Path) -> None:
    asked, refused, left = (teenyc.load(source, tile=tile) for tile in (True, False, None))
    assert hasattr(asked.scores, "tiled")
    assert hasattr(left.scores, "tiled")
    assert not hasattr(refused.scores, "tiled")
    plain = tmp_path / "scores.tk"
    plain.write_text(HEADS.replace("#[kernel(tile)]", "#[kernel]"))
    assert not hasattr(teenyc.load(plain).scores, "tiled")
    assert hasattr(teenyc.load(plain, tile=True).scores, "tiled")


# ---- kernels that are not tiled, of which a launch chooses constants ------------------------------------------------


@pytest.fixture(scope="module")
def choices(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = tmp_path_factory.mktemp("launcher") / "choices.tk"
    path.write_text(CHOICES)
    return teenyc.load(path)


def test_constants_that_a_caller_leaves_out_are_chosen(choices: ModuleType, device: str) -> None:
    scaled = Scaled(device)
    scaled.check(choices.scaled)
    scaled.check(choices.Scaled())
    assert set(scaled.grids) <= {32, 64}
    for kernel, named in ((choices.scaled, {"BLOCK": 16}), (choices.Scaled(block=16), {}), (choices.Scaled(16), {})):
        scaled.grids.clear()
        scaled.check(kernel, **named)
        assert scaled.grids == [16]
    scaled.grids.clear()
    scaled.check(choices.scaled, 128)
    assert scaled.grids == [128]


def test_blocks_may_be_stated(tmp_path: Path, device: str) -> None:
    path = tmp_path / "stated.tk"
    text = ROW_SUMS.replace("tile)]", "tile, configs = [config(BLOCK_M = 64, BLOCK_N = 16, num_warps = 2)])]")
    path.write_text(text)
    module, case = teenyc.load(path), Case(device)
    assert module.TEENYC["kernels"]["row_products"]["tiled"]["configs"] == [
        {"BLOCK_M": 64, "BLOCK_N": 16, "num_warps": 2}
    ]
    module.row_products[37](*case.arguments)
    case.check()
    untiled = teenyc.load(path, tile=False)
    untiled.row_products[(37,)](*case.arguments)
    case.check()
