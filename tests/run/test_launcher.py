"""Launchers of tiled kernels: every way to call one is right, and gives what the kernel as written gives."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
import triton
from memory import Guarded

import teenyc
from teenyc.runtime.tables import table_text

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

HEADS = """
/// Sums of products over lanes: a matrix product whose inner extent is WIDTH.
#[kernel(tile)]
fn scores<const WIDTH: i32>(q: Pointer<f32>, k: Pointer<f32>, o: Pointer<f32>, n_q: i32, n_k: i32) {
    let row = program_id(Axis::Y);
    let batch = program_id(Axis::X);
    let lane = arange(0, WIDTH);
    let x = load(q + (batch * n_q + row) * WIDTH + lane);
    let mut total = 0.0f32;
    for key in 0..n_k {
        total += exp(sum(x * load(k + (batch * n_k + key) * WIDTH + lane), axis = 0));
    }
    store(o + batch * n_q + row, total);
}
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = tmp_path_factory.mktemp("launcher") / "rows.tk"
    path.write_text(ROW_SUMS)
    return teenyc.load(path)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("launcher") / "scores.tk"
    path.write_text(HEADS)
    return path


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


def test_every_form_of_a_call(rows: ModuleType, device: str) -> None:
    case, kernel = Case(device), rows.row_products
    kernel[(37,)](*case.arguments)
    case.check()
    kernel[37](*case.arguments, num_warps=2)
    case.check()
    kernel[[37, 1, 1]](*case.arguments[:3], scale=0.5, columns=41, rows=37)
    case.check()
    kernel[lambda meta: (meta["rows"],)](*case.arguments)
    case.check()
    kernel.run(*case.arguments, grid=(37,))
    case.check()
    rows.RowOp().products[(37,)](*case.arguments)
    case.check()
    rows.RowProducts()[lambda meta: (meta["rows"],)](*case.arguments)
    case.check()


@pytest.mark.parametrize("count", [1, 15, 16, 17, 64, 100])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64], ids=str)
def test_sizes(rows: ModuleType, device: str, count: int, dtype: torch.dtype) -> None:
    for other in (1, 16, 33):
        for sizes in ((count, other), (other, count)):
            case = Case(device, *sizes, dtype)
            rows.row_products[(sizes[0],)](*case.arguments)
            case.check()


def test_blocks_may_be_named(rows: ModuleType, device: str) -> None:
    case = Case(device)
    for block in (16, 64):
        rows.row_products[(37,)](*case.arguments, BLOCK_M=block, BLOCK_N=16, num_warps=4)
        case.check()


def test_both_kernels_are_at_hand(rows: ModuleType, device: str) -> None:
    case, kernel = Case(device), rows.row_products
    kernel.plain[(37,)](*case.arguments)
    case.check()
    kernel.tiled[(3,)](*case.arguments, num_rows=37, BLOCK_M=16, BLOCK_N=16)
    case.check()
    assert kernel.__name__ == "row_products"
    assert kernel.__doc__.startswith("The products of rows")


def test_the_names_of_the_author_come_first(rows: ModuleType, device: str) -> None:
    x = torch.zeros(1, device=device)
    rows.row_products_tiled[(1,)](x)
    assert x.item() == 1.0
    assert rows.TEENYC["kernels"]["row_products"]["tiled"]["function"] != "row_products_tiled"


def test_an_empty_grid_does_nothing(rows: ModuleType, device: str) -> None:
    case = Case(device)
    assert rows.row_products[(0,)](*case.arguments) is None
    assert bool(case.y.tensor.isnan().all())


