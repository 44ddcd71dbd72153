"""The sanitizer finds each mistake once, with its place, program and lane, and nothing in kernels that are right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_builder import B

import teenyc
from teenyc.cli import main
from teenyc.diagnostics.model import Diagnostic, Severity
from teenyc.driver import Options, compile_source
from teenyc.evaluate import Buffer, launch
from teenyc.evaluate.sanitize import Sanitizer
from teenyc.evaluate.watch import Undefined
from teenyc.ir.nodes import Program
from teenyc.resources import kernels_directory
from teenyc.runtime.findings import diagnostic_of
from teenyc.runtime.run import run_checked
from teenyc.types import F32, I32, scalar

SOURCE = """
fn twice(x: f32) -> f32 { x + x }

#[kernel]
fn mistakes(x: Pointer<f32>, y: Pointer<f32>, z: Pointer<f32>, total: Pointer<f32>, n: i32) {
    let row = program_id(0);
    let at = row * 8 + arange(0, 8);
    let v = load(x + at, mask = at < n + 1, other = 0.0);
    store(total, load(total) + sum(v));
    let many = (row + 1) * 1_000_000_000;
    let hash = (row + 1).wrapping_mul(1_000_000_000);
    store(y + at, log(v) + twice(many as f32) + hash as f32, mask = at < n - 2);
    store(y + row * 8 + arange(0, 8) / 2, v);
    store(z + row, 1.0);
}

#[kernel]
fn right(x: Pointer<f32>, y: Pointer<f32>, total: Pointer<f32>, parts: Pointer<f32>, count: Pointer<i32>, n: i32) {
    let row = program_id(0);
    let at = row * 8 + arange(0, 8);
    let v = load(x + at, mask = at < n);
    store(y + at, v * 2.0, mask = at < n);
    let sum_of_row = sum(where_(at < n, v, 0.0));
    atomic_add(total, sum_of_row);
    store(parts + row, sum_of_row);
    store(parts + row, load(parts + row) + 1.0);
    let ticket = atomic_add(count, 1);
    if ticket == num_programs(0) - 1 {
        store(total, sum(load(parts + arange(0, 4), mask = arange(0, 4) < num_programs(0), other = 0.0)));
    }
}

