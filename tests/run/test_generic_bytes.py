"""Kernels over a `D` of 8-bit floats: right where nothing is rounded, told where Triton would round wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from meaning import module_of

triton = pytest.importorskip("triton")

SOURCE = """#[kernel(grid = [1])]
fn twice<D: Num>(x: Pointer<D>, y: Pointer<D>, n: i32) {
    let off = arange(0, 16);
    let v = load(x + off, mask = off < n, other = D::from_i32(3));
    store(y + off, v + v);
}

#[kernel(grid = [1])]
fn filled<D: Num>(x: Pointer<D>, y: Pointer<D>, n: i32) {
    let off = arange(0, 16);
    store(y + off, load(x + off, mask = off < n, other = D::from_i32(-2)));
    store(y + 16 + off, D::from_i32(5));
}
"""
DTYPES = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float16, torch.int8, torch.int64]


@pytest.mark.parametrize("dtype", DTYPES)
def test_whole_numbers_are_stored_in_memory_of_any_dtype(tmp_path: Path, dtype: torch.dtype, device: str) -> None:
    x = torch.arange(16).float().to(dtype).to(device)
    y = torch.zeros(32, device=device).to(dtype)
    module_of(SOURCE, tmp_path).filled[(1,)](x, y, 9)
    assert y.cpu().float().tolist() == [*map(float, range(9)), *[-2.0] * 7, *[5.0] * 16]


def test_the_interpreter_is_not_asked_to_round_to_bytes(tmp_path: Path, device: str) -> None:
    x = torch.arange(16).float().to(torch.float8_e4m3fn).to(device)
    y, expected = torch.zeros_like(x), [2.0 * (i if i < 9 else 3) for i in range(16)]
    named = SOURCE.replace("<D: Num>", "").replace("Pointer<D>", "Pointer<f8e4m3>").replace("D::from_i32(3)", "3.0")
    named = named[: named.index("#[kernel", 1)]
    module_of(named, tmp_path, "named").twice[(1,)](x, y, 9)
    assert y.cpu().float().tolist() == expected
    generic = module_of(SOURCE, tmp_path, "generic").twice
    if not triton.knobs.runtime.interpret:
        generic[(1,)](x, y.zero_(), 9)
        assert y.cpu().float().tolist() == expected
        return
    with pytest.raises(Exception, match="rounds these floats wrongly"):
        generic[(1,)](x, y, 9)