def test_fewer_programs_than_rows(rows: ModuleType, device: str) -> None:
    case = Case(device)
    rows.row_products[(20,)](*case.arguments)
    assert bool(case.y.tensor[20:].isnan().all())
    assert torch.allclose(case.y.tensor[:20].double(), case.expected[:20], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shared", ["v", "y", "none"])
def test_the_plain_kernel_runs_where_tensors_overlap(
    rows: ModuleType, device: str, shared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = torch.zeros(100, device=device)
    x, y = torch.ones((4, 4), device=device), memory[:4]
    v = {"v": memory[2:6], "y": memory[:4], "none": memory[4:8]}[shared]
    kernel, seen = rows.row_products, []
    monkeypatch.setattr(kernel, "plain", Recorder(kernel.plain, "plain", seen))
    monkeypatch.setattr(kernel, "tiled", Recorder(kernel.tiled, "tiled", seen))
    monkeypatch.setattr(kernel, "_plans", {})
    kernel[(4,)](x, v, y, 4, 4, 0.5)
    assert seen == ["tiled" if shared == "none" else "plain"]


class Recorder:
    """A kernel that says that it was launched."""

    def __init__(self, kernel: Any, name: str, seen: list[str]) -> None:
        self.kernel, self.name, self.seen = kernel, name, seen

    def __getitem__(self, grid: Any) -> Any:
        self.seen.append(self.name)
        return self.kernel[grid]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)


@pytest.mark.parametrize("width", [8, 16, 32])
def test_constants_by_position_and_too_small_for_products(source: Path, device: str, width: int) -> None:
    kernel = teenyc.load(source).scores
    q, k = torch.randn(3, 20, width, device=device) / width, torch.randn(3, 35, width, device=device)
    expected = torch.exp(q.double() @ k.double().transpose(1, 2)).sum(2)
    for how in ("keyword", "position"):
        o = Guarded((3, 20), torch.float32, device)
        if how == "keyword":
            kernel[(3, 20)](q, k, o.tensor, 20, 35, WIDTH=width)
        else:
            kernel[(3, 20)](q, k, o.tensor, 20, 35, width)
        assert torch.allclose(o.check().double(), expected, rtol=1e-4)


def test_tile_asks_for_blocks_or_none(source: Path, tmp_path: Path) -> None:
    asked, refused, left = (teenyc.load(source, tile=tile) for tile in (True, False, None))
    assert hasattr(asked.scores, "tiled")
    assert hasattr(left.scores, "tiled")
    assert not hasattr(refused.scores, "tiled")
    plain = tmp_path / "scores.tk"
    plain.write_text(HEADS.replace("#[kernel(tile)]", "#[kernel]"))
    assert not hasattr(teenyc.load(plain).scores, "tiled")
    assert hasattr(teenyc.load(plain, tile=True).scores, "tiled")


# ---- the choice of a configuration, with times that the tests make up ------------------------------------------------


OPTIONS = ("BLOCK", "BLOCK_M", "BLOCK_N", "num_warps", "num_stages")


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
            tuner.failures.append(RuntimeError("it does not fit"))
            return None
        return Compiled(self.spills(config))


@dataclass
class Compiled:
    """A compiled kernel."""

    n_spills: int
    run: object = "loaded"


@pytest.fixture
def benches(device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Bench]]:
    """Makes benches for kernels, with a cache of their own."""
    if device != "cpu":
        pytest.skip("times are real on a GPU")

    def made(module: ModuleType, kernel: Any) -> Bench:
        bench = Bench(module, kernel)
        monkeypatch.setattr(module, "_INTERPRETED", False)
        monkeypatch.setattr(module, "_gpu", lambda: bench.gpu)
        monkeypatch.setattr(module, "_milliseconds", bench.milliseconds)
        monkeypatch.setattr(module._Tuner, "_compiled", lambda tuner, config: bench.compiled(tuner, config))
        monkeypatch.setattr(kernel, "tune", True)
        monkeypatch.setattr(kernel, "_known", {})
        monkeypatch.setattr(kernel, "_plans", {})
        for name in ("plain", "tiled"):
            if getattr(kernel, name) is None:
                continue
            monkeypatch.setattr(getattr(kernel, name), "cache_key", f"the source of {name}", raising=False)
        return bench

    with triton.knobs.cache.scope():
        triton.knobs.cache.dir = str(tmp_path)
        yield made


@pytest.fixture
def bench(rows: ModuleType, benches: Callable[..., Bench]) -> Bench:
    return benches(rows, rows.row_products)


