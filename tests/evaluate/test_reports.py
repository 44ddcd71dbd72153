"""What cannot be run, and what goes wrong while it runs, is a report with its place; the command ends with 1."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import teenyc
from teenyc.cli import main
from teenyc.diagnostics.catalog.running import NumpyMissing
from teenyc.intrinsics import TABLE

SCALE = """
#[kernel(grid = [rows], shape(x = [rows, N], y = [rows, N]))]
fn scale<D: Float, const N: i32>(x: Pointer<D>, y: Pointer<D>, rows: i32, factor: f32) {
    let at = program_id(0) * N + arange(0, N);
    store(y + at, load(x + at) * factor);
}

#[kernel]
fn beyond(x: Pointer<f32>, y: Pointer<f32>, n: i32) {
    let row = program_id(0);
    let at = row * 8 + arange(0, 8);
    let v = load(x + at, mask = at < n, other = 0.0);
    store(y + at, v, mask = at < n + 1);
}

#[kernel]
fn asserts(x: Pointer<i32>) {
    let row = program_id(0);
    let v = load(x + row * 4 + arange(0, 4));
    device_assert(v >= 0, "negative");
    store(x, 1);
}

#[kernel]
fn rereads(scratch: Pointer<f32>, y: Pointer<f32>) {
    store(scratch + arange(0, 4), 1.0);
    store(y, load(scratch + program_id(0)));
}

#[kernel]
fn assembles(x: Pointer<i32>) {
    store(x, inline_asm_elementwise("mov.u32 $0, 1;", "=r", true, 1, dtype = i32));
}

#[kernel]
fn waits(flag: Pointer<i32>) {
    let row = program_id(0);
    while (row == 1) & (atomic_load(flag) == 0) {}
    if row == 2 { atomic_store(flag, 1); }
}

