"""Loops up to the ends of their types: exact lists of integers from Python are what each counter must go through."""

from __future__ import annotations

import random
from types import ModuleType

import pytest
import torch
from meaning import module_of

LOOPS = {
    "exclusive": "a..b",
    "inclusive": "a..=b",
    "stepped": "(a..b).step_by(s)",
    "thirds": "(a..=b).step_by(3)",
    "backwards": "(a..=b).rev()",
    "near": "(a..b).step_by(70_000)",
}
TYPES = {"i32": torch.int32, "u32": torch.uint32, "i64": torch.int64, "u64": torch.uint64}
MOST = 6


def text_of(type: str) -> str:
    kernels = (
        f"#[kernel(grid = [1])]\n"
        f"fn {name}(x: Pointer<{type}>, count: Pointer<i32>, a: {type}, b: {type}, s: {type}) {{\n"
        f"    let mut k = 0;\n    for i in {loop} {{\n        store(x + k, i);\n        k += 1;\n    }}\n"
        "    store(count, k);\n}\n"
        for name, loop in LOOPS.items()
    )
    return "#![allow(unused_variables)]\n" + "\n".join(kernels)


@pytest.fixture(scope="module", params=TYPES)
def loops(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ModuleType]:
    type = request.param
    return type, module_of(text_of(type), tmp_path_factory.mktemp("loops"), f"loops_{type}")


def expected(name: str, a: int, b: int, s: int) -> list[int]:
    step = {"stepped": s, "thirds": 3, "near": 70_000}.get(name, 1)
    stop = b + 1 if name in ("inclusive", "thirds", "backwards") else b
    numbers = list(range(a, stop, step))
    return numbers[::-1] if name == "backwards" else numbers


def bounds(generator: random.Random, name: str, least: int, greatest: int) -> tuple[int, int, int]:
    """A few iterations around an end of the type or its middle, now and then none."""
    step = {"stepped": generator.choice([1, 2, 1 << 30]), "thirds": 3, "near": 70_000}.get(name, 1)
    middle = (least + greatest + 1) // 2
    last = generator.choice([greatest, greatest - 1, middle, middle - 1, least + 5])
    first = max(least, last - step * generator.randrange(MOST) + generator.randrange(-1, 1))
    return (last, first, step) if generator.random() < 0.2 else (first, last, step)


@pytest.mark.parametrize("name", LOOPS)
def test_counters_reach_the_ends_of_their_types(loops: tuple[str, ModuleType], name: str, device: str) -> None:
    type, module = loops
    bits = int(type[1:])
    least, greatest = (0, 2**bits - 1) if type[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    signed = torch.int32 if bits == 32 else torch.int64
    generator = random.Random(f"{type} {name}")
    for _ in range(12):
        a, b, s = bounds(generator, name, least, greatest)
        if device == "cuda" and type == "u64" and b == 2**63 - 1:
            continue  # ptxas unrolls such a loop wrongly; with DISABLE_PTXAS_OPT=1 it is right
        x = torch.zeros(4 * MOST, dtype=TYPES[type], device=device)
        count = torch.full((1,), -1, dtype=torch.int32, device=device)
        getattr(module, name)[(1,)](x, count, a, b, s)
        numbers = expected(name, a, b, s)
        found = x.view(signed)[: int(count)].tolist()
        assert [v % 2**bits for v in found] == [v % 2**bits for v in numbers], (a, b, s)
