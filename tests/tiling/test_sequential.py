"""Kernels whose loops stay: the reason that is given, and numbers against float64, in blocks of rows too."""

from __future__ import annotations

import zlib
from pathlib import Path
from types import ModuleType

import pytest
import torch
from called import check, planned, saying
from calls import F32, Draw
from calls_of_sequential import SEQUENTIAL
from meaning import module_of

from teenyc.tiling.plan import Plan, Refusal

SOURCES = Path(__file__).parent / "sequential"
SIZES = ((1, 33), (5, 5), (17, 4), (3, 0))

every_kernel = pytest.mark.parametrize("name", SEQUENTIAL)


def test_each_kernel_has_a_call_and_says_what_it_shows() -> None:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in SOURCES.iterdir()}
    assert texts.keys() == SEQUENTIAL.keys()
    assert not [name for name, text in texts.items() if not text.startswith("// ")]


@every_kernel
def test_the_loop_stays(name: str) -> None:
    plan = planned((SOURCES / f"{name}.tk").read_text(encoding="utf-8"))
    assert isinstance(plan, Refusal) == SEQUENTIAL[name].is_refused
    if isinstance(plan, Plan):
        assert not plan.loops
        assert [axis.name for axis in plan.axes] == ["row"]
        (plan,) = plan.left
    assert SEQUENTIAL[name].words in plan.reason


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # NumPy's on infinities, under the interpreter
@every_kernel
def test_numbers(module: ModuleType, device: str, name: str) -> None:
    for rows, n in SIZES:
        draw = Draw(F32, torch.Generator().manual_seed(zlib.crc32(f"{name} {rows} {n}".encode())))
        with saying(f"of {rows} rows and {n} iterations"):
            check(getattr(module, name), SEQUENTIAL[name].call(draw, rows, n), F32, device)


@pytest.fixture
def module(tmp_path: Path, name: str) -> ModuleType:
    return module_of((SOURCES / f"{name}.tk").read_text(encoding="utf-8"), tmp_path, name, verify_ir=True)
