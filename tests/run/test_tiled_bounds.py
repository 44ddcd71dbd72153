"""Loops whose bounds or steps depend on the row: causal and windowed attention in blocks, against plain and float64."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

import pytest
import torch
from meaning import module_of
from tiled import blocked

N = 16

HEAD = """
#[kernel(tile(q_row, k_row))]
fn forward<const N: i32>(
    q: Pointer<f32>, k: Pointer<f32>, v: Pointer<f32>, o: Pointer<f32>, l: Pointer<f32>, keys: i32, window: i32,
) {
    let q_row = program_id(0);
    let lane = arange(0, N);
    let own = load(q + q_row * N + lane);
    let mut highest = f32::NEG_INFINITY;
    let mut total = 0.0;
    let mut acc = zeros::<f32>(&[N]);
"""

STEP = """
        let score = sum(own * load(k + k_row * N + lane), axis = 0);
        let new = maximum(highest, score);
        let weight = exp(score - new);
        let correction = exp(highest - new);
        total = correction * total + weight;
        acc = correction * acc + weight * load(v + k_row * N + lane);
        highest = new;
"""

TAIL = """
    store(o + q_row * N + lane, acc / where_(total > 0.0, total, 1.0));
    store(l + q_row, highest + log(total));
}
"""

LOOPS = {
    "causal": f"for k_row in 0..minimum(q_row + 1, keys) {{ {STEP} }}",
    "causal_branch": f"for k_row in 0..keys {{ if k_row <= q_row {{ {STEP} }} }}",
    "window": f"for k_row in maximum(0, q_row - window)..minimum(q_row + 1, keys) {{ {STEP} }}",
    "later": f"for k_row in q_row + window..keys {{ {STEP} }}",
    "thirds": f"for k_row in 0..keys {{ if k_row % 3 == q_row % 3 {{ {STEP} }} }}",
    "nested": f"for k_row in 0..keys {{ if k_row <= q_row {{ if k_row % 2 == 0 {{ {STEP} }} }} }}",
    "skipped": f"for k_row in 0..keys {{ if k_row > q_row {{ continue; }} {STEP} }}",
    "every_third": f"for k_row in (1..keys).step_by(3) {{ {STEP} }}",
    "everywhere": f"for k_row in 0..keys {{ if window > 0 {{ {STEP} }} }}",
}


def _counts(kind: str, rows: int, keys: int, window: int) -> torch.Tensor:
    """Which keys count for which rows."""
    i, j = torch.arange(rows)[:, None], torch.arange(keys)[None, :]
    every = (i >= 0) & (j >= 0)
    return {
        "causal": j <= i,
        "causal_branch": j <= i,
        "window": (j <= i) & (j >= i - window),
        "later": j >= i + window,
        "thirds": j % 3 == i % 3,
        "nested": (j <= i) & (j % 2 == 0),
        "skipped": j <= i,
        "every_third": every & (j % 3 == 1),
        "everywhere": every & (window > 0),
    }[kind]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bounds")


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # NumPy's on infinities, under the interpreter
@pytest.mark.parametrize("kind", LOOPS)
@pytest.mark.parametrize(("rows", "keys"), [(1, 1), (15, 16), (17, 64), (40, 17), (20, 100), (5, 0)])
def test_attention_over_some_of_the_keys(folder: Path, device: str, kind: str, rows: int, keys: int) -> None:
    module = _module(HEAD + LOOPS[kind] + TAIL, folder, kind)
    assert "BLOCK_N" in inspect.signature(module.forward_tiled.fn).parameters, "the loop takes blocks"
    window = 0 if kind == "everywhere" and rows == 15 else 5
    torch.manual_seed(rows)
    q, k, v = (torch.randn(max(n, 1), N, device=device) for n in (rows, keys, keys))
    arguments = {"q": q, "k": k, "v": v, "keys": keys, "window": window}
    out = blocked(module, "forward", arguments, {"o": (rows, N), "l": (rows,)}, (rows,), {"N": N}, 1e-4)
    counts = _counts(kind, rows, keys, window)
    scores = (q.double().cpu() @ k.double().cpu()[:keys].T).masked_fill(~counts, float("-inf"))
    weights = torch.softmax(scores, dim=1).nan_to_num(0.0)
    torch.testing.assert_close(out["o"].double(), weights @ v.double().cpu()[:keys], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(out["l"].double(), torch.logsumexp(scores, dim=1), rtol=1e-4, atol=1e-4)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize(("rows", "n"), [(1, 1), (17, 40), (33, 64), (16, 5), (3, 0)])
def test_steps_in_both_branches(folder: Path, device: str, rows: int, n: int) -> None:
    text = (Path(__file__).parents[1] / "passes" / "tile" / "step_in_branch.tk").read_text(encoding="utf-8")
    module = _module(text, folder, "step_in_branch")
    torch.manual_seed(n)
    x, y = torch.randn(rows, max(n, 1), device=device), torch.randn(max(n, 1), N, device=device)
    out = blocked(module, "step_in_branch", {"x": x, "y": y, "n": n}, {"o": (rows, N)}, (rows,), {"N": N}, 1e-4)
    taken = torch.arange(n)[None, :] % 5 != torch.arange(rows)[:, None] % 5
    scores = x.double().cpu()[:, :n].masked_fill(~taken, float("-inf"))
    highest = scores.amax(1) if n else torch.full((rows,), float("-inf"), dtype=torch.float64)
    total = torch.exp(scores - highest[:, None]).nan_to_num(0.0).sum(1)
    expected = ((~taken).double() @ y.double().cpu()[:n]) * total[:, None] + highest[:, None]
    torch.testing.assert_close(out["o"].double(), expected, rtol=1e-4, atol=1e-4)


def _module(text: str, folder: Path, name: str) -> ModuleType:
    return module_of(text, folder, name)
