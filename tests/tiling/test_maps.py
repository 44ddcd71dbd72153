"""Loops that store in blocks, against float64 and the plain kernels: two passes over a row, strides, conditions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from blocked import agreed, blocked, close, plain, written
from meaning import module_of

GOLDEN = Path(__file__).parents[1] / "golden" / "tiled_maps.tk"
F32 = torch.float32
ROWS = pytest.mark.parametrize(("rows", "n"), [(1, 1), (2, 15), (3, 16), (17, 17), (1, 64), (2, 100)])


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of(GOLDEN.read_text(encoding="utf-8"), tmp_path_factory.mktemp("maps"), "tiled_maps")


@ROWS
def test_two_passes(source: ModuleType, device: str, rows: int, n: int) -> None:
    x, w, b = (torch.randn(*shape, device=device) for shape in ((rows, n), (n,), (n,)))
    got = agreed(source.softmax, (rows,), {"x": x, "n": n}, {"y": ((rows, n), F32)}, 1e-6)
    close(got["y"], x.double().softmax(1).cpu(), 1e-6)
    outputs = {"y": ((rows, n), F32), "mean": ((rows,), F32)}
    got = agreed(source.layer_norm, (rows,), {"x": x, "w": w, "b": b, "n": n, "eps": 0.125}, outputs, 1e-5)
    wide = x.double()
    norm = torch.nn.functional.layer_norm(wide, (n,), w.double(), b.double(), 0.125)
    close(got["y"], norm.cpu(), 1e-5)
    close(got["mean"], wide.mean(1).cpu(), 1e-5)
    arguments = {"x": x, "w": w, "n": n, "eps": 0.125}
    got = agreed(source.rms_norm_in_chunks, (rows,), arguments, {"y": ((rows, n), F32)}, 1e-5, N=16, BLOCK_N=2)
    close(got["y"], (wide * (wide.square().mean(1, keepdim=True) + 0.125).rsqrt() * w.double()).cpu(), 1e-5)


@ROWS
def test_what_a_row_does_not_reach_is_not_written(source: ModuleType, device: str, rows: int, n: int) -> None:
    q, k = torch.randn(rows, 16, device=device), torch.randn(n, 16, device=device)
    outputs = {"s": ((rows, n), F32), "total": ((rows,), F32)}
    got = agreed(source.scores, (rows,), {"q": q, "k": k, "keys": n}, outputs, 1e-5, N=16)
    scores = (q.double() @ k.double().T).tril().cpu()
    reached = torch.ones(rows, n).tril().bool()
    assert torch.equal(got["s"].isfinite(), reached)
    close(got["s"].nan_to_num(0.0), scores, 1e-5)
    close(got["total"], scores.sum(1), 1e-5)


@ROWS
def test_strides_and_lanes(source: ModuleType, device: str, rows: int, n: int) -> None:
    x, angles = torch.randn(rows, 2 * n, device=device), torch.randn(rows, n, device=device)
    outputs = {"pairs": ((rows, 2 * n), F32), "halves": ((rows, 2 * n), F32)}
    got = agreed(source.rotary, (rows,), {"x": x, "angles": angles, "half": n}, outputs, 1e-6)
    turned = torch.view_as_complex(x.double().view(rows, n, 2)) * torch.polar(torch.ones_like(angles), angles)
    close(got["pairs"], torch.view_as_real(turned).reshape(rows, 2 * n).cpu(), 1e-5)
    close(got["halves"], torch.cat([turned.real, turned.imag], 1).cpu(), 1e-5)
    x, y = torch.randn(n, device=device), torch.randn(rows, 4, device=device)
    got = agreed(source.outer_products, (rows,), {"x": x, "y": y, "n": n}, {"o": ((rows, n, 4), F32)}, 1e-6, N=4)
    signed = x.double() * torch.where(torch.arange(n, device=device) % 2 == 0, 1.0, -1.0)
    close(got["o"], (signed.flip(0)[None, :, None] * y.double()[:, None, :]).cpu(), 1e-6)
    x = torch.randn(rows, n, 4, device=device)
    got = agreed(source.transposed, (rows,), {"x": x, "n": n}, {"o": ((rows, 4, n), F32)}, 0.0, N=4)
    assert torch.equal(got["o"], x.transpose(1, 2).cpu())


def test_a_tensor_that_is_read_and_written_is_left_to_the_plain_kernel(source: ModuleType, device: str) -> None:
    """The launcher sees that `y` is `x`, which a block of the second pass would overwrite before the next is read."""
    x = torch.randn(3, 40, device=device)
    expected = x.double().softmax(1)
    for launch in (blocked, plain):
        y = x.clone()
        launch(source.softmax, (3,), y, y, 40)
        close(y.cpu(), expected.cpu(), 1e-6)


LEFT = """
#[kernel(tile(k))]
fn left(x: Pointer<f32>, at: Pointer<i32>, y: Pointer<f32>, z: Pointer<f32>, n: i32, s: i32) {
    let row = program_id(0);
    let at_most = load(at);
    let mut total = 0.0;
    for k in 0..n {
        total += load(x + row * n + k);
        STORE
    }
    store(z + row, total);
}
"""

STORES = {
    "store(y + row * n + k, total);": "what is stored in the loop depends on `total`",
    "store(y + row * n, load(x + k));": "`store(y + row·n)` in the loop goes to the same address in every iteration",
    "store(y + row * n + load(at + k), 1.0);": "`store(y + row·n + load(at + k))` in the loop may go to one address",
    "store(y + row * n + k * s * at_most, 1.0);": "its strides may let them meet",
    "store(y + row * n + k * s, 1.0); store(y + row * n + k * s + 1, 2.0);": "may go to one address in different",
    "store(y + row * n + k / 2, 1.0);": "`store(y + row·n + k / 2)` in the loop may go to one address",
    "store(y + row * n + k * k, 1.0);": "`store(y + row·n + k·k)` in the loop may go to one address",
    "store(y + row * n + k * 2 + arange(0, 4), zeros::<f32>(&[4]));": "its strides may let them meet",
    "store(y + row * n + k, load(y + row * n + k + 1));": "changes what `load(y + row·n + k + 1)` reads",
    "store(z + row * n + k, 1.0);": "changes what `store(z + row)` changes",
    "store(y + row * n + k, 1.0); store(y + row * n + k + 1, 2.0);": "may go to one address in different iterations",
    "store(y + row * n + k, 1.0); store(y + row * n + n - k, 2.0);": "may go to one address in different iterations",
    "if load(x + k) > 0.0 { store(y + row * n + k, total); }": "what is stored in the loop depends on `total`",
    "atomic_add(y + row * n + k, 1.0);": "`atomic_add` in the loop happens once an iteration",
}


@pytest.mark.parametrize("statement", STORES)
def test_what_is_no_map_is_refused_by_name(statement: str) -> None:
    from teenyc import compile_source
    from teenyc.cli.tiling import explanation_text

    compiled = compile_source(LEFT.replace("STORE", statement), name="left.tk")
    said = " ".join(explanation_text(compiled).split())
    assert STORES[statement] in said
    assert "is blocked" not in said


STRIDED = """
#[kernel(tile)]
fn rows(x: Pointer<f32>, y: Pointer<f32>, n: i32, row_stride: i32, stride: i32) {
    let row = program_id(0);
    for k in 0..n {
        store(y + row * row_stride + k * stride, load(x + row * n + k) + load(x + k));
    }
}