#[kernel]
fn left_out(x: Pointer<f32>, y: Pointer<f32>, n: i32) {
    let lane = arange(0, 8);
    let v = load(x + lane, mask = lane < n);
    store(y + lane, -v, mask = lane < n);
}
"""


def findings(text: str, kernel: str, grid: int, arguments: dict[str, Any]) -> list[Diagnostic]:
    compiled = compile_source(text, name="mistakes.tk", options=Options(generate=False))
    assert compiled.checked is not None, [d.message() for d in compiled.diagnostics]
    return list(run_checked(compiled, kernel, grid, arguments, {}, sanitize=True).findings)


def place(text: str, diagnostic: Diagnostic) -> tuple[str, str]:
    assert diagnostic.span is not None
    return diagnostic.code, text[diagnostic.span.start : diagnostic.span.end]


def test_each_mistake_is_found_once_at_its_place() -> None:
    x = np.arange(20, dtype="float32")
    arguments = {"x": x, "y": np.zeros(20, "f"), "z": np.zeros(5, "f"), "total": np.zeros(1, "f"), "n": 20}
    found = findings(SOURCE, "mistakes", 3, arguments)
    places = [place(SOURCE, d) for d in found]
    assert places == [
        ("W0703", "z"),
        ("E0711", "load(x + at, mask = at < n + 1, other = 0.0)"),
        ("E0715", "store(total, load(total) + sum(v))"),
        ("W0701", "(row + 1) * 1_000_000_000"),
        ("E0715", "store(y + row * 8 + arange(0, 8) / 2, v)"),
    ]
    texts = [" ".join((d.label(), *d.notes())) for d in found]
    assert "element 20 of 20 in program (2, 0, 0), lane [4]" in texts[1]
    assert "element 0, in program (1, 0, 0)" in texts[2]
    assert "3 * 1,000,000,000" in texts[3]
    assert "lane [1]" in texts[4]
    assert found[0].message() == "2 of the 5 elements of `z` were not written"


def test_what_is_right_is_left_alone() -> None:
    x = np.arange(20, dtype="float32")
    zeros = {name: np.zeros(size, "f") for name, size in (("y", 20), ("total", 1), ("parts", 3))}
    arguments = {"x": x, **zeros, "count": np.zeros(1, "i"), "n": 20}
    assert findings(SOURCE, "right", 3, arguments) == []
    assert arguments["total"].tolist() == [193.0]


def test_lanes_that_are_left_out_are_seen_where_they_arrive() -> None:
    """The checker reports them before (E0411), so that only IR made by hand has them; the report is E0716."""
    b = B("k")
    x, y, n = b.pointer("x"), b.pointer("y"), b.param("n", I32)
    lane = b.arange(8)
    v = b.load(b.offset(x, lane), mask=b.compare("lt", lane, n))
    b.store(b.offset(y, lane), b.unary("neg", v))
    b.store(y, b.call("sum", scalar(F32), {"input": v}, at={"axis": 0}))
    program = Program(doc="", kernels=(b.kernel(variables=()),))
    sanitizer = Sanitizer()
    buffers = {name: Buffer(name, F32, np.ones(8, "f")) for name in ("x", "y")}
    launch(program, "k", (1, 1, 1), {**buffers, "n": 5}, {"N": 8}, watcher=sanitizer)
    found = [f for f in sanitizer.findings.values() if isinstance(f, Undefined)]
    assert [(f.function, f.lanes.first[1]) for f in found] == [("store", (5,)), ("sum", (5,))]
    assert diagnostic_of(found[0], program.kernels[0]).message() == "`store` takes lanes that a mask left out of a load"


@pytest.mark.parametrize(("x", "words"), [([-1.0, 1.0], "`log` of -1"), ([1.0, np.nan], "`load from memory`")])
def test_the_first_nan_and_what_made_it(x: list[float], words: str) -> None:
    text = """
#[kernel]
fn logs(x: Pointer<f32>, y: Pointer<f32>) {
    let lane = arange(0, 2);
    let v = load(x + lane);
    store(y + lane, sqrt(log(v)) + 1.0);
}
"""
    (found,) = findings(text, "logs", 1, {"x": np.array(x, "f"), "y": np.zeros(2, "f")})
    assert found.code == "W0702"
    assert found.label() == words


def test_divisions_by_zero() -> None:
    text = """
