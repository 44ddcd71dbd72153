"""Lanes that a mask left out, through all that moves and mixes lanes: found where they count, and only there."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from teenyc.driver import Options, compile_source
from teenyc.runtime.run import run_checked

COUNT = {
    "cat": "store(y, sum(cat(v, v, can_reorder = true)));",
    "join": "store(y, sum(join(v, v)));",
    "split": "let (a, b) = split(reshape(v, &[4, 2])); store(y, sum(a + b));",
    "interleave": "store(y, sum(interleave(v, v * 2.0)));",
    "flip": "store(y, sum(flip(v)));",
    "gather": "store(y, sum(gather(v, at, 0)));",
    "permute": "store(y, sum(permute(reshape(v, &[2, 2, 2]), &[2, 0, 1])));",
    "broadcast": "store(y, sum(broadcast_to(v[(.., None)], &[8, 4])));",
    "new axes": "store(y, sum(v[(None, ..)] + v[(.., None)]));",
    "places": "let (m, i) = max_with_indices(v, axis = 0); store(y, m + i as f32);",
    "reduce": "store(y, reduce(v, 0, plus));",
    "scan": "store(y + at, associative_scan(v, 0, plus));",
    "map": "store(y + at, map_elementwise(twice, v));",
    "histogram": "store(y + at, histogram(v as i32, 8) as f32);",
    "topk": "store(y + arange(0, 4), topk(v, 4));",
    "softmax": "store(y + at, softmax(v));",
    "bound": "let mut t = 0.0; for _ in 0..max(v) as i32 { t += 1.0; } store(y, t);",
    "branch of some programs": "store(y, sum(if pid == 0 { v } else { zeros::<f32>(&[8]) }));",
    "behind a return": "if pid == 1 { return; } store(y, sum(v));",
    "descriptor": "let d = make_tensor_descriptor(y, &[8], &[1], &[8]); store_tensor_descriptor(d, &[0], v);",
}
DO_NOT = {
    "clamp": "store(y + at, clamp(v, 0.0, 1.0), mask = at < n);",
    "where": "store(y, sum(where_(at < n, v, 0.0)));",
    "and": "store(y + at, where_((at < n) & (v > 0.0), 1.0, 0.0));",
    "or": "store(y + at, where_((at >= n) | (v > 0.0), 1.0, 0.0));",
    "branch": "let r = if pid == 0 { v } else { v * 2.0 }; store(y + at, r, mask = at < n);",
    "loop": "let mut r = v; for i in 0..3 { if i == pid { r = r * 2.0; } } store(y + at, r, mask = at < n);",
    "function": "store(y + at, pick(v, pid), mask = at < n);",
    "bits": "store(y + at, bitcast::<f32, i32>(v) as f32, mask = at < n);",
    "atomic": "atomic_add(y + at, v, mask = at < n);",
    "end of a descriptor": "let d = make_tensor_descriptor(y, &[n], &[1], &[8]); store_tensor_descriptor(d, &[0], v);",
    "a print": 'device_print("v", v); store(y + at, v, mask = at < n);',
}
SOURCE = """
fn plus(a: f32, b: f32) -> f32 { a + b }
fn twice(a: f32) -> f32 { a + a }
fn pick(v: Tensor<f32>, pid: i32) -> Tensor<f32> { if pid == 0 { return v; } v * 3.0 }

#[kernel]
fn uses(x: Pointer<f32>, out: Pointer<f32>, n: i32) {
    let pid = program_id(0);
    let y = out + pid * 8;
    let at = arange(0, 8);
    let v = load(x + pid * 8 + at, mask = at < n);
    USE
}
"""


def codes(use: str) -> set[str]:
    with mock.patch("teenyc.check.undefined.check_undefined", return_value=None):
        compiled = compile_source(SOURCE.replace("USE", use), options=Options(generate=False))
    arguments = {"x": np.ones((3, 8), "f"), "out": np.zeros((3, 8), "f"), "n": 5}
    finished = run_checked(compiled, "uses", 3, arguments, {}, sanitize=True, say=lambda text: None)
    return {d.code for d in finished.findings} - {"W0703"}


@pytest.mark.parametrize("use", COUNT.values(), ids=COUNT)
def test_lanes_that_count(use: str) -> None:
    assert codes(use) == {"E0716"}


@pytest.mark.parametrize("use", DO_NOT.values(), ids=DO_NOT)
def test_lanes_that_do_not(use: str) -> None:
    assert codes(use) == set()
