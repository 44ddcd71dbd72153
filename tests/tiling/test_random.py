"""Random kernels of loops: those that obey the laws take blocks and write what the plain ones do; the others stay.

`pytest tests/tiling/test_random.py --loops 2000` tries so many seeds of each.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from blocked import blocked, close, plain, written
from called import planned
from conftest import INTERPRETED
from meaning import module_of
from memory import surrounded
from random_loops import Loops, drawn, random_loops

from teenyc.tiling.plan import Plan

TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-3}
BLOCK, LANES, FARTHEST = (4, 4, 13) if INTERPRETED else (16, 16, 60)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("seed", range(metafunc.config.getoption("--loops")))


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # NumPy's on infinities, under the interpreter
def test_legal_loops_take_blocks(tmp_path: Path, device: str, seed: int) -> None:
    made = random_loops(seed, element(seed), is_legal=True)
    plan = planned(made.source)
    assert isinstance(plan, Plan), f"{plan.reason}\n{made.source}"
    assert {each.axis.name for each in plan.loops} == set(made.loops), f"{plan.left}\n{made.source}"
    compare(made, tmp_path, device, seed)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_illegal_loops_stay(tmp_path: Path, device: str, seed: int) -> None:
    made = random_loops(seed, element(seed), is_legal=False)
    plan = planned(made.source)
    blocked = {each.axis.name for each in plan.loops} if isinstance(plan, Plan) else set()
    assert made.broken_loop not in blocked, f"{made.broken}\n{made.source}"
    compare(made, tmp_path, device, seed)


def element(seed: int) -> str:
    return "f32" if seed % 4 == 3 else "f64"


def compare(made: Loops, folder: Path, device: str, seed: int) -> None:
    """Launches a kernel in blocks and as written."""
    kernel = getattr(module_of(made.source, folder, made.name, verify_ir=True), made.name)
    dtype = torch.float32 if element(seed) == "f32" else torch.float64
    generator = torch.Generator().manual_seed(seed)
    rows, n = (int(torch.randint(1, FARTHEST, (), generator=generator)) for _ in range(2))
    arguments = inputs(generator, rows, n if seed % 16 else 0, dtype, device)
    outputs = {"scalars": ((made.scalars, rows), dtype), "lanes": ((made.lanes, rows, LANES), dtype)}
    launches = (blocked, plain) if hasattr(kernel, "tiled") else (plain,)
    sizes = dict.fromkeys(("BLOCK_M", "BLOCK_N"), BLOCK)
    parts = {"SPLIT": 3} if seed % 2 and hasattr(getattr(kernel, "tiled", None), "parts") else {}
    got = [
        written(launch, kernel, (rows,), arguments, outputs, N=LANES, **blocks(kernel, launch is blocked, sizes, parts))
        for launch in launches
    ]
    for name in outputs:
        try:
            close(got[0][name], got[-1][name], TOLERANCE[dtype])
        except AssertionError as error:
            error.add_note(f"{name}: {rows} rows, {n} iterations\n{made.source}")
            raise


def blocks(kernel: Any, is_blocked: bool, sizes: dict[str, int], parts: dict[str, int]) -> dict[str, int]:
    """The blocks of a kernel, and in how many parts it has its loop."""
    return {**{n: size for n, size in sizes.items() if n in kernel.tiled.arg_names}, **parts} if is_blocked else {}


def inputs(generator: torch.Generator, rows: int, n: int, dtype: torch.dtype, device: str) -> dict[str, Any]:
    arguments = drawn(generator, rows, n, LANES, dtype)
    return {name: surrounded(x, x.dtype, device) for name, x in arguments.items()} | {
        "rows": rows,
        "n": n,
        "kind": n % 2,
    }