#[kernel]
fn stands(x: Pointer<i32>, n: i32, step: i32) {
    let mut i = 0;
    while i < n { i += step; }
    store(x, i);
}
"""
X = np.ones((4, 8), np.float32)
Y = np.zeros((4, 8), np.float32)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("run") / "scale.tk"
    file.write_text(SCALE, encoding="utf-8")
    return file


def report_of(path: Path, kernel: str, grid: Any, arguments: Any, **options: Any) -> str:
    """The report of a run that cannot be."""
    with pytest.raises(teenyc.RunError) as raised:
        teenyc.run(path, kernel, grid, arguments, **options)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code in str(raised.value)
    return str(raised.value)


GIVEN = {"x": X, "y": Y, "rows": 4, "factor": 2.0}
N = {"N": 8}

MISTAKES = {
    "E0701": ("skale", 4, GIVEN, {"set": N}, "there is a kernel with a similar name: `scale`"),
    "E0702": ("scale", 4, {"x": X, "y": Y}, {"set": N}, "no argument for `factor` of `scale`"),
    "E0703": ("scale", 4, {**GIVEN, "N": 8}, {"set": N}, "it is a constant"),
    "E0704": ("scale", 4, {**GIVEN, "x": 1.5}, {"set": N}, "takes an array, and got float 1.5"),
    "E0705": ("scale", 4, {**GIVEN, "y": Y.astype("float16")}, {"set": N}, "`D` is `f32`"),
    "E0706": ("scale", 4, {**GIVEN, "y": np.zeros((4, 7), "float32")}, {"set": N}, "[4, 8] is needed"),
    "E0707": ("scale", (1, 2, 3, 4), GIVEN, {"set": N}, "is no grid"),
    "E0710": ("scale", 4, GIVEN, {}, "the constant `N` of `scale` has no value"),
    "E0711": ("beyond", 2, {"x": X, "y": np.zeros(13, "float32"), "n": 13}, {}, "in program (1, 0, 0), lane [5]"),
    "E0713": ("asserts", 2, {"x": np.array([1, 2, 3, 4, 5, -6, 7, -8], np.int32)}, {}, "lane [1]; 2 lanes"),
    "E0714": ("assembles", 1, {"x": np.zeros(1, np.int32)}, {}, "it needs a GPU"),
    "E0717": ("waits", 3, {"flag": np.zeros(1, np.int32)}, {}, "in program (1, 0, 0)"),
}


@pytest.mark.parametrize("code", MISTAKES)
def test_what_cannot_be_run_is_said(path: Path, code: str) -> None:
    kernel, grid, arguments, options, words = MISTAKES[code]
    report = report_of(path, kernel, grid, arguments, **options)
    assert f"error[{code}]" in report
    assert words in report


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({**GIVEN, "rows": 2**31}, "takes a number of `i32`, and got int 2147483648"),
        ({**GIVEN, "rows": True}, "takes a number of `i32`, and got bool True"),
        ({**GIVEN, "factor": X}, "takes a number, and got an array of shape (4, 8) and type float32"),
        ({**GIVEN, "x": X.astype("complex64")}, "an array of type complex64, which the language has not"),
        ({**GIVEN, "x": X.astype("int32")}, "`D` is a float"),
        ({**GIVEN, "x": X[:3]}, "the shape [3, 8], and [4, 8] is needed"),
        ((X, Y, 4, 1.0, 5), "5 arguments, and it has 4 parameters"),
    ],
)
def test_arguments_that_do_not_fit(path: Path, arguments: Any, words: str) -> None:
    assert words in report_of(path, "scale", 4, arguments, set=N)


@pytest.mark.parametrize("grid", [(), (1, 2, 3, 4), -1, (2, -1), 1.5, "4", (1, "2")])
def test_what_is_no_grid(path: Path, grid: Any) -> None:
    assert "error[E0707]" in report_of(path, "scale", grid, GIVEN, set=N)


def test_loops_that_end_are_not_taken_for_others(path: Path) -> None:
    x = np.zeros(1, np.int32)
    assert "error[E0717]" in report_of(path, "stands", 1, {"x": x, "n": 5, "step": 0})
    teenyc.run(path, "stands", 1, {"x": x, "n": 5000, "step": 1})
    assert x[0] == 5000
    teenyc.run(path, "waits", 3, {"flag": np.ones(1, np.int32)})


def test_a_read_only_array_is_not_written(path: Path) -> None:
    locked = np.zeros((4, 8), np.float32)
    locked.flags.writeable = False
    assert "error[E0714]" in report_of(path, "scale", 4, {**GIVEN, "y": locked}, set=N)
    assert not locked.any()


def test_a_source_with_mistakes_is_a_compile_error(path: Path) -> None:
    with pytest.raises(teenyc.CompileError, match="power of two"):
        teenyc.run(path, "scale", 4, GIVEN, set={"N": 7})


# ---- the command ----------------------------------------------------------------------------------------------------

COMMANDS = {
    "E0707": ["scale", "--grid", "0"],
    "E0708": ["scale", "--arg", "x=__import__('os')"],
    "E0712": ["rereads", "--grid", "5", "--arg", "scratch=empty(8)", "--arg", "y=zeros(1)"],
    "E0711": ["beyond", "--grid", "3", "--arg", "x=ones(24)", "--arg", "y=zeros(16)", "--arg", "n=24"],
}


@pytest.mark.parametrize("code", COMMANDS)
def test_the_command_reports_and_ends_with_1(path: Path, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    kernel, *options = COMMANDS[code]
    assert (
        main(
            ["run", str(path), kernel, *options, "--set", "N=8"]
            if kernel == "scale"
            else ["run", str(path), kernel, *options]
        )
        == 1
    )
    captured = capsys.readouterr()
    assert f"error[{code}]" in captured.err
    assert "Traceback" not in captured.err
    assert not captured.out


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("ones(2, -3)", "whole numbers that are not negative"),
        ("full(4)", "the extents"),
        ("full()", "a number is missing"),
        ("ones(4, a)", "`a` is no number"),
        ("nothing.npy", "No such file"),
        ("[1, 2]", "it is no number"),
        ("ones(99999999999999)", "unable to allocate"),
        ("randint(1, 1, 4)", "low >= high"),
    ],
)
def test_forms_that_are_none(path: Path, form: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    if form == "full(4)":
        form, words = "full(4.5, 4)", "the extents"
    assert main(["run", str(path), "scale", "--set", "N=8", "--arg", f"x={form}"]) == 1
    error = capsys.readouterr().err
    assert "error[E0708]" in error
    assert words in error


def test_usage_is_another_mistake(path: Path) -> None:
    for options in (["--grid", "a"], ["--arg", "x"], ["--set", "N"], ["--seed", "-1"]):
        assert main(["run", str(path), "scale", *options]) == 2


def test_without_numpy_it_says_what_to_install(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert main(["run", str(path), "scale"]) == 1
    assert re.search(rf"error\[{NumpyMissing.code}\]", capsys.readouterr().err)  # E0709


def test_every_function_without_a_reference_is_known() -> None:
    from teenyc.evaluate.calls import FAMILIES, HANDLERS

    gpu_only = {r.name for r in TABLE.values() if r.reference is None} - HANDLERS.keys()
    assert {n for n in gpu_only if TABLE[n].family not in FAMILIES} == {"inline_asm_elementwise"}
