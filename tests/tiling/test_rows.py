"""Blocked kernels of the goldens against float64 and the plain kernels: products, norms, losses, convolutions."""

from __future__ import annotations

import math
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from blocked import FEW, blocked, close, plain
from meaning import module_of
from memory import Guarded

GOLDEN = Path(__file__).parents[1] / "golden"
ROWS = pytest.mark.parametrize(("rows", "n"), [(1, 1), (15, 17), (17, 16), (64, 64), (100, 100)])
dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=["f32", "f64", "f16"])
TOLERANCE = {torch.float32: 4e-6, torch.float64: 1e-13, torch.float16: 2e-3}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModuleType]:
    folder = tmp_path_factory.mktemp("tiled")
    return {p.stem: module_of(p.read_text(encoding="utf-8"), folder, p.stem) for p in GOLDEN.glob("tiled_*.tk")}


def given(device: str, dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64).to(device, dtype)


def check(
    source: ModuleType,
    name: str,
    grid: tuple[int, ...],
    arguments: list[Any],
    out: tuple[int, tuple[int, ...]],
    **sizes: int,
) -> torch.Tensor:
    """What the blocked kernel writes in the place `out`, after seeing that the plain one writes the same.

    The plain one is run where it is small: the interpreter takes a millisecond for an iteration.
    """
    place, shape = out
    like = arguments[0]
    written = []
    is_small = math.prod(grid) <= FEW
    for launch in (blocked, plain) if is_small else (blocked,):
        guarded = Guarded(shape, like.dtype, str(like.device))
        launch(getattr(source, name), grid, *arguments[:place], guarded.tensor, *arguments[place:], **sizes)
        written.append(guarded.check())
    close(written[0], written[-1], TOLERANCE[like.dtype])
    return written[0]


def near(got: torch.Tensor, expected: torch.Tensor, scale: float = 1.0) -> None:
    close(got, expected, TOLERANCE[got.dtype] * scale)


@dtypes
@pytest.mark.parametrize(("rows", "n"), [(1, 1), (16, 17), (17, 100)])
def test_products(sources: dict[str, ModuleType], device: str, dtype: torch.dtype, rows: int, n: int) -> None:
    source, k = sources["tiled_products"], 33
    a, b = given(device, dtype, rows, k), given(device, dtype, k, n)
    c = check(source, "product_of_elements", (rows, n), [a, b, n, k], (2, (rows, n)))
    near(c, a.double() @ b.double())
    x, w, bias = given(device, dtype, rows, n), given(device, dtype, n, 32), given(device, dtype, 32)
    y = check(source, "linear", (rows,), [x, w, bias, n], (3, (rows, 32)), N=32)
    near(y, (x.double() @ w.double() + bias.double()).clamp_min(0))
    v = given(device, dtype, n)
    y = check(source, "matrix_and_vector", (rows,), [x, v, n], (2, (rows,)))
    near(y, x.double() @ v.double())
    x, w = given(device, dtype, rows, 16), given(device, dtype, 32, 16)
    y = check(source, "linear_at_once", (rows,), [x, w, bias], (3, (rows, 32)), N=32, K=16)
    near(y, x.double() @ w.double().T + bias.double())


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 100])
def test_norms(sources: dict[str, ModuleType], device: str, rows: int) -> None:
    source, n, eps = sources["tiled_rows"], 32, 2.0**-10
    x, w, b = (given(device, torch.float32, *shape) for shape in ((rows, n), (n,), (n,)))
    y = check(source, "layer_norm", (rows,), [x, w, b, eps], (3, (rows, n)), N=n)
    near(y, torch.nn.functional.layer_norm(x.double(), (n,), w.double(), b.double(), eps))
    y = check(source, "rms_norm", (rows,), [x, w, eps], (2, (rows, n)), N=n)
    near(y, x.double() * (x.double().square().mean(1, keepdim=True) + eps).rsqrt() * w.double())


@ROWS
def test_losses(sources: dict[str, ModuleType], device: str, rows: int, n: int) -> None:
    source = sources["tiled_rows"]
    logits = given(device, torch.float32, rows, n) * 4
    labels = torch.randint(n, (rows,), dtype=torch.int32, device=device)
    loss = check(source, "cross_entropy", (rows,), [logits, labels, n], (2, (rows,)))
    near(loss, torch.nn.functional.cross_entropy(logits.double(), labels.long(), reduction="none"))
    x, w = given(device, torch.float32, rows, 32), given(device, torch.float32, n, 32)
    loss = check(source, "linear_cross_entropy", (rows,), [x, w, labels, n], (3, (rows,)), N=32)
    expected = torch.nn.functional.cross_entropy(x.double() @ w.double().T, labels.long(), reduction="none")
    near(loss, expected, 4)


@pytest.mark.parametrize(("n", "channels"), [(1, 1), (17, 15), (16, 16), (33, 17)])
def test_convolutions(sources: dict[str, ModuleType], device: str, n: int, channels: int) -> None:
    source, outs, taps = sources["tiled_convolutions"], 17, 3
    x, w = given(device, torch.float32, channels, n + taps - 1), given(device, torch.float32, outs, channels, taps)
    bias = given(device, torch.float32, outs)
    y = check(source, "convolution_1d", (n, outs), [x, w, bias, n, channels, taps], (3, (outs, n)))
    near(y, torch.nn.functional.conv1d(x.double()[None], w.double(), bias.double())[0], 4)
    x, w = given(device, torch.float32, 3, n, channels), given(device, torch.float32, 3, 3, channels, 16)
    y = check(source, "convolution_2d", (n, 3), [x, w, n, 3, channels], (2, (3, n, 16)), OUTS=16)
    expected = torch.nn.functional.conv2d(x.double().permute(2, 0, 1)[None], w.double().permute(3, 2, 0, 1), padding=1)
    near(y, expected[0].permute(1, 2, 0), 4)


