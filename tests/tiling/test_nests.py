"""Loops in loops in blocks, in either order: convolutions against float64 and the plain kernels."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
import torch
from blocked import agreed, close
from meaning import module_of

from teenyc import compile_source

GOLDEN = Path(__file__).parents[1] / "golden" / "tiled_nests.tk"
F32 = torch.float32
SIZES = pytest.mark.parametrize(("n", "channels"), [(1, 1), (15, 17), (16, 16), (17, 15), (33, 33)])


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of(GOLDEN.read_text(encoding="utf-8"), tmp_path_factory.mktemp("nests"), "tiled_nests")


@SIZES
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["f32", "f16"])
def test_one_dimension(source: ModuleType, device: str, dtype: torch.dtype, n: int, channels: int) -> None:
    outs, taps = 5, 3
    x = torch.randn(channels, n + taps - 1, device=device).to(dtype)
    w = torch.randn(outs, channels, taps, device=device).to(dtype)
    arguments = {"x": x, "w": w, "n": n, "channels": channels, "taps": taps}
    got = agreed(source.convolution_1d, (n, outs), arguments, {"y": ((outs, n), dtype)}, 2e-3)
    close(got["y"], torch.nn.functional.conv1d(x.double()[None], w.double())[0].cpu(), 2e-3)


@SIZES
def test_sums_of_parts(source: ModuleType, device: str, n: int, channels: int) -> None:
    x, w = torch.randn(channels, n + 4, device=device), torch.randn(channels, 5, 16, device=device)
    arguments = {"x": x, "w": w, "n": n, "channels": channels}
    got = agreed(source.convolution_1d_by_parts, (n,), arguments, {"y": ((n, 16), F32)}, 1e-5, OUTS=16)
    expected = torch.nn.functional.conv1d(x.double()[None], w.double().permute(2, 0, 1))[0].T
    close(got["y"], expected.cpu(), 1e-5)


@SIZES
@pytest.mark.parametrize("name", ["convolution_2d", "convolution_2d_by_taps", "convolution_2d_by_channels"])
def test_two_dimensions(source: ModuleType, device: str, name: str, n: int, channels: int) -> None:
    x, w = torch.randn(channels, 3, n, device=device), torch.randn(channels, 3, 3, 16, device=device)
    arguments = {"x": x, "w": w, "width": n, "height": 3, "channels": channels}
    got = agreed(getattr(source, name), (n, 3), arguments, {"y": ((3, n, 16), F32)}, 1e-5, OUTS=16)
    expected = torch.nn.functional.conv2d(x.double()[None], w.double().permute(3, 0, 1, 2), padding=1)[0]
    close(got["y"], expected.permute(1, 2, 0).cpu(), 1e-5)


@pytest.mark.parametrize(("rows", "n", "width"), [(1, 1, 1), (3, 40, 5), (17, 20, 17)])
def test_two_laws_do_not_change_places(source: ModuleType, device: str, rows: int, n: int, width: int) -> None:
    x = torch.randn(rows, n, device=device)
    arguments = {"x": x, "n": n, "width": width}
    got = agreed(source.greatest_window, (rows,), arguments, {"y": ((rows,), F32)}, 1e-5)
    close(got["y"], x.double().unfold(1, width, 1).sum(2).amax(1).cpu(), 1e-5)


STAYS = """
#[kernel(tile(c))]
fn stays(x: Pointer<f32>, y: Pointer<f32>, n: i32, taps: i32) {
    let row = program_id(0);
    let mut acc = 0.0;
    for c in 0..n {
        let weight = load(y + c);
        for tap in 0..STOP {
            STEP
        }
    }
    store(y + row, acc);
}
"""


@pytest.mark.parametrize(
    ("stop", "step"),
    [
        ("c + 1", "acc += load(x + c * taps + tap);"),  # bounds that depend on the other loop
        ("taps", "acc = acc * 0.5 + load(x + c * taps + tap);"),  # no law: the order is the author's
        ("taps", "let mut part = 1.0; for k in 0..taps { part *= weight; } acc += part;"),  # a product is no sum
        ("taps", "acc += weight; store(x + row * n * taps + c * taps + tap, weight);"),  # what may be read is stored
    ],
)
def test_an_order_that_must_stay_stays(stop: str, step: str) -> None:
    from teenyc.cli.tiling import explanation_text

    compiled = compile_source(STAYS.replace("STOP", stop).replace("STEP", step), name="stays.tk")
    said = explanation_text(compiled)
    assert "moved inside" not in said
    assert "the loop over `c` is blocked" not in said
