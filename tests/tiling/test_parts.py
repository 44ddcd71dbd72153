"""Loops that several programs share: numbers against float64, with memory between the kernels full of NaN."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import torch
from attention import attention
from blocked import poisoned_memory
from called import check, saying
from calls import F32, KERNELS, Draw
from meaning import module_of
from memory import Guarded
from test_kernels import source

from teenyc.resources import kernels_directory

SHARED = {
    "attention": ((1, 100),),
    "attention_causal": ((17, 33),),
    "attention_sinks": ((2, 17),),
    "attention_to_the_minimum": ((2, 17),),
    "attention_window": ((17, 33),),
    "counts": ((3, 33), (5, 0)),
    "integer_sums": ((3, 33),),
    "product_by_steps": ((3, 100), (3, 1)),
    "product_from_the_end": ((2, 64),),
    "product_of_elements": ((3, 100),),
    "whole_row_masked": ((3, 33),),
}
"""Kernels of `kernels/`, with rows and iterations."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts")


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> list[torch.Tensor]:
    """The memory that launches made, full of what no kernel writes."""
    return poisoned_memory(monkeypatch)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # NumPy's on infinities, under the interpreter
@pytest.mark.parametrize("count", [2, 3, 8])
@pytest.mark.parametrize("name", SHARED)
def test_numbers(folder: Path, device: str, name: str, count: int, made: list[torch.Tensor]) -> None:
    kernel = KERNELS[name]
    launcher = getattr(module_of(source(name), folder, name, verify_ir=True), name)
    for rows, n in SHARED[name]:
        draw = Draw(F32, torch.Generator().manual_seed(zlib.crc32(f"{name} {rows} {n}".encode())))
        with saying(f"of {rows} rows and {n} iterations"):
            call = kernel.call(draw, rows, n)
            shared = replace(call, constants={**call.constants, "SPLIT": count})
            made.clear()
            check(launcher, shared, F32, device, is_plain_too=False, loss=2 * kernel.loss)
            assert made, "programs did not share the loop"


@pytest.fixture(scope="module")
def bundled(folder: Path) -> ModuleType:
    text = (kernels_directory() / "flash_attn2.tk").read_text(encoding="utf-8")
    return module_of(text, folder, "flash_attn2")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
@pytest.mark.parametrize(("n_q", "n_k", "count"), [(1, 100, 3), (3, 17, 8), (17, 64, 2), (2, 1, 3)])
def test_bundled_attention(
    bundled: ModuleType, device: str, dtype: torch.dtype, n_q: int, n_k: int, count: int
) -> None:
    q, do = (torch.randn(2, n_q, 20, dtype=torch.float64).to(device, dtype) for _ in range(2))
    k, v = (torch.randn(2, n_k, 20, dtype=torch.float64).to(device, dtype) for _ in range(2))
    expected = attention(q, k, v, do, 0.125)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    o, l = Guarded((2, n_q, 20), dtype, device), Guarded((2, n_q), wide, device)
    dq, dk, dv = (Guarded((2, n, 20), dtype, device) for n in (n_q, n_k, n_k))
    named = {"HEAD_DIM": 20, "BLOCK_M": 16, "BLOCK_N": 16, "SPLIT": count}
    sizes = (n_q, n_k, 0.125)
    bundled.flash_attention2_forward[(n_q, 2)](q, k, v, o.tensor, l.tensor, *sizes, **named)
    given = (q, k, v, o.check(), do, l.check())
    bundled.flash_attention2_backward_dq[(n_q, 2)](*given, dq.tensor, *sizes, **named)
    bundled.flash_attention2_backward_dkv[(n_k, 2)](*given, dk.tensor, dv.tensor, *sizes, **named)
    tolerance = {torch.float32: 1e-5, torch.float64: 1e-12, torch.float16: 8e-3}[dtype]
    for name, got in (("o", o), ("l", l), ("dq", dq), ("dk", dk), ("dv", dv)):
        wanted = getattr(expected, name)
        error = (got.check().double() - wanted).norm() / max(float(wanted.norm()), float(do.double().norm()))
        assert error < tolerance, name


def test_parts_are_as_many_as_a_launch_says(bundled: ModuleType, device: str, made: list[torch.Tensor]) -> None:
    q, k = torch.randn(2, 3, 16, device=device), torch.randn(2, 40, 16, device=device)
    given = {"HEAD_DIM": 16, "BLOCK_M": 16, "BLOCK_N": 16}
    outputs = []
    for count in (1, 3, 3):
        o, l = torch.empty_like(q), torch.empty(2, 3, device=device)
        made.clear()
        bundled.flash_attention2_forward[(3, 2)](q, k, k, o, l, 3, 40, 0.25, **given, SPLIT=count)
        assert [t.numel() for t in made if t.numel()] == [6 * 3, 6 * 3 * 16, 6 * 3] * (count > 1)
        outputs.append((o, l))
    assert all(map(torch.equal, outputs[1], outputs[2]))
    torch.testing.assert_close(outputs[0], outputs[1], rtol=1e-5, atol=1e-6)
