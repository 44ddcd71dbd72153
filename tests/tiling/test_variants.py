"""Variants of attention in all combinations of their parts: each multiplies matrices in blocks, right to float64.

Heads and rows are two indices of the grid or one that is taken apart; keys and values have a head for a group of heads;
scores have a bias, a cap, a slope; a sink starts the sums; a row sees keys from a window before it to one behind it.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch
from blocked import agreed, close
from meaning import module_of

from teenyc import compile_source
from teenyc.tiling.tile import Tiled

N, HEADS, GROUP = 16, 4, 2

INDICES = {
    "two_axes": ("let row = program_id(0);\n    let head = program_id(1);", lambda queries: (queries, HEADS)),
    "one_axis": (
        "let pid = program_id(0);\n    let head = pid / queries;\n    let row = pid - head * queries;",
        lambda queries: (queries * HEADS,),
    ),
    "remainder_first": (
        "let pid = program_id(0);\n    let row = pid % queries;\n    let head = pid / queries;",
        lambda queries: (queries * HEADS,),
    ),
}
SCORES = {
    "plain": "raw * 0.25",
    "bias": "raw * 0.25 + load(bias + (head * queries + row) * keys + key)",
    "cap": "tanh(raw * 0.25 / 2.0) * 2.0",
    "slope": "raw * 0.25 + (key - row) as f32 * load(sinks + head) * 0.25",
}
SINKS = {
    "none": ("f32::NEG_INFINITY", "0.0"),
    "sink": ("load(sinks + head)", "1.0"),
}
BOUNDS = {
    "all": "0..keys",
    "causal": "0..minimum(row + 1, keys)",
    "window": "maximum(row - 5, 0)..minimum(row + 4, keys)",
}

SOURCE = """
#[kernel(tile)]
fn attention<const N: i32>(
    q: Pointer<f32>, k: Pointer<f32>, v: Pointer<f32>, bias: Pointer<f32>, sinks: Pointer<f32>, o: Pointer<f32>,
    queries: i32, keys: i32, group: i32,
) {{
    {indices}
    let lane = arange(0, N);
    let kv_head = head / group;
    let own = load(q + (head * queries + row) * N + lane);
    let mut highest = {highest};
    let mut total = {total};
    let mut acc = zeros::<f32>(&[N]);
    for key in {bounds} {{
        let raw = sum(own * load(k + (kv_head * keys + key) * N + lane), axis = 0);
        let score = {score};
        let new = maximum(highest, score);
        let weight = exp(score - new);
        total = total * exp(highest - new) + weight;
        acc = acc * exp(highest - new) + weight * load(v + (kv_head * keys + key) * N + lane);
        highest = new;
    }}
    store(o + (head * queries + row) * N + lane, acc / where_(total > 0.0, total, 1.0));
}}
"""

VARIANTS = tuple(itertools.product(INDICES, SCORES, SINKS, BOUNDS))[::5]
"""Every fifth: each pair of parts meets."""


def _source(indices: str, score: str, sink: str, bounds: str) -> str:
    highest, total = SINKS[sink]
    parts = {"indices": INDICES[indices][0], "score": SCORES[score], "bounds": BOUNDS[bounds]}
    return SOURCE.format(highest=highest, total=total, **parts)


@pytest.mark.parametrize(("indices", "score", "sink", "bounds"), VARIANTS)
def test_two_products_of_matrices(indices: str, score: str, sink: str, bounds: str) -> None:
    compiled = compile_source(_source(indices, score, sink, bounds), name="attention.tk")
    ((_, found),) = compiled.plans()
    assert isinstance(found, Tiled), found.reason
    plan = found.plan
    assert sum(len(each.sides) == 2 for each in plan.contractions) == 2
    assert [axis.name for axis in plan.axes] == ["row", "key"]


@pytest.mark.parametrize(("indices", "score", "sink", "bounds"), VARIANTS)
@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (15, 17), (17, 33)])
def test_numbers(
    tmp_path: Path, device: str, indices: str, score: str, sink: str, bounds: str, queries: int, keys: int
) -> None:
    module = module_of(_source(indices, score, sink, bounds), tmp_path, "attention")
    q = torch.randn(HEADS, queries, N, device=device)
    k, v = (torch.randn(HEADS // GROUP, keys, N, device=device) for _ in range(2))
    bias, sinks = torch.randn(HEADS, queries, keys, device=device), torch.randn(HEADS, device=device)
    arguments = {"q": q, "k": k, "v": v, "bias": bias, "sinks": sinks, "queries": queries, "keys": keys, "group": GROUP}
    grid = INDICES[indices][1](queries)
    got = agreed(module.attention, grid, arguments, {"o": ((HEADS, queries, N), torch.float32)}, 1e-5, N=N)
    close(got["o"], _expected(q, k, v, bias, sinks, score, sink, bounds).cpu(), 1e-5)


def _expected(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    bias: torch.Tensor,
    sinks: torch.Tensor,
    score: str,
    sink: str,
    bounds: str,
) -> torch.Tensor:
    """What attention is, in float64 and at once; rows that see no key are 0."""
    wide = [t.double().repeat_interleave(GROUP, 0) for t in (k, v)]
    scores = q.double() @ wide[0].transpose(1, 2) * 0.25
    row = torch.arange(q.shape[1], device=q.device)[:, None]
    key = torch.arange(k.shape[1], device=q.device)[None, :]
    per_head = sinks.double()[:, None, None]
    scores = {
        "plain": scores,
        "bias": scores + bias.double(),
        "cap": torch.tanh(scores / 2) * 2,
        "slope": scores + (key - row) * per_head * 0.25,
    }[score]
    seen = {"all": key >= 0, "causal": key <= row, "window": (key >= row - 5) & (key < row + 4)}[bounds]
    weights = scores.where(seen, -torch.inf)
    if sink == "sink":
        weights = torch.cat([weights, per_head.expand(-1, q.shape[1], 1)], 2)
    return weights.softmax(2).nan_to_num(0.0)[:, :, : k.shape[1]] @ wide[1]