#[kernel(tile(k))]
fn lanes<const N: i32>(x: Pointer<f32>, y: Pointer<f32>, n: i32, by: i64, lane_stride: i32) {
    let lane = arange(0, N);
    for k in 0..n {
        store(y + (k as i64) * by + (lane * lane_stride) as i64, load(x + k * N + lane));
        store(y + (k as i64) * by + (lane * lane_stride) as i64, load(x + k * N + lane) * 2.0);
    }
}
"""


@pytest.fixture(scope="module")
def strided(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of(STRIDED, tmp_path_factory.mktemp("strided"), "strided")


def is_blocked(kernel: Any, grid: tuple[int, ...], *arguments: Any, **named: Any) -> bool:
    """Whether a launch takes blocks."""
    found: list[Any] = []

    def note(kernel: Any, grid: tuple[int, ...]) -> Callable[..., None]:
        found.append(kernel)
        return lambda *_, **__: None

    blocks = {name: 16 for name in ("BLOCK_M", "BLOCK_N") if name in kernel.tiled.arg_names}
    kernel._launch(grid, arguments, {**named, **blocks}, note)
    return bool(found[0] is kernel.tiled)


def test_what_a_launch_must_show_is_said(strided: ModuleType) -> None:
    facts = strided.TEENYC["kernels"]
    assert facts["rows"]["tiled"]["conditions"] == ["stride >= 1"]
    assert facts["lanes"]["tiled"]["conditions"] == [
        "by >= 1 and lane_stride >= by * n or lane_stride >= 1 and by >= N * lane_stride"
    ]
    assert "that is so where `stride ≥ 1`" in " ".join(" ".join(facts["rows"]["tiling"]).split())


@pytest.mark.parametrize("stride", [-1, 0, 1, 3])
def test_a_stride_that_is_a_parameter(strided: ModuleType, device: str, stride: int) -> None:
    """The last iteration counts where all store to one place."""
    rows, n = 3, 40
    x = torch.randn(rows, n, device=device)
    numbers = (x.double() + x[0].double()).cpu()
    memory = torch.full((rows, 3 * n), float("nan"), device=device)
    first = memory.flatten()[n:] if stride < 0 else memory.flatten()
    blocked(strided.rows, (rows,), x, first, n, 3 * n, stride)
    expected = torch.full((rows * 3 * n,), float("nan"), dtype=torch.float64)
    for k in range(n):
        for row in range(rows):
            expected[row * 3 * n + k * stride + (n if stride < 0 else 0)] = numbers[row, k]
    close(memory.flatten().cpu(), expected, 1e-6)
    assert is_blocked(strided.rows, (rows,), x, first, n, 3 * n, stride) == (stride > 0)


@pytest.mark.parametrize(
    ("by", "lane_stride", "is_apart"),
    [(4, 1, True), (9, 2, True), (1, 40, True), (2, 80, True), (3, 1, False), (1, 39, False), (0, 1, False)],
)
def test_strides_of_iterations_and_lanes(
    strided: ModuleType, device: str, by: int, lane_stride: int, is_apart: bool
) -> None:
    """One of them is no less than the other reaches, whichever that is."""
    x, y = torch.randn(40, 4, device=device), torch.full((400,), float("nan"), device=device)
    assert is_blocked(strided.lanes, (1,), x, y, 40, by, lane_stride, N=4) == is_apart
    if is_apart:
        blocked(strided.lanes, (1,), x, y, 40, by, lane_stride, N=4)
        places = torch.arange(40)[:, None] * by + torch.arange(4) * lane_stride
        close(y.cpu()[places], 2.0 * x.double().cpu(), 1e-6)
        assert int(y.isfinite().sum()) == 160


def test_two_rows_that_go_in_turns_are_written(source: ModuleType, device: str) -> None:
    """A launch of many rows at once, of which the last block is not whole."""
    x = torch.randn(40, 33, device=device)
    w, b = torch.ones(33, device=device), torch.zeros(33, device=device)
    arguments = {"x": x, "w": w, "b": b, "n": 33, "eps": 0.125}
    outputs = {"y": ((40, 33), F32), "mean": ((40,), F32)}
    got = written(blocked, source.layer_norm, (40,), arguments, outputs)
    close(got["y"], torch.nn.functional.layer_norm(x.double(), (33,), eps=0.125).cpu(), 1e-5)
