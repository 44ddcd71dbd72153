"""Kernels that load blocks by tensor descriptors: numbers against float64, and when the others run in their place."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
import triton
from blocked import close
from meaning import module_of
from memory import Guarded, surrounded

SOURCE = Path(__file__).parents[1] / "golden" / "tiled_descriptors.tk"
TOLERANCE = {torch.float32: 1e-5, torch.float16: 3e-3}
dtypes = pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d).removeprefix("torch."))


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of(SOURCE.read_text(encoding="utf-8"), tmp_path_factory.mktemp("described"), "descriptors")


class Seen:
    """A kernel that keeps whether it was launched."""

    def __init__(self, kernel: Any) -> None:
        self.kernel, self.is_launched = kernel, False

    def __getitem__(self, grid: Any) -> Any:
        self.is_launched = True
        return self.kernel[grid]


def with_descriptors(kernel: Any) -> Any:
    """What launches either form of a kernel in blocks, behind which programs may share a loop."""
    blocked = kernel.tiled
    while not hasattr(blocked, "described"):
        blocked = blocked.tiled
    return blocked


@pytest.fixture
def seen(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> dict[str, Seen]:
    """The kernels that load by descriptors, by the names of their launchers."""
    both = {name: with_descriptors(getattr(module, name)) for name in ("weighted", "product")}
    found = {name: Seen(each.described) for name, each in both.items()}
    for name, each in found.items():
        monkeypatch.setattr(both[name], "described", each)
    return found


def given(dtype: torch.dtype, device: str, *shape: int) -> torch.Tensor:
    return surrounded(torch.randn(shape, dtype=torch.float64), dtype, device)


def weights(module: ModuleType, n: int, dtype: torch.dtype, device: str, queries: int, keys: int) -> None:
    """Attention of one head; keys and values of the next one begin with what is no number, which this does not see."""
    q, k, v = (given(dtype, device, 2, rows, n) for rows in (queries, keys, keys))
    k[1, 0], v[1, 0] = float("nan"), float("inf")
    o = Guarded((queries, n), dtype, device)
    blocks = {"BLOCK_M": 16, "BLOCK_N": 32, "descriptors": 1}
    module.weighted[(queries, 1)](q, k, v, o.tensor, queries, keys, N=n, **blocks)
    expected = torch.softmax(q[0].double() @ k[0].double().T, dim=-1) @ v[0].double()
    close(o.check(), expected, TOLERANCE[dtype])


@dtypes
@pytest.mark.parametrize("n", [16, 24, 64])
@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (15, 17), (17, 64), (33, 100)])
def test_rows(
    module: ModuleType, seen: dict[str, Seen], device: str, dtype: torch.dtype, n: int, queries: int, keys: int
) -> None:
    weights(module, n, dtype, device, queries, keys)
    assert seen["weighted"].is_launched


@dtypes
@pytest.mark.parametrize(("rows", "columns", "depth"), [(1, 8, 8), (15, 24, 32), (17, 40, 104)])
def test_columns(
    module: ModuleType, seen: dict[str, Seen], device: str, dtype: torch.dtype, rows: int, columns: int, depth: int
) -> None:
    product(module, dtype, device, rows, columns, depth)
    assert seen["product"].is_launched


def product(module: ModuleType, dtype: torch.dtype, device: str, rows: int, columns: int, depth: int) -> None:
    a, b = given(dtype, device, rows, depth), given(dtype, device, depth, columns)
    c = Guarded((rows, columns), dtype, device)
    blocks = {"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 16, "descriptors": 1}
    module.product[(rows, columns)](a, b, c.tensor, columns, depth, **blocks)
    close(c.check(), a.double() @ b.double(), TOLERANCE[dtype])


@pytest.mark.parametrize(("columns", "depth"), [(7, 16), (16, 7), (12, 16)])
def test_rows_that_do_not_begin_at_16_bytes_are_loaded_by_pointers(
    module: ModuleType, seen: dict[str, Seen], device: str, columns: int, depth: int
) -> None:
    product(module, torch.float16, device, 17, columns, depth)
    assert not seen["product"].is_launched


def test_tensors_that_do_not_begin_at_16_bytes_are_loaded_by_pointers(
    module: ModuleType, seen: dict[str, Seen], device: str
) -> None:
    a, b = torch.randn(16 * 16 + 1, device=device)[1:].view(16, 16), torch.randn(16, 16, device=device)
    c = torch.empty(16, 16, device=device)
    blocks = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "descriptors": 1}
    module.product[(16, 16)](a, b, c, 16, 16, **blocks)
    close(c, a.double() @ b.double(), 1e-5)
    assert not seen["product"].is_launched


def test_devices_without_descriptors_load_by_pointers(
    module: ModuleType, seen: dict[str, Seen], device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_INTERPRETED", False)
    monkeypatch.setattr(module, "_copies_blocks", lambda device: False)
    a, b = torch.randn(16, 16, device=device), torch.randn(16, 16, device=device)
    c = torch.empty(16, 16, device=device)
    module.product.tiled[(1, 1)](
        a, b, c, 16, 16, num_rows=16, num_columns=16, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16, GROUP_N=2, descriptors=1
    )
    close(c, a.double() @ b.double(), 1e-5)
    assert not seen["product"].is_launched


def test_memory_of_descriptors_is_of_one_launch(
    module: ModuleType, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the user has set for Triton is set again behind a launch, and not asked during it."""
    from triton.runtime import _allocation

    def own(size: int, alignment: int, stream: int | None) -> Any:
        raise AssertionError("the launch asks its own tensors")

    asked: list[int] = []

    class Asking:
        def __getitem__(self, grid: Any) -> Any:
            def launch(*args: Any, **named: Any) -> None:
                memory = _allocation._allocator.get()(384, 128, None)
                asked.append(memory.nbytes)

            return launch

    monkeypatch.setattr(with_descriptors(module.product), "described", Asking())
    before = _allocation._allocator.get()
    triton.set_allocator(own)
    try:
        a, c = torch.ones(16, 16, dtype=torch.float16, device=device), torch.empty(16, 16, device=device)
        module.product[(16, 16)](a, a, c, 16, 16, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16, descriptors=1)
        assert asked == [384]
        assert _allocation._allocator.get() is own
    finally:
        triton.set_allocator(before)


def test_a_launch_may_leave_the_blocks_to_the_launcher(module: ModuleType, device: str) -> None:
    a, b = (torch.randn(16, 16, dtype=torch.float16, device=device) for _ in range(2))
    c = torch.empty_like(a)
    module.product[(16, 16)](a, b, c, 16, 16)
    close(c, a.double() @ b.double(), TOLERANCE[torch.float16])
