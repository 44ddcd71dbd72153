"""Kernels that take blocks: what their plans say, and their numbers against float64 and the plain kernels."""

from __future__ import annotations

import math
import zlib
from functools import cache
from pathlib import Path
from types import ModuleType

import calls_of_attention
import calls_of_products
import calls_of_sums
import pytest
import torch
from called import check, planned, saying
from calls import BF16, F32, KERNELS, Blocks, Draw
from meaning import module_of

from teenyc.tiling.plan import Plan

TABLES = (calls_of_attention, calls_of_products, calls_of_sums)
SOURCES = Path(__file__).parent / "kernels"
FEW = 100
"""The plain kernel is run for so many iterations of all programs together: one takes the interpreter a millisecond."""


def test_each_kernel_has_a_call_and_says_what_it_shows() -> None:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in SOURCES.iterdir()}
    assert texts.keys() == KERNELS.keys()
    assert sum(len(vars(table)) for table in TABLES) > len(KERNELS)
    assert not [name for name, text in texts.items() if not text.startswith("// ")]


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_what_takes_blocks(kernel: Blocks) -> None:
    plan = planned(source(kernel.name))
    assert isinstance(plan, Plan), plan.reason
    assert tuple(axis.name for axis in plan.axes) == kernel.axes
    assert sum(len(each.sides) == 2 for each in plan.contractions) == kernel.products


def numbers() -> list[object]:
    """Each kernel in each of its dtypes; Triton's interpreter computes products of bf16 wrongly."""
    marks = {BF16: [pytest.mark.gpu]}
    return [
        pytest.param(kernel, dtype, id=f"{kernel.name}-{str(dtype).removeprefix('torch.')}", marks=marks.get(dtype, []))
        for kernel in KERNELS.values()
        for dtype in kernel.dtypes
    ]


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # NumPy's on infinities, under the interpreter
@pytest.mark.parametrize(("kernel", "dtype"), numbers())
def test_numbers(module: ModuleType, device: str, kernel: Blocks, dtype: torch.dtype) -> None:
    sizes = kernel.sizes if dtype == F32 else kernel.sizes[3:-1]
    for rows, n in sizes:
        draw = Draw(dtype, torch.Generator().manual_seed(zlib.crc32(f"{kernel.name} {rows} {n}".encode())))
        with saying(f"of {rows} rows and {n} iterations"):
            call = kernel.call(draw, rows, n)
            is_small = math.prod(call.grid) * n <= FEW
            check(getattr(module, kernel.name), call, dtype, device, is_small, kernel.loss)


@cache
def source(name: str) -> str:
    return (SOURCES / f"{name}.tk").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def module(folder: Path, kernel: Blocks) -> ModuleType:
    return compiled(folder, kernel.name)


@cache
def compiled(folder: Path, name: str) -> ModuleType:
    return module_of(source(name), folder, name, verify_ir=True)