def chosen(bench: Bench, case: Case) -> Any:
    """The configuration that a launch kept."""
    bench.kernel[(case.sizes[0],)](*case.arguments)
    case.check()
    (config,) = bench.kernel._known.values() if bench.kernel._known else ("nothing is kept",)
    return config


BEST = {"BLOCK_M": 16, "BLOCK_N": 64, "num_warps": 4, "num_stages": 2}


def test_the_tuner_takes_the_fastest_and_keeps_it(bench: Bench, device: str) -> None:
    assert chosen(bench, Case(device)) == BEST
    assert None in bench.tried, "few programs may be fastest as written"
    assert BEST in bench.tried
    count = len(bench.tried)
    assert chosen(bench, Case(device, 39, 44)) == BEST
    bench.forget()
    assert chosen(bench, Case(device)) == BEST
    assert len(bench.tried) == count, "it was timed again"
    bench.forget()
    chosen(bench, Case(device, 3, 500))
    assert len(bench.tried) > count, "other sizes are another kind"


def test_the_tuner_works_on_copies(benches: Callable[..., Bench], device: str, tmp_path: Path) -> None:
    path = tmp_path / "in_place.tk"
    path.write_text("""
    #[kernel(tile)]
    fn halves(x: Pointer<f32>, w: Pointer<f32>, m: i32) {
        let row = program_id(0);
        let mut total = load(x + row);
        for k in 0..m {
            total += load(w + k) * 0.5;
        }
        store(x + row, total);
    }""")
    module = teenyc.load(path)
    bench = benches(module, module.halves)
    memory = torch.arange(60.0, device=device)
    x, w = memory[10:30], torch.ones(50, device=device)
    module.halves[(20,)](x, w, 50)
    assert bench.tried
    expected = torch.arange(60.0, device=device)
    expected[10:30] += 25
    assert torch.equal(memory, expected)