@dtypes
@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (15, 17), (17, 64), (64, 15)])
def test_attention(sources: dict[str, ModuleType], device: str, dtype: torch.dtype, queries: int, keys: int) -> None:
    heads, group, d, cap = 4, 2, 32, 2.0
    q, k, v = (given(device, dtype, h, n, d) for h, n in ((heads, queries), (2, keys), (2, keys)))
    bias, sinks = given(device, dtype, queries, keys), given(device, dtype, heads)
    arguments = [q, k, v, bias, sinks, queries, keys, group, cap]
    out = (5, (heads, queries, d))
    o = check(sources["tiled_attention"], "attention", (queries, heads), arguments, out, HEAD_DIM=d)
    scores = q.double() @ k.double().repeat_interleave(group, 0).transpose(1, 2)
    scores = torch.tanh(scores / cap) * cap + bias.double()
    weights = torch.cat([scores, sinks.double().view(-1, 1, 1).expand(-1, queries, 1)], 2).softmax(2)[..., :-1]
    near(o, weights @ v.double().repeat_interleave(group, 0))


@pytest.mark.parametrize(("rows", "n"), [(1, 1), (15, 17), (17, 16), (33, 100)])
def test_sums(sources: dict[str, ModuleType], device: str, rows: int, n: int) -> None:
    source, d = sources["tiled_sums"], 32
    q, k, v = (given(device, torch.float32, count, d) for count in (rows, n, n))
    scores = q.double() @ k.double().T
    o = check(source, "several_terms", (rows,), [q, k, v, n, 0.5], (3, (rows, d)), N=d)
    near(o, -(scores * 0.5 - 1) @ (k.double() + v.double()) / 0.5, 4)
    o = check(source, "under_a_condition", (rows,), [q, k, v, n, 3], (3, (rows, d)), N=d)
    counts = torch.arange(n)[None, :] + 3 >= torch.arange(rows)[:, None]
    near(o, (scores * counts.to(device)) @ v.double(), 4)
    o = check(source, "distances", (rows,), [q / 8, k / 8, n], (2, (rows,)), N=d)
    near(o, torch.exp(-(torch.cdist(q.double(), k.double()) / 8).square()).sum(1))
    q, k = given(device, torch.float32, rows, 4), given(device, torch.float32, n, 4)
    o = check(source, "few_lanes", (rows,), [q, k, n], (2, (rows, 4)))
    near(o, q.double() @ k.double().T @ k.double(), 4)


@pytest.mark.parametrize(("rows", "n"), [(1, 1), (15, 17), (17, 16), (33, 100)])
def test_integers(sources: dict[str, ModuleType], device: str, rows: int, n: int) -> None:
    source = sources["tiled_sums"]
    a, b = (torch.randint(-(2**31), 2**31, s, dtype=torch.int32, device=device) for s in ((rows, n), (n, 3)))
    c = torch.full((rows, 3), -1, dtype=torch.int32, device=device)
    blocked(source.integers, (rows, 3), a, b, c, 3, n)
    exact = [[sum(int(x) * int(y) for x, y in zip(r, s, strict=True)) for s in b.T.tolist()] for r in a.tolist()]
    assert c.tolist() == [[(v + 2**31) % 2**32 - 2**31 for v in r] for r in exact]
    x = given(device, torch.float32, rows, n)
    counts, least = torch.full((rows,), -1, dtype=torch.int32, device=device), Guarded((rows,), torch.float32, device)
    blocked(source.count_and_least, (rows,), x, counts, least.tensor, n)
    assert torch.equal(counts.long(), (x > 0).sum(1))
    assert torch.equal(least.check(), x.min(1).values)


QUOTIENTS = """
#[kernel(tile)]
fn quotients<const N: i32>(q: Pointer<f32>, k: Pointer<f32>, v: Pointer<f32>, o: Pointer<f32>, keys: i32) {
    let row = program_id(0);
    let lane = arange(0, N);
    let own = load(q + row * N + lane);
    let mut acc = zeros::<f32>(&[N]);
    for key in 0..keys {
        let score = sum(own * load(k + key * N + lane), axis = 0);
        let inverse = 1.0 / load(v + key * N + lane);
        acc += TERM;
    }
    store(o + row * N + lane, acc);
}
"""


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # NumPy's on quotients, under the interpreter
@pytest.mark.parametrize("term", ["score * inverse", "where_(key != 2, score * inverse, 0.0)"], ids=["all", "some"])
@pytest.mark.parametrize("keys", [1, 17, 33])
def test_factors_that_are_no_numbers_where_they_do_not_count(tmp_path: Path, device: str, keys: int, term: str) -> None:
    source, d = module_of(QUOTIENTS.replace("TERM", term), tmp_path, "quotients"), 32
    q, k = given(device, torch.float32, 17, d), given(device, torch.float32, keys, d)
    v = given(device, torch.float32, keys, d).abs() + 1
    counts = torch.ones(keys, 1, dtype=torch.bool, device=device)
    if "where" in term:
        v[2:3], counts[2:3] = 0.0, False
    o = Guarded((17, d), torch.float32, device)
    blocked(source.quotients, (17,), q, k, v, o.tensor, keys, N=d)
    inverse = torch.where(counts, 1 / v.double(), 0.0)
    near(o.check(), q.double() @ k.double().T @ inverse, 4)
