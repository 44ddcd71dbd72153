"""One index of the grid that is taken apart: blocks of its remainder, against float64 and the plain kernels."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
import torch
from blocked import agreed, close
from meaning import module_of

from teenyc import compile_source
from teenyc.tiling.tile import Tiled

GOLDEN = Path(__file__).parents[1] / "golden" / "tiled_digits.tk"
F32 = torch.float32
ROWS = pytest.mark.parametrize("rows", [1, 3, 15, 16, 17, 40])


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of(GOLDEN.read_text(encoding="utf-8"), tmp_path_factory.mktemp("digits"), "tiled_digits")


@ROWS
@pytest.mark.parametrize("heads", [1, 3])
def test_heads_and_rows(source: ModuleType, device: str, rows: int, heads: int) -> None:
    q = torch.randn(heads, rows, 32, device=device)
    k, v = torch.randn(heads, 37, 32, device=device), torch.randn(heads, 37, 32, device=device)
    arguments = {"q": q, "k": k, "v": v, "queries": rows, "keys": 37}
    got = agreed(source.attention, (heads * rows,), arguments, {"o": ((heads, rows, 32), F32)}, 1e-5, N=32)
    scores = q.double() @ k.double().transpose(1, 2)
    reached = torch.arange(37, device=device)[None] <= torch.arange(rows, device=device)[:, None]
    close(got["o"], (scores.where(reached, -torch.inf).softmax(2) @ v.double()).cpu(), 1e-5)


@ROWS
@pytest.mark.parametrize("name", ["heads_of_batches", "parts_of_one_index"])
def test_three_parts(source: ModuleType, device: str, rows: int, name: str) -> None:
    batches, heads, k_size = 2, 3, 19
    x, w = torch.randn(batches, heads, rows, k_size, device=device), torch.randn(heads, k_size, 32, device=device)
    arguments = {"x": x, "w": w, "heads": heads, "rows": rows, "k_size": k_size}
    if name == "parts_of_one_index":
        arguments["batches"] = batches
    grid = (batches * heads * rows + (5 if name == "parts_of_one_index" else 0),)
    outputs = {"y": ((batches, heads, rows, 32), F32)}
    got = agreed(getattr(source, name), grid, arguments, outputs, 1e-5, N=32)
    close(got["y"], (x.double() @ w.double()).cpu(), 1e-5)


def test_a_grid_that_ends_within_a_head(source: ModuleType, device: str) -> None:
    """Rows of the last head that the grid does not have are not written."""
    x, w = torch.randn(1, 2, 20, 7, device=device), torch.randn(2, 7, 32, device=device)
    arguments = {"x": x, "w": w, "heads": 2, "rows": 20, "k_size": 7}
    got = agreed(source.heads_of_batches, (33,), arguments, {"y": ((40, 32), F32)}, 1e-5, N=32)
    assert torch.equal(got["y"].isfinite().all(1), torch.arange(40) < 33)
    close(got["y"][:33], (x.double() @ w.double()).view(40, 32)[:33].cpu(), 1e-5)


@pytest.mark.parametrize(("height", "width", "channels"), [(1, 1, 1), (3, 5, 17), (4, 17, 33)])
def test_places(source: ModuleType, device: str, height: int, width: int, channels: int) -> None:
    x, w = torch.randn(channels, height, width, device=device), torch.randn(3, channels, 32, device=device)
    arguments = {"x": x, "w": w, "height": height, "width": width, "channels": channels}
    got = agreed(source.places, (height * width,), arguments, {"y": ((height * width, 32), F32)}, 1e-5, N=32)
    kernel = w.double().permute(2, 1, 0)[:, :, None, :]
    expected = torch.nn.functional.conv2d(x.double()[None], kernel, padding=(0, 1))[0]
    close(got["y"], expected.permute(1, 2, 0).reshape(height * width, 32).cpu(), 1e-5)


@pytest.mark.parametrize("use", ["row % 2 == 0", "row % 4 + row / 4 > 2", "row % keys == 1"])
def test_an_index_that_is_not_taken_apart_into_rows_is_one(use: str) -> None:
    """Remainders alone, and by small numbers, are no rows."""
    text = f"""
    #[kernel(tile)]
    fn some(x: Pointer<f32>, w: Pointer<f32>, y: Pointer<f32>, keys: i32) {{
        let row = program_id(0);
        let lane = arange(0, 32);
        let mut acc = zeros::<f32>(&[32]);
        for key in 0..keys {{
            acc += load(x + row * keys + key) * load(w + key * 32 + lane);
        }}
        store(y + row * 32 + lane, where_({use}, acc, -acc));
    }}"""
    ((_, found),) = compile_source(text, name="some.tk").plans()
    assert isinstance(found, Tiled), found.reason
    assert [(axis.name, axis.is_part) for axis in found.plan.axes] == [("row", False), ("key", False)]
