"""The choice of configurations: what is timed, what is kept, and that no tensor of a caller changes by it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch
import triton
from bench import CHOICES, ROW_SUMS, Bench, Case, Scaled, benched

import teenyc
from teenyc.resources import kernels_directory
from teenyc.runtime.tables import attach, read, rows_of, write


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = tmp_path_factory.mktemp("tuner") / "rows.tk"
    path.write_text(ROW_SUMS)
    return teenyc.load(path)


@pytest.fixture(scope="module")
def choices(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = tmp_path_factory.mktemp("tuner") / "choices.tk"
    path.write_text(CHOICES)
    return teenyc.load(path)


@pytest.fixture
def benches(device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Bench]]:
    """Makes benches for kernels, with a cache of their own."""
    if device != "cpu":
        pytest.skip("times are real on a GPU")
    with triton.knobs.cache.scope():
        triton.knobs.cache.dir = str(tmp_path / "cache")
        yield lambda module, kernel: benched(module, kernel, monkeypatch)


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
    bench.forget()
    assert chosen(bench, Case(device, 1100, 300)) == large, "a size that no row has is that of the nearest"
    assert not bench.tried


def test_few_programs_share_loops(bench: Bench, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.processors = 8
    bench.speed = lambda config: abs(config.get("SPLIT", 1) - 4) + config["num_warps"] / 10
    assert chosen(bench, Case(device, 20, 200))["SPLIT"] == 4
    assert {config.get("SPLIT") for config in filter(None, bench.tried)} == {None, 4, 8, 16}
    bench.forget()
    bench.tried.clear()
    assert "SPLIT" not in chosen(bench, Case(device, 200, 20)), "there are as many blocks as processors"
    assert all("SPLIT" not in config for config in filter(None, bench.tried))
    row = {"device": "a device of the tests", "dtypes": ["f32"] * 3, "named": {}}
    shared, whole = {**BEST, "SPLIT": 3}, {**BEST, "num_warps": 1}
    tables = [{**row, "sizes": [s, 1, 1, s, 4], "config": c} for s, c in ((2, shared), (4, whole))]
    monkeypatch.setattr(bench.kernel, "tables", tables)
    bench.forget()
    bench.tried.clear()
    assert chosen(bench, Case(device, 5, 200)) == shared
    assert not bench.tried
    bench.forget()
    chosen(bench, Case(device, 20, 900))
    assert bench.tried, "few programs are not what a table says of more, or of fewer"


ROW = {"kernel": "row_products", "device": "one", "dtypes": ["f32"] * 3, "named": {}, "sizes": [1] * 5, "config": BEST}


def test_a_table_beside_the_source_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tabled.tk"
    path.write_text(ROW_SUMS)
    others = [{"kernel": "of_old"}, {"config": None}, {"config": {"BLOCK_OF_OLD": 16}}, {"dtypes": ["f32"]}]
    others += [{"config": {**BEST, "BLOCK_OF_OLD": 16}}, {"config": {**BEST, "BLOCK_M": 0}}, {"kernel": "__name__"}]
    table = {"format": 1, "rows": [ROW, *({**ROW, **other} for other in others)]}
    (tmp_path / "tabled.tuned.json").write_text(json.dumps(table))
    assert [row["config"] for row in teenyc.load(path).row_products.tables] == [BEST, None]


@pytest.mark.parametrize("table", sorted(kernels_directory().glob("*.tuned.json")), ids=lambda path: path.name)
def test_all_rows_of_a_bundled_table_are_of_its_kernels(table: Path) -> None:
    rows = json.loads(table.read_text())["rows"]
    module = teenyc.load(table.with_name(table.name.replace(".tuned.json", ".tk")))
    known = [row for name in module.TEENYC["kernels"] for row in getattr(module, name).tables]
    assert sorted(map(repr, known)) == sorted(map(repr, rows))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "\xff",
        '{"format": 0, "rows": []}',
        '{"format": 1}',
        '{"format": 1, "rows": 3}',
        '{"format": 1, "rows": [3]}',
        json.dumps({"format": 1, "rows": [{**ROW, "sizes": ["1"]}]}),
        json.dumps({"format": 1, "rows": [{**ROW, "config": {"BLOCK_M": "16"}}]}),
        json.dumps({"format": 1, "rows": [{name: value for name, value in ROW.items() if name != "dtypes"}]}),
    ],
)
def test_a_file_that_is_no_table_is_told(rows: ModuleType, tmp_path: Path, text: str) -> None:
    (tmp_path / "rows.tuned.json").write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=r"rows.tuned.json is no table"):
        attach(rows, tmp_path / "rows.tk")


def test_what_was_chosen_becomes_a_table(bench: Bench, device: str, tmp_path: Path) -> None:
    chosen(bench, Case(device))
    path = str(tmp_path / "rows.tuned.json")
    other = {**ROW, "device": "another"}
    write(path, [other, {**other, "config": None}, *rows_of(bench.module, ["row_products"])])
    write(path, [*read(path), *rows_of(bench.module, ["row_products"])])
    row, kept = read(path)
    assert (row["kernel"], row["device"], row["config"]) == ("row_products", "a device of the tests", BEST)
    assert row["dtypes"] == ["f32"] * 3
    assert (kept["device"], kept["config"]) == ("another", None), "the last row about the same launches counts"
    attach(bench.module, tmp_path / "rows.tk")
    assert row in bench.kernel.tables
    bench.forget()
    bench.tried.clear()
    assert chosen(bench, Case(device)) == BEST
    assert not bench.tried


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


def test_the_tuner_chooses_constants(choices: ModuleType, benches: Callable[..., Bench], device: str) -> None:
    bench, scaled = benches(choices, choices.scaled), Scaled(device)
    bench.speed = lambda config: -config["BLOCK"]
    scaled.check(choices.scaled)
    scaled.check(choices.Scaled(check=False))
    assert scaled.grids[-1] == 64
    assert [config["BLOCK"] for config in bench.tried] == [32, 64]
    assert list(choices.scaled.chosen().values()) == [{"BLOCK": 64, "num_warps": 4}]


# ---- what is left out -----------------------------------------------------------------------------------------------


def test_what_spills_is_timed_only_where_all_does(bench: Bench, device: str) -> None:
    bench.spills = lambda config: 0 if config["BLOCK_N"] == 512 else 200
    assert chosen(bench, Case(device))["BLOCK_N"] == 512
    assert [c["BLOCK_N"] for c in bench.tried if c is not None] == [512]
    bench.forget()
    bench.tried.clear()
    bench.spills = lambda config: 200
    assert chosen(bench, Case(device, 200, 3)) == BEST
    assert len([c for c in bench.tried if c is not None]) > 2


@pytest.mark.parametrize("tunes", [True, False])
def test_what_the_device_lacks_memory_for_when_it_is_loaded_is_left_out(
    bench: Bench, device: str, tunes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.kernel, "tune", tunes)
    bench.needs = lambda config: 0 if config["BLOCK_N"] == 512 else 2**19
    assert chosen(bench, Case(device))["BLOCK_N"] == 512


def test_a_configuration_that_cannot_be_launched_is_left_out(bench: Bench, device: str) -> None:
    def speed(config: dict[str, int]) -> float:
        if config["BLOCK_N"] == 64:
            raise triton.runtime.errors.OutOfResources(2, 1, "threads")
        return bench_speed(config)

    bench_speed, bench.speed = bench.speed, speed
    assert chosen(bench, Case(device))["BLOCK_N"] == 32


class TooLarge:
    """A kernel that a device has no room for."""

    def __getitem__(self, grid: object) -> Callable[..., None]:
        def launch(*args: object, **named: object) -> None:
            raise triton.runtime.OutOfResources(2**19, 2**18, "shared memory")

        return launch

    def warmup(self, *args: object, grid: object, **named: object) -> None:
        self[grid]()


@pytest.mark.parametrize("checks", [True, False])
def test_an_error_names_the_kernel_and_what_was_chosen(
    rows: ModuleType, device: str, checks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, arguments = rows.row_products, Case(device).arguments
    monkeypatch.setattr(kernel, "_plans", {})
    monkeypatch.setattr(kernel, "_known", {})
    monkeypatch.setattr(kernel, "tiled", TooLarge())
    monkeypatch.setattr(kernel, "plain", TooLarge())
    with pytest.raises(triton.runtime.OutOfResources, match="memory for `row_products` with BLOCK_M=64") as caught:
        kernel[(37,)](*arguments, BLOCK_M=64, BLOCK_N=512, num_warps=2)
    words = "with BLOCK_M=64, BLOCK_N=512, num_warps=2, Required: 524288, Hardware limit: 262144"
    assert words in str(caught.value)
    with (
        warnings.catch_warnings(action="ignore"),  # on a GPU, where nothing fits, that the kernel runs as written
        pytest.raises(triton.runtime.OutOfResources, match=r"memory for `row_products`[ ,]"),
    ):
        rows.RowProducts(check=checks)[(37,)](*arguments)
    monkeypatch.setattr(rows.RowProductsTiled, "_kernel", TooLarge())
    with pytest.raises(triton.runtime.OutOfResources, match="memory for `RowProductsTiled` with num_warps=8, "):
        rows.RowProductsTiled(check=checks)[(1,)](torch.zeros(1, device=device), num_warps=8)


def test_where_no_configuration_can_be_launched_each_is_named(
    choices: ModuleType, benches: Callable[..., Bench], device: str
) -> None:
    bench, case = benches(choices, choices.scaled), Scaled(device)
    bench.unfit = lambda config: True
    with pytest.raises(RuntimeError, match="scaled: no configuration can be launched; it does not fit; it does not"):
        case.check(choices.scaled)


@pytest.mark.parametrize("what", ["_copied", "_milliseconds"])
def test_where_nothing_can_be_timed_the_first_that_fits_is_taken_for_now(
    bench: Bench, device: str, what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(bench.module, what, fails)
    bench.unfit = lambda config: config["BLOCK_N"] == 128
    assert chosen(bench, Case(device))["BLOCK_N"] == 512
    assert not [*tmp_path.rglob("tuned.json")], "what was not timed is not kept for other processes"


class Event:
    """An event of a device whose launches take the milliseconds that a test says."""

    times: ClassVar[list[float]] = []

    def __init__(self, enable_timing: bool) -> None:
        pass

    def record(self) -> None:
        pass

    synchronize = record

    def elapsed_time(self, end: Event) -> float:
        return self.times.pop(0)


@pytest.mark.parametrize(
    ("times", "best", "expected", "runs"),
    [
        ([50.0, 40.0, 30.0], 100.0, 30.0, 3),
        ([50.0, 40.0, 30.0], 20.0, 50.0, 1),
        ([0.5, 0.1] + [0.2] * 6, 0.1, 0.1, 8),
    ],
    ids=["slow", "hopeless", "short launches vary"],
)
def test_what_is_hopeless_is_timed_once(
    rows: ModuleType, times: list[float], best: float, expected: float, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    cleared: list[int] = []
    monkeypatch.setattr(Event, "times", [*times])
    monkeypatch.setattr(rows, "_gpu", lambda: type("Gpu", (), {"Event": Event}))
    driver = SimpleNamespace(get_empty_cache_for_benchmark=list, clear_cache=lambda cache: cleared.append(1))
    monkeypatch.setattr(rows, "triton", SimpleNamespace(runtime=SimpleNamespace(driver=SimpleNamespace(active=driver))))
    assert rows._milliseconds(lambda: seen.append(1), [], best) == expected
    assert len(seen) == runs
    assert len(cleared) > runs, "a launch is prepared meanwhile"


# ---- tensors of the caller ------------------------------------------------------------------------------------------

HALVES = """
#[kernel(tile)]
fn halves(x: Pointer<f32>, y: Pointer<f32>, w: Pointer<f32>, m: i32) {
    let row = program_id(0);
    let mut total = load(x + row);
    for k in 0..m {
        total += load(w + k) * 0.5;
    }
    store(x + row, total);
    store(y + row, load(y + row) - total);
}
"""


@pytest.fixture
def halves(tmp_path: Path, benches: Callable[..., Bench]) -> Bench:
    path = tmp_path / "halves.tk"
    path.write_text(HALVES)
    module = teenyc.load(path)
    return benches(module, module.halves)


@pytest.mark.parametrize("lies", ["apart", "in one memory", "before what is read"])
def test_what_is_updated_is_updated_once(halves: Bench, device: str, lies: str) -> None:
    memory = torch.arange(120.0, device=device)
    x, y = memory[10:30], memory[40:60] if lies != "apart" else torch.arange(40.0, 60.0, device=device)
    w = memory[70:100] if lies == "before what is read" else torch.ones(30, device=device)
    before, total = memory.clone(), x + 0.5 * w.sum()
    expected = y - total
    halves.kernel[(20,)](x, y, w, 30)
    assert halves.tried, "nothing was timed"
    assert torch.allclose(x, total)
    assert torch.allclose(y, expected)
    before[10:30] = total
    if lies != "apart":
        before[40:60] = expected
    assert torch.allclose(memory, before), "something else changed"


def test_what_overlaps_is_not_timed_and_runs_as_written(halves: Bench, device: str) -> None:
    memory = torch.arange(60.0, device=device)
    expected = memory.clone()
    for row in range(20):
        expected[row] += 0.5 * expected[10:40].sum()
        expected[40 + row] -= expected[row]
    halves.kernel[(20,)](memory[:20], memory[40:], memory[10:40], 30)
    assert not halves.tried
    assert torch.allclose(memory, expected)


def test_blocks_that_are_named_give_way_to_tensors_that_overlap(rows: ModuleType, device: str) -> None:
    x, y = torch.ones(4, 4, device=device), torch.ones(6, device=device)
    rows.row_products[(4,)](x, y[2:], y[:4], 4, 4, 1.0, BLOCK_M=16, BLOCK_N=16, num_warps=4)
    assert y.isfinite().all()


def test_tensors_that_move_are_seen_to_overlap(rows: ModuleType, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, memory, x = rows.row_products, torch.zeros(64, device=device), torch.ones(4, 4, device=device)
    overlaps = []
    monkeypatch.setattr(kernel, "_plans", {})
    for start in (*range(0, 40, 3), 8, 0):
        kernel[(4,)](x, memory[20:24], memory[start : start + 4], 4, 4, 1.0)
        (plan, *_) = kernel._plans[next(reversed(kernel._plans))]
        overlaps.append((start, plan is kernel.plain))
    strided = memory[16:32:2][:4]
    kernel[(4,)](x, memory[60:64], strided, 4, 4, 1.0)
    assert kernel._plans[next(reversed(kernel._plans))][0] is kernel.plain, "it may reach over all memory"
    assert [start for start, is_plain in overlaps if is_plain] == [18, 21]


@pytest.mark.parametrize("tunes", ["1", "0"])
def test_triton_tells_what_the_device_has_no_room_for(tmp_path: Path, tunes: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"TRITON_CACHE_DIR": str(tmp_path), "TEENYC_TUNE": tunes}
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("device_of_tests.py")), "60000"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (config,) = found["chosen"]
    assert config is not None
    assert found["loaded"], "one fits"
    assert max(found["loaded"]) <= 60000
    assert (len(found["loaded"]) > 1) == (tunes == "1"), "the first that fits is enough where nothing is timed"
    assert found["launches"] == (1 if tunes == "0" else 1 + 8 * len(found["loaded"]))
    what = "`flash_attention2_forward` with HEAD_DIM=64, BLOCK_M=64, BLOCK_N=64, num_warps=4, num_stages=4"
    needed = re.fullmatch(
        f"out of resource: shared memory for {what}, Required: ([0-9]+), .* 60000.*", found["refused"]
    )
    assert needed is not None, found["refused"]
    assert int(needed[1]) > 60000


# ---- checked launches -----------------------------------------------------------------------------------------------


def test_launches_alike_are_checked_once(bench: Bench, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bound, case, calls = bench.module.RowProducts(), Case(device), []
    whole = type(bound)._checked

    def checked(self: Any, args: Any, named: Any) -> Any:
        calls.append(args)
        with monkeypatch.context() as patch:
            patch.setattr(bench.module, "_INTERPRETED", True)  # it takes tensors on the CPU
            return whole(self, args, named)

    monkeypatch.setattr(type(bound), "_checked", checked)
    for other in (case, case, Case(device), Case(device)):  # the last ones lie elsewhere
        bound[(37,)](*other.arguments)
        other.check()
    for grid in (37, [37], lambda meta: (meta["rows"],)):
        bound[grid](*case.arguments)
        case.check()
    assert len(calls) == 1
    x, v, y, rows, columns, scale = case.arguments
    for wrong, told in {
        (x, v, y, rows, columns + 1, scale): "needs 1554 elements",
        (x, v.half(), y, rows, columns, scale): "`v`",
        (x.t(), v, y, rows, columns, scale): "not contiguous",
        (x, v, y, True, columns, scale): "`rows` has type i32",
        (x, v, 3, rows, columns, scale): "`y`",
        (x, v.to("meta"), y, rows, columns, scale): "`v` is on meta",
    }.items():
        with pytest.raises((TypeError, ValueError), match=told):
            bound[(37,)](*wrong)
    with pytest.raises(ValueError, match="the grid has"):
        bound[(37, 70_000)](*case.arguments)
    with pytest.raises(TypeError, match="`rows` has type i32"):
        bound[lambda meta: (meta["rows"] // 1,)](x, v, y, "37", columns, scale)
    with pytest.raises(KeyError, match="lines"):
        bound[lambda meta: (meta["lines"],)](*case.arguments)
    with pytest.raises(TypeError, match="did you mean `scale`"):
        bound[(37,)](x, v, y, rows, columns, scal=scale)
    count = len(calls)
    for _ in range(2):
        bound[(37,)](x, v, y, rows, columns, 1)
    assert len(calls) == count + 2, "what is converted is converted each time"


def test_what_is_known_of_launches_is_bounded(rows: ModuleType, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, x = rows.row_products, torch.ones(4, 8, device=device)
    monkeypatch.setattr(kernel, "_plans", dict.fromkeys(range(4094)))
    for tensors in ((x[:, :4].contiguous(), x[0, :4].clone()), (x[:, ::2], x[0, ::2])):
        for _ in range(3):
            kernel[(4,)](*tensors, torch.empty(4, device=device), 4, 4, 1.0)
    assert len(kernel._plans) < 16


# ---- many processes -------------------------------------------------------------------------------------------------


def test_processes_that_tune_at_once_leave_one_entry(bench: Bench, device: str, tmp_path: Path) -> None:
    case, children = Case(device, 5, 7), []
    for number in range(32):
        child = os.fork()
        if not child:
            status = 1
            try:
                bench.module._milliseconds = lambda *_, n=number: float(n)  # type: ignore[attr-defined]
                config, _ = bench.kernel._configuration(kind_of(case), (5, 1, 1), case.arguments, {})
                status = 0 if config in bench.kernel._facts["configs"] else 2
            finally:
                os._exit(status)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    (found,) = tmp_path.rglob("tuned.json")
    assert set(json.loads(found.read_text())) == {"config", "milliseconds"}
    assert [path.name for path in found.parent.iterdir()] == ["tuned.json"]


def test_an_entry_that_is_no_entry_is_timed_again(bench: Bench, device: str, tmp_path: Path) -> None:
    assert chosen(bench, Case(device)) == BEST
    (found,) = tmp_path.rglob("tuned.json")
    for text in ("{", "[]", '{"config": 1}', '{"config": {"BLOCK_M": 16, "x": 1}}'):
        found.write_text(text)
        bench.forget()
        assert chosen(bench, Case(device)) == BEST
        assert json.loads(found.read_text())["config"] == BEST


def kind_of(case: Case) -> tuple[Any, ...]:
    """The kind of launches that a launch of a case is of."""
    tensors = case.arguments[:3]
    return tensors[0].device, tuple(t.dtype for t in tensors), (), (5, 5, 7), 0


# ---- what is tried, by the footprint of blocks ----------------------------------------------------------------------

H200, A100, SMALL = 232448, 166912, 101376
"""Bytes of shared memory that a program may have, on an H200 or H100, an A100, and devices for a desk."""


@pytest.fixture(scope="module")
def attention() -> ModuleType:
    return teenyc.load(kernels_directory() / "flash_attn2.tk")


@pytest.mark.parametrize("dtype", ["bf16", "f16", "f32", "f64"])
@pytest.mark.parametrize("head_dim", [16, 64, 80, 96, 128, 256])
@pytest.mark.parametrize("shared", [H200, A100, SMALL])
def test_few_blocks_are_tried_and_registers_and_memory_hold_them(
    attention: ModuleType, dtype: str, head_dim: int, shared: int
) -> None:
    for name in attention.TEENYC["kernels"]:
        launcher = getattr(attention, name)
        ranked = launcher._ranked({"HEAD_DIM": head_dim}, {"D": dtype}, shared, {})
        assert len([c for c in ranked if "descriptors" not in c]) <= 8
        assert len(ranked) <= 10
        for config in ranked:
            values = {"HEAD_DIM": head_dim, **config}
            held, _, unrolled, kept, staged = attention._footprint(launcher._facts, values, {"D": dtype})
            assert held <= 192
            assert unrolled <= 512
            assert kept + config["num_stages"] * staged <= shared
        assert ranked or dtype == "f64" or shared == SMALL
        assert len({tuple(config.items()) for config in ranked}) == len(ranked)


@pytest.mark.parametrize(
    ("name", "head_dim", "blocks", "is_first"),
    [
        ("forward", 64, (128, 64, 8, 3), True),
        ("forward", 128, (128, 64, 8, 3), True),
        ("backward_dq", 128, (128, 64, 8, 3), True),
        ("backward_dkv", 64, (64, 64, 4, 3), False),
        ("backward_dkv", 128, (64, 32, 4, 3), True),
        ("backward_dkv", 128, (64, 64, 4, 3), False),
        ("backward_dkv", 80, (64, 32, 4, 3), True),
    ],
)
def test_blocks_known_to_be_fast_are_tried(
    attention: ModuleType, name: str, head_dim: int, blocks: tuple[int, ...], is_first: bool
) -> None:
    launcher = getattr(attention, f"flash_attention2_{name}")
    ranked = [tuple(c.values()) for c in launcher._ranked({"HEAD_DIM": head_dim}, {"D": "bf16"}, H200, {})]
    assert blocks in ranked
    assert not is_first or ranked[0] == blocks


@pytest.mark.parametrize(("head_dim", "first"), [(64, (32, 16, 8)), (128, (16, 16, 8)), (256, (16, 16, 8))])
def test_wide_products_that_read_little_at_once_come_first(
    attention: ModuleType, head_dim: int, first: tuple[int, ...]
) -> None:
    launcher = attention.flash_attention2_backward_dkv
    ranked = launcher._ranked({"HEAD_DIM": head_dim}, {"D": "f32"}, H200, {})
    assert tuple(ranked[0].values())[:3] == first


def test_a_padded_head_takes_the_blocks_of_the_next_power_of_two(attention: ModuleType) -> None:
    launcher = attention.flash_attention2_backward_dkv
    padded, whole = (launcher._ranked({"HEAD_DIM": n}, {"D": "bf16"}, H200, {}) for n in (80, 128))
    assert padded == whole
    assert all((c["BLOCK_M"], c["num_warps"]) != (128, 4) for c in padded), "these spill"


def test_the_kernel_as_written_is_tried_for_few_programs(
    attention: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "_shared_memory", lambda: H200)
    monkeypatch.setattr(attention, "_copies_blocks", lambda device: True)
    launcher = attention.flash_attention2_forward
    kind = (torch.device("cpu"), (torch.bfloat16,) * 4 + (torch.float32,), (("HEAD_DIM", 64),), (), 0)
    assert None in launcher._candidates(kind, (1, 64))
    assert None not in launcher._candidates(kind, (4096, 64))
    assert all(c is None or c["BLOCK_M"] == 16 for c in launcher._candidates(kind, (1, 64)))
