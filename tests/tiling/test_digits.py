"""One index of the grid that is taken apart: blocks of its remainder, against float64 and the plain kernels."""

from __future__ import annotations

from collections.abc import Callable
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


TURNED = """
#[kernel(tile)]
fn turned<const N: i32>(
    q: Pointer<f32>, k: Pointer<f32>, v: Pointer<f32>, o: Pointer<f32>, {heads}group: i32, keys: i32
) {{
    let pid = program_id(0);
    let head = pid % {divisor};
    let row = pid / {divisor};
    let shared = head / group;
    let lane = arange(0, N);
    let own = load(q + pid * N + lane);
    let mut highest = f32::NEG_INFINITY;
    let mut total = 0.0;
    let mut acc = zeros::<f32>(&[N]);
    for key in 0..keys {{
        let score = sum(own * load(k + (shared * keys + key) * N + lane), axis = 0);
        let new = maximum(highest, score);
        let weight = exp(score - new);
        total = total * exp(highest - new) + weight;
        acc = acc * exp(highest - new) + weight * load(v + (shared * keys + key) * N + lane);
        highest = new;
    }}
    store(o + (row * {divisor} + head) * N + lane, acc / total);
}}
"""


@pytest.fixture(scope="module", params=["heads", "4"])
def turned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Attention of heads that are innermost, as many as a parameter or a number says."""
    divisor: str = request.param
    text = TURNED.format(divisor=divisor, heads="heads: i32, " if divisor == "heads" else "")
    return module_of(text, tmp_path_factory.mktemp("turned"), "turned")


@pytest.mark.parametrize(("rows", "more"), [(1, 0), (15, 0), (17, 0), (40, 0), (5, 3)])
def test_heads_that_are_innermost(turned: ModuleType, device: str, rows: int, more: int) -> None:
    """Rows of a head lie apart; where the grid has not as many for each, the kernel runs as written."""
    q, k, v = (torch.randn(*shape, 16, device=device) for shape in ((rows * 4 + more,), (2, 21), (2, 21)))
    heads = {"heads": 4} if "heads" in turned.turned.plain.arg_names else {}
    arguments = {"q": q, "k": k, "v": v, **heads, "group": 2, "keys": 21}
    got = agreed(turned.turned, (len(q),), arguments, {"o": (tuple(q.shape), F32)}, 1e-5, N=16)
    shared = torch.arange(len(q), device=device) % 4 // 2
    scores = torch.einsum("pn,pkn->pk", q.double(), k.double()[shared])
    close(got["o"], torch.einsum("pk,pkn->pn", scores.softmax(1), v.double()[shared]).cpu(), 1e-5)
    found: list[object] = []

    def note(kernel: object, grid: tuple[int, ...]) -> Callable[..., None]:
        found.append(kernel)
        return lambda *_, **__: None

    given = {**arguments, "o": torch.empty_like(q), "N": 16, "BLOCK_M": 16, "BLOCK_N": 16}
    turned.turned._launch((len(q),), (), given, note)
    assert (found[0] is turned.turned.tiled) == (more == 0)


def test_heads_that_are_innermost_are_said(turned: ModuleType) -> None:
    facts = turned.TEENYC["kernels"]["turned"]
    said = " ".join(" ".join(facts["tiling"]).split())
    divisor = "heads" if "heads" in turned.turned.plain.arg_names else "4"
    assert f"`row`, the quotient of program axis 0 by `{divisor}`, where that divides the grid" in said
    positive = "heads > 0 and " if divisor == "heads" else ""
    assert facts["tiled"]["conditions"] == [f"{positive}num_pids % {divisor} == 0"]


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
