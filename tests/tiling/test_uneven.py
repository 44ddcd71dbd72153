"""Extents that are taken as two powers of two: when they are, and numbers of what is not bundled."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from blocked import close
from meaning import module_of
from memory import Guarded, surrounded

KERNEL = """
#[kernel(tile, pad(N))]
fn weighted<D: Float, const N: i32>(
    q: Pointer<D>, k: Pointer<D>, o: Pointer<f32>, greatest: Pointer<f32>, least: Pointer<f32>, keys: i32,
) {
    let query = program_id(0);
    let lane = arange(0, N);
    let own = load(q + query * N + lane);
    let mut total = zeros::<f32>(&[N]);
    for key in 0..keys {
        let one = load(k + key * N + lane);
        total += sum(own * one, axis = 0) as f32 * one as f32;
    }
    store(greatest + query, max(total, axis = 0));
    store(least + query, min(total, axis = 0));
    store(o + query * N + lane, total);
}
"""

IN_PARTS = [33, 40, 48, 65, 80, 96, 129, 192]
WHOLE = [1, 15, 16, 17, 31, 32, 49, 63, 64, 97, 128, 193, 256]


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of(KERNEL, tmp_path_factory.mktemp("uneven"), "uneven")


class Seen:
    """A kernel that keeps whether it was launched."""

    def __init__(self, kernel: Any) -> None:
        self.kernel, self.is_launched = kernel, False

    def run(self, *args: Any, **named: Any) -> Any:
        self.is_launched = True
        return self.kernel.run(*args, **named)


def test_an_extent_is_in_parts_where_that_is_less(module: ModuleType) -> None:
    form = _uneven_of(module.weighted)
    for n in (*IN_PARTS, *WHOLE):
        chosen = form.form({"N": n})
        assert chosen is (form.uneven if n in IN_PARTS else form.tiled), n


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("n", [40, 48, 64, 80, 96, 112])
def test_numbers(module: ModuleType, monkeypatch: pytest.MonkeyPatch, device: str, n: int, dtype: torch.dtype) -> None:
    form = _uneven_of(module.weighted)
    uneven = Seen(form.uneven)
    monkeypatch.setattr(form, "uneven", uneven)
    rows, keys = 17, 39
    q, k = (surrounded(torch.randn(count, n, dtype=torch.float64), dtype, device) for count in (rows, keys))
    outputs = [Guarded(shape, torch.float32, device) for shape in ((rows, n), (rows,), (rows,))]
    module.weighted[(rows,)](q, k, *(each.tensor for each in outputs), keys, N=n, BLOCK_M=16, BLOCK_N=16)
    total = (q.double() @ k.double().T) @ k.double()
    tolerance = 1e-5 if dtype == torch.float32 else 3e-3
    for each, expected in zip(outputs, (total, total.amax(1), total.amin(1)), strict=True):
        close(each.check(), expected, tolerance)
    assert uneven.is_launched == (n in IN_PARTS)


def test_names_may_be_long(tmp_path: Path) -> None:
    """The launcher's arguments then stand on several lines, one form of the kernel in another."""
    name = f"weighted_{'by_the_scores_of_' * 4}keys"
    module = module_of(KERNEL.replace("fn weighted", f"fn {name}"), tmp_path, "long")
    form = _uneven_of(getattr(module, name))
    assert form.form({"N": 80}) is form.uneven


def _uneven_of(launcher: Any) -> Any:
    """What chooses between the two forms, inside of what else a launch has around it."""
    kernel = launcher.tiled
    while not hasattr(kernel, "uneven"):
        kernel = kernel.tiled
    return kernel
