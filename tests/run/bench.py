"""Kernels as on a GPU: what a launcher asks of one is answered by tests, which also say how long launches take."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
import torch
import triton
from memory import Guarded

ROW_SUMS = """
/// The products of rows with one vector, and how often a row was seen.
#[kernel(shape(x = [rows, columns], v = [columns], y = [rows]), tile)]
fn row_products<D: Float>(x: Pointer<D>, v: Pointer<D>, y: Pointer<D>, rows: i32, columns: i32, scale: f32) {
    let row = program_id(Axis::X);
    let mut total = D::from_f64(0.0);
    for column in 0..columns {
        total += load(x + row * columns + column) * load(v + column);
    }
    store(y + row, total * scale);
}

struct RowOp { pub products: RowProducts }
impl RowOp { pub fn new() -> Self { Self { products: RowProducts::new() } } }

#[kernel]
fn row_products_tiled(x: Pointer<f32>) {
    store(x, 1.0);
}
"""


class Case:
    """Random rows, the result between canaries, and what it must be."""

    def __init__(self, device: str, rows: int = 37, columns: int = 41, dtype: torch.dtype = torch.float32) -> None:
        generator = torch.Generator().manual_seed(rows * columns)
        self.x = torch.randn((rows, columns), generator=generator).to(device, dtype)
        self.v = torch.randn(columns, generator=generator).to(device, dtype)
        self.y = Guarded((rows,), dtype, device)
        self.sizes = (rows, columns)
        self.expected = self.x.double() @ self.v.double() * 0.5

    @property
    def arguments(self) -> tuple[Any, ...]:
        return (self.x, self.v, self.y.tensor, *self.sizes, 0.5)

    def check(self) -> None:
        assert float((self.y.check().double() - self.expected).norm() / self.expected.norm()) < 1e-3
        self.y.tensor.fill_(float("nan"))


OPTIONS = ("BLOCK", "BLOCK_M", "BLOCK_N", "SPLIT", "num_warps", "num_stages")


class Gpu:
    """What the launcher asks torch about the device."""

    is_capturing = False

    def get_device_name(self, device: object = None) -> str:
        return "a device of the tests"

    def device(self, device: object) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def is_current_stream_capturing(self) -> bool:
        return self.is_capturing


class Bench:
    """A kernel as on a GPU: a candidate takes as long as `milliseconds` says, and runs twice as it is timed."""

    def __init__(self, module: ModuleType, kernel: Any) -> None:
        self.module, self.kernel, self.gpu = module, kernel, Gpu()
        self.tried: list[dict[str, int] | None] = []
        self.speed: Callable[[dict[str, int]], float] = lambda c: abs(c["BLOCK_N"] - 64) + c["num_warps"] / 10
        self.unfit: Callable[[dict[str, int]], bool] = lambda config: False
        self.spills: Callable[[dict[str, int]], int] = lambda config: 0
        self.needs: Callable[[dict[str, int]], int] = lambda config: 0
        self.shared_memory, self.processors = 2**18, 0

    def milliseconds(self, run: Any, updated: list[tuple[Any, Any]], most: float) -> float:
        named = run.keywords
        chosen = {name: value for name, value in named.items() if name in OPTIONS}
        config = chosen if len(chosen) > 1 else None
        for _ in range(2):
            for copy, tensor in updated:
                copy.untyped_storage().copy_(tensor.untyped_storage())
            run()
        self.tried.append(config)
        return 999.0 if config is None else self.speed(config)

    def forget(self) -> None:
        self.kernel._known.clear()
        self.kernel._plans.clear()

    def compiled(self, tuner: Any, config: dict[str, int]) -> Compiled | None:
        if self.unfit(config):
            tuner.failures.append("it does not fit")
            return None
        return Compiled(self.spills(config), self.needs(config))


@dataclass
class Compiled:
    """A compiled kernel, which needs shared memory where it is loaded."""

    n_spills: int
    needed: int = 0

    @property
    def run(self) -> str:
        if self.needed > 2**18:
            raise triton.runtime.errors.OutOfResources(self.needed, 2**18, "shared memory")
        return "loaded"


def benched(module: ModuleType, kernel: Any, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The kernel on a bench, until the test ends."""
    bench = Bench(module, kernel)
    monkeypatch.setattr(module, "_INTERPRETED", False)
    monkeypatch.setattr(module, "_gpu", lambda: bench.gpu)
    monkeypatch.setattr(module, "_milliseconds", bench.milliseconds)
    monkeypatch.setattr(module, "_shared_memory", lambda: bench.shared_memory, raising=False)
    monkeypatch.setattr(module, "_processors", lambda: bench.processors, raising=False)
    monkeypatch.setattr(module._Tuner, "_compiled", lambda tuner, config: bench.compiled(tuner, config))
    for name, value in {"tune": True, "_known": {}, "_plans": {}, "tables": []}.items():
        monkeypatch.setattr(kernel, name, value)
    for name, function in _functions(kernel, kernel.tiled):
        monkeypatch.setattr(function, "cache_key", f"the source of {name}", raising=False)
    return bench


def _functions(*around: Any) -> Iterator[tuple[str, Any]]:
    """Triton's functions behind a launcher and what it has around them."""
    for name in ("plain", "tiled", "parts", "joined"):
        for each in around:
            function = getattr(each, name, None)
            if hasattr(function, "arg_names") and not hasattr(function, "tiled"):
                yield name, function


CHOICES = """
/// x times a number, in blocks.
#[kernel(configs = [config(BLOCK = 32, num_warps = 1), config(BLOCK = 64, num_warps = 4)], num_stages = 2)]
fn scaled<const BLOCK: i32>(x: Pointer<f32>, y: Pointer<f32>, n: i32, factor: f32) {
    let at = program_id(0) * BLOCK + arange(0, BLOCK);
    store(y + at, load(x + at, mask = at < n) * factor, mask = at < n);
}
"""


class Scaled:
    """Launches of `scaled`, and what they must give; `grids` are the blocks for which a grid was asked."""

    def __init__(self, device: str, count: int = 150) -> None:
        self.x, self.y, self.grids = torch.arange(float(count), device=device), None, []
        self.count = count

    def grid(self, meta: dict[str, Any]) -> tuple[int]:
        self.grids.append(meta["BLOCK"])
        return (triton.cdiv(meta["n"], meta["BLOCK"]),)

    def check(self, kernel: Any, *constants: Any, **named: Any) -> None:
        y = Guarded((self.count,), torch.float32, str(self.x.device))
        kernel[self.grid](self.x, y.tensor, self.count, 2.0, *constants, **named)
        assert torch.equal(y.check(), self.x * 2)