@pytest.mark.parametrize("why", ["tune", "capture"])
def test_nothing_is_timed_where_that_is_forbidden(
    bench: Bench, device: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "tune":
        monkeypatch.setattr(bench.kernel, "tune", False)
    bench.gpu.is_capturing = why == "capture"
    first = bench.kernel._facts["configs"][0]
    assert chosen(bench, Case(device, 64, 41)) == (first if why == "tune" else "nothing is kept")
    assert not bench.tried


def test_what_does_not_fit_is_left_out(bench: Bench, device: str) -> None:
    bench.unfit = lambda config: config["BLOCK_N"] <= 64
    assert chosen(bench, Case(device))["BLOCK_N"] == 128
    bench.forget()
    bench.unfit = lambda config: True
    with pytest.warns(UserWarning, match="runs as written"):
        assert chosen(bench, Case(device, 3, 3)) is None


def test_a_table_saves_the_tuner(bench: Bench, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"device": "a device of the tests", "dtypes": ["f32"] * 3, "named": {}}
    small, large = {"BLOCK_M": 16, "BLOCK_N": 16, "num_warps": 1}, {"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4}
    tables = [{**row, "sizes": [s, 1, 1, s, s], "config": c} for s, c in ((2, small), (6, large))]
    monkeypatch.setattr(bench.kernel, "tables", [*tables, {**tables[0], "device": "another", "config": None}])
    assert chosen(bench, Case(device, 5, 7)) == small
    bench.forget()
    assert chosen(bench, Case(device, 100, 300)) == large
    assert not bench.tried


def test_a_table_beside_the_source_is_read(tmp_path: Path, device: str) -> None:
    path = tmp_path / "tabled.tk"
    path.write_text(ROW_SUMS)
    row = {"kernel": "row_products", "device": "one", "dtypes": ["f32"] * 3, "named": {}, "sizes": [1] * 5}
    old = {**row, "config": {"BLOCK_OF_OLD": 16}}
    table = {"format": 1, "rows": [{**row, "config": BEST}, {**row, "config": None}, old]}
    (tmp_path / "tabled.tuned.json").write_text(json.dumps(table))
    assert [r["config"] for r in teenyc.load(path).row_products.tables] == [BEST, None]
    path.write_text(ROW_SUMS + "// changed")
    (tmp_path / "tabled.tuned.json").write_text("[]")
    with pytest.raises(ValueError, match="no table"):
        teenyc.load(path)


def test_what_was_chosen_becomes_a_table(bench: Bench, device: str) -> None:
    chosen(bench, Case(device))
    (row,) = json.loads(table_text(bench.module, ["row_products"]))["rows"]
    assert (row["kernel"], row["device"], row["config"]) == ("row_products", "a device of the tests", BEST)
    assert row["dtypes"] == ["f32"] * 3


@pytest.mark.gpu
def test_configurations_are_timed_on_a_gpu(
    rows: ModuleType, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, case = rows.row_products, Case(device, 1000, 300)
    monkeypatch.setattr(kernel, "tune", True)
    monkeypatch.setattr(kernel, "_known", {})
    monkeypatch.setattr(kernel, "_plans", {})
    with triton.knobs.cache.scope():
        triton.knobs.cache.dir = str(tmp_path)
        kernel[(1000,)](*case.arguments)
        case.check()
        (found,) = tmp_path.rglob("tuned.json")
    tuned = json.loads(found.read_text())
    assert len(tuned["milliseconds"]) > 2
    assert [tuned["config"]] == list(kernel.chosen().values())


# ---- kernels that are not tiled, of which a launch chooses constants ------------------------------------------------

CHOICES = """
/// x times a number, in blocks.
#[kernel(configs = [config(BLOCK = 32, num_warps = 1), config(BLOCK = 64, num_warps = 4)], num_stages = 2)]
fn scaled<const BLOCK: i32>(x: Pointer<f32>, y: Pointer<f32>, n: i32, factor: f32) {
    let at = program_id(0) * BLOCK + arange(0, BLOCK);
    store(y + at, load(x + at, mask = at < n) * factor, mask = at < n);
}
"""


@pytest.fixture(scope="module")
def choices(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = tmp_path_factory.mktemp("launcher") / "choices.tk"
    path.write_text(CHOICES)
    return teenyc.load(path)


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


def test_constants_that_a_caller_leaves_out_are_chosen(choices: ModuleType, device: str) -> None:
    scaled = Scaled(device)
    scaled.check(choices.scaled)
    scaled.check(choices.Scaled())
    assert set(scaled.grids) <= {32, 64}
    for kernel, named in ((choices.scaled, {"BLOCK": 16}), (choices.Scaled(block=16), {}), (choices.Scaled(16), {})):
        scaled.grids.clear()
        scaled.check(kernel, **named)
        assert scaled.grids == [16]
    scaled.grids.clear()
    scaled.check(choices.scaled, 128)
    assert scaled.grids == [128]


def test_the_tuner_chooses_constants(choices: ModuleType, benches: Callable[..., Bench], device: str) -> None:
    bench, scaled = benches(choices, choices.scaled), Scaled(device)
    bench.speed = lambda config: -config["BLOCK"]
    scaled.check(choices.scaled)
    scaled.check(choices.Scaled(check=False))
    assert scaled.grids[-1] == 64
    assert [config["BLOCK"] for config in bench.tried] == [32, 64]
    assert list(choices.scaled.chosen().values()) == [{"BLOCK": 64, "num_warps": 4}]


def test_blocks_may_be_stated(tmp_path: Path, device: str) -> None:
    path = tmp_path / "stated.tk"
    text = ROW_SUMS.replace("tile)]", "tile, configs = [config(BLOCK_M = 64, BLOCK_N = 16, num_warps = 2)])]")
    path.write_text(text)
    module, case = teenyc.load(path), Case(device)
    assert module.TEENYC["kernels"]["row_products"]["tiled"]["configs"] == [
        {"BLOCK_M": 64, "BLOCK_N": 16, "num_warps": 2}
    ]
    module.row_products[37](*case.arguments)
    case.check()
    untiled = teenyc.load(path, tile=False)
    untiled.row_products[(37,)](*case.arguments)
    case.check()