#[kernel]
fn means(x: Pointer<i32>, y: Pointer<i32>) {
    let row = program_id(0);
    let d = load(x + row);
    if d != 5 { store(y + row, 7 / d); }
}
"""
    missed, found = findings(text, "means", 4, {"x": np.array([1, 5, 0, 2], "i"), "y": np.zeros(4, "i")})
    assert missed.code == "W0703"
    assert (*place(text, found), found.label()) == ("W0704", "7 / d", "7 by 0")
    assert found.notes() == ("in program (2, 0, 0)",)


def test_attention_has_no_findings() -> None:
    source = (kernels_directory() / "flash_attn2.tk").read_text(encoding="utf-8")
    compiled = compile_source(source, options=Options(set={"HEAD_DIM": 16}, tile=False, generate=False))
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, n, 16)).astype("f") for n in (9, 12, 12))
    given = {"q_ptr": q, "k_ptr": k, "v_ptr": v, "o_ptr": np.zeros_like(q), "l_ptr": np.zeros((2, 9), "f")}
    arguments = {**given, "softmax_scale": 0.25}
    done = run_checked(compiled, "flash_attention2_forward", None, arguments, {"HEAD_DIM": 16}, sanitize=True)
    assert done.findings == ()


# ---- how it is asked for --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("sanitizer") / "mistakes.tk"
    file.write_text(SOURCE, encoding="utf-8")
    return file


def test_python_raises_errors_and_warns_of_the_rest(path: Path) -> None:
    arguments = {
        "x": np.ones(24, "f"),
        "y": np.zeros(24, "f"),
        "z": np.zeros(9, "f"),
        "total": np.zeros(1, "f"),
        "n": 20,
    }
    with pytest.raises(teenyc.RunError, match="`total` is reached by two") as raised:
        teenyc.run(path, "mistakes", 3, arguments, sanitize=True)
    assert {d.severity for d in raised.value.diagnostics} == {Severity.ERROR, Severity.LINT}
    arguments = {"x": np.ones(8, "f"), "y": np.zeros(8, "f"), "n": 5}
    with pytest.warns(RuntimeWarning, match="3 of the 8 elements of `y` were not written"):
        teenyc.run(path, "left_out", 1, arguments, sanitize=True)


def test_what_is_allowed_is_not_found() -> None:
    text = SOURCE.replace("let many", "#[allow(integer_wrapped)]\n    let many")
    zeros = {name: np.zeros(size, "f") for name, size in (("y", 24), ("z", 3), ("total", 1))}
    assert "W0701" not in {d.code for d in findings(text, "mistakes", 3, {"x": np.ones(24, "f"), **zeros, "n": 20})}


def test_the_command_prints_results_and_findings(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--sanitize", "--grid", "1", "--arg", "x=ones(8)", "--arg", "y=empty(8)", "--arg", "n=5"]
    assert main(["run", str(path), "left_out", *options]) == 0
    captured = capsys.readouterr()
    assert "y: f32 [8]" in captured.out
    assert "warning[W0703]" in captured.err


# ---- memory ---------------------------------------------------------------------------------------------------------

COPY = """
#[kernel(shape(x = [rows, 5], y = [rows, 5]))]
fn copy(x: Pointer<f32>, y: Pointer<f32>, rows: i32, stride: i32) {
    let row = program_id(0);
    let at = arange(0, 8);
    let v = load(x + row * 5 + at, mask = at < 5, other = 0.0);
    store(y + row * stride + at, v + 1.0, mask = at < 5);
}
"""


def test_tensors_that_share_memory_share_what_is_known_of_it() -> None:
    """Rows of `y` are those of `x`, one further: each program reads what another one writes."""
    whole = np.arange(25, dtype="float32").reshape(5, 5)
    found = findings(COPY, "copy", 4, {"x": whole[:4], "y": whole[1:], "rows": 4, "stride": 5})
    assert [d.code for d in found] == ["E0715"]
    assert "`y[0, 0]`" in found[0].label()
    assert not findings(COPY, "copy", 4, {"x": whole[:4], "y": whole[:4], "rows": 4, "stride": 5})


def test_what_lies_between_the_elements_of_a_tensor_need_not_be_written() -> None:
    wide = np.zeros((4, 8), "f")
    given = {"x": np.ones((4, 5), "f"), "y": wide[:, :5], "rows": 4, "stride": 8}
    assert not findings(COPY, "copy", 4, given)
    (found,) = findings(COPY, "copy", 3, {**given, "y": np.zeros((4, 8), "f")[:, :5]})
    assert found.label() == "the first is element 24, `y[3, 0]`"
    assert found.message() == "5 of the 20 elements of `y` were not written"


def test_numbers_that_go_nowhere_are_no_findings() -> None:
    """Lanes behind the end divide by zero, wrap and make NaN, and no store takes them."""
    text = """
#[kernel]
fn quotients(x: Pointer<i32>, y: Pointer<i32>, z: Pointer<f32>, n: i32) {
    let at = arange(0, 8);
    let inside = at < n;
    let d = load(x + at, mask = inside, other = 0);
    let f = d as f32;
    store(y + at, 60 / d + where_(inside, d, 2_147_483_647) + 1, mask = inside);
    store(z + at, where_(inside, f / f, 0.0) + f / f, mask = inside);
}
"""
    given = {"x": np.arange(1, 6, dtype="i"), "y": np.zeros(5, "i"), "z": np.zeros(5, "f")}
    assert not findings(text, "quotients", 1, {**given, "n": 5})
    codes = {d.code for d in findings(text, "quotients", 1, {**given, "x": np.arange(5, dtype="i"), "n": 5})}
    assert codes == {"W0702", "W0704"}
