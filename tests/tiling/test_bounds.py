"""Loops whose bounds or steps depend on the row: causal and windowed attention in blocks, against plain and float64."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import torch
from blocked import agreed, close
from meaning import module_of

N = 16
F32 = torch.float32

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
    "by_any_step": f"for k_row in (1..keys).step_by(window) {{ {STEP} }}",
    "while": f"let mut k_row = 1; while k_row < minimum(q_row + 2, keys) {{ {STEP} k_row += 2; }}",
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
        "by_any_step": every & (j % window == 1 % window) if window else every,
        "while": (j % 2 == 1) & (j < i + 2),
        "everywhere": every & (window > 0),
    }[kind]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bounds")


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # NumPy's on infinities, under the interpreter
@pytest.mark.parametrize("kind", LOOPS)
@pytest.mark.parametrize(("rows", "keys"), [(1, 1), (15, 16), (17, 16), (40, 64), (20, 100), (5, 0)])
def test_attention_over_some_of_the_keys(folder: Path, device: str, kind: str, rows: int, keys: int) -> None:
    module = module_of(HEAD + LOOPS[kind] + TAIL, folder, kind)
    assert "BLOCK_N" in inspect.signature(module.forward_tiled.fn).parameters, "the loop takes blocks"
    window = 0 if kind == "everywhere" and rows == 15 else 5
    torch.manual_seed(rows)
    q, k, v = (torch.randn(max(n, 1), N, device=device) for n in (rows, keys, keys))
    arguments = {"q": q, "k": k, "v": v, "keys": keys, "window": window}
    outputs = {"o": ((rows, N), F32), "l": ((rows,), F32)}
    out = agreed(module.forward, (rows,), arguments, outputs, 1e-4, N=N)
    counts = _counts(kind, rows, keys, window)
    scores = (q.double().cpu() @ k.double().cpu()[:keys].T).masked_fill(~counts, float("-inf"))
    weights = torch.softmax(scores, dim=1).nan_to_num(0.0)
    close(out["o"], weights @ v.double().cpu()[:keys], 1e-5)
    close(out["l"], torch.logsumexp(scores, dim=1), 1e-5)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize(("rows", "n"), [(1, 1), (17, 40), (33, 64), (16, 5), (3, 0)])
def test_steps_in_both_branches(folder: Path, device: str, rows: int, n: int) -> None:
    text = (Path(__file__).parents[1] / "passes" / "tile" / "step_in_branch.tk").read_text(encoding="utf-8")
    module = module_of(text, folder, "step_in_branch")
    torch.manual_seed(n)
    x, y = torch.randn(rows, max(n, 1), device=device), torch.randn(max(n, 1), N, device=device)
    arguments = {"x": x, "y": y, "n": n}
    out = agreed(module.step_in_branch, (rows,), arguments, {"o": ((rows, N), F32)}, 1e-5, N=N)
    taken = torch.arange(n)[None, :] % 5 != torch.arange(rows)[:, None] % 5
    scores = x.double().cpu()[:, :n].masked_fill(~taken, float("-inf"))
    highest = scores.amax(1) if n else torch.full((rows,), float("-inf"), dtype=torch.float64)
    total = torch.exp(scores - highest[:, None]).nan_to_num(0.0).sum(1)
    expected = ((~taken).double() @ y.double().cpu()[:n]) * total[:, None] + highest[:, None]
    close(out["o"], expected, 1e-5)


GRADIENTS = """
#[kernel(tile(q_row, k_row))]
fn backward_dq<const N: i32>(
    q: Pointer<f32>, k: Pointer<f32>, v: Pointer<f32>, l: Pointer<f32>, d: Pointer<f32>, d_o: Pointer<f32>,
    dq: Pointer<f32>, rows: i32,
) {
    let q_row = program_id(0);
    let lane = arange(0, N);
    let own = load(q + q_row * N + lane);
    let own_do = load(d_o + q_row * N + lane);
    let own_l = load(l + q_row);
    let own_d = load(d + q_row);
    let mut acc = zeros::<f32>(&[N]);
    for k_row in 0..q_row + 1 {
        let key = load(k + k_row * N + lane);
        let p = exp(sum(own * key, axis = 0) - own_l);
        let ds = p * (sum(own_do * load(v + k_row * N + lane), axis = 0) - own_d);
        acc = acc + ds * key;
    }
    store(dq + q_row * N + lane, acc);
}

#[kernel(tile(k_row, q_row))]
fn backward_dkv<const N: i32>(
    q: Pointer<f32>, k: Pointer<f32>, v: Pointer<f32>, l: Pointer<f32>, d: Pointer<f32>, d_o: Pointer<f32>,
    dk: Pointer<f32>, dv: Pointer<f32>, rows: i32,
) {
    let k_row = program_id(0);
    let lane = arange(0, N);
    let own_k = load(k + k_row * N + lane);
    let own_v = load(v + k_row * N + lane);
    let mut acc_k = zeros::<f32>(&[N]);
    let mut acc_v = zeros::<f32>(&[N]);
    for q_row in k_row..rows {
        let query = load(q + q_row * N + lane);
        let row_do = load(d_o + q_row * N + lane);
        let p = exp(sum(query * own_k, axis = 0) - load(l + q_row));
        acc_v += p * row_do;
        let ds = p * (sum(row_do * own_v, axis = 0) - load(d + q_row));
        acc_k += ds * query;
    }
    store(dk + k_row * N + lane, acc_k);
    store(dv + k_row * N + lane, acc_v);
}
"""


@pytest.mark.parametrize("rows", [1, 15, 17, 64, 100])
def test_gradients_of_causal_attention(folder: Path, device: str, rows: int) -> None:
    module = module_of(GRADIENTS, folder, "gradients")
    torch.manual_seed(rows)
    exact = [torch.randn(rows, N, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    q, k, v = exact
    scores = (q @ k.T).masked_fill(torch.ones(rows, rows).triu(1).bool(), float("-inf"))
    o, d_o = torch.softmax(scores, dim=1) @ v, torch.randn(rows, N, dtype=torch.float64)
    o.backward(d_o)
    given = {"q": q, "k": k, "v": v, "l": torch.logsumexp(scores, dim=1), "d": (o * d_o).sum(1), "d_o": d_o}
    arguments: dict[str, Any] = {name: t.detach().float().to(device) for name, t in given.items()}
    arguments["rows"] = rows
    out = agreed(module.backward_dq, (rows,), arguments, {"dq": ((rows, N), F32)}, 1e-5, N=N)
    both = dict.fromkeys(("dk", "dv"), ((rows, N), F32))
    out |= agreed(module.backward_dkv, (rows,), arguments, both, 1e-5, N=N)
    for name, tensor in zip(("dq", "dk", "dv"), exact, strict=True):
        close(out[name], tensor.grad, 1e-5)
