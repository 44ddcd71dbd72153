"""`teenyc.run` and `teenyc run`: arrays of every kind are written in place, and shapes say what is left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import teenyc
from teenyc.cli import main

SOURCE = """
/// Rows, scaled and shifted by a stride of the caller's.
#[kernel(grid = [rows], shape(x = [rows, cols]))]
fn scale<D: Float, const N: i32>(
    x: Pointer<D>, y: Pointer<D>, rows: i32, cols: i32, stride: i32, step: i32, factor: f32
) {
    let row = program_id(0);
    let lane = arange(0, N);
    let inside = lane < cols;
    let v = load(x + row * cols + lane, mask = inside, other = 0.0);
    store(y + row * stride + lane * step, v * factor, mask = inside);
}

#[kernel(grid = [rows], shape(x = [rows, 4], y = [rows]))]
fn sums<D: Num>(x: Pointer<D>, y: Pointer<D>, rows: i32) {
    let row = program_id(0);
    store(y + row, sum(load(x + row * 4 + arange(0, 4))) as D);
}
"""
N = {"N": 8}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("run") / "scale.tk"
    file.write_text(SOURCE, encoding="utf-8")
    return file


def given(x: Any, y: Any, **others: Any) -> dict[str, Any]:
    return {"x": x, "y": y, "stride": 5, "step": 1, "factor": 0.5, **others}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_arrays_of_numpy_are_written_in_place(path: Path, dtype: str) -> None:
    x, y = np.random.default_rng(0).standard_normal((3, 5)).astype(dtype), np.zeros((3, 5), dtype)
    teenyc.run(path, "scale", None, given(x, y), set=N)
    np.testing.assert_array_equal(y, x * np.dtype(dtype).type(0.5))


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn, torch.float8_e5m2]
)
def test_tensors_of_torch_are_written_in_place(path: Path, dtype: torch.dtype) -> None:
    x, y = torch.randn(3, 5).to(dtype), torch.zeros(3, 5).to(dtype)
    teenyc.run(path, "scale", 3, given(x, y), set=N)
    assert torch.equal(y.float(), (x.float() * 0.5).to(dtype).float())


def test_arrays_of_ml_dtypes_are_written_in_place(path: Path) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2fnuz):
        x = np.random.default_rng(0).standard_normal((3, 5)).astype(dtype)
        y = np.zeros_like(x)
        teenyc.run(path, "scale", 3, given(x, y), set=N)
        np.testing.assert_array_equal(y.astype("float32"), (x.astype("float32") / 2).astype(dtype).astype("float32"))


def test_views_are_written_where_they_are(path: Path) -> None:
    x, whole = np.arange(15, dtype="float32").reshape(3, 5), np.full((6, 10), -1, np.float32)
    teenyc.run(path, "scale", 3, given(x, whole[::2, ::2], stride=20, step=2), set=N)
    expected = np.full((6, 10), -1, np.float32)
    expected[::2, ::2] = x / 2
    np.testing.assert_array_equal(whole, expected)
    backwards = np.zeros((3, 5), np.float32)
    teenyc.run(path, "scale", 3, given(x, backwards[:, ::-1], step=-1), set=N)
    np.testing.assert_array_equal(backwards[:, ::-1], x / 2)


def test_arguments_in_order(path: Path) -> None:
    x, y = np.arange(8, dtype="int32").reshape(2, 4), np.zeros(2, "int32")
    teenyc.run(path, "sums", (2,), [x, y])
    assert y.tolist() == [6, 22]
    teenyc.run(path, "sums", np.int64(2), [x, y])
    teenyc.run(path, "sums", 0, [x, np.zeros(2, "int32"), 2])  # no program at all


# ---- the command ----------------------------------------------------------------------------------------------------


def test_what_was_written_is_printed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(path), "sums", "--arg", "x=full(2, 4, 1.5)"]) == 0
    assert capsys.readouterr().out == "y: f32 [2]\n[6. 6.]\n"
    assert main(["run", str(path), "sums", "--arg", "x=arange(2, 4)", "--dtype", "D=u8", "--grid", "1"]) == 0
    assert capsys.readouterr().out == "y: u8 [2]\n[6 0]\n"


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f8e5m2", "f64"])
def test_what_was_written_is_saved_and_read_again(
    path: Path, tmp_path: Path, dtype: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--dtype", f"D={dtype}", "--save", str(tmp_path / "out"), "--seed", "7"]
    assert main(["run", str(path), "sums", "--arg", "x=randn(3,4)", *options]) == 0
    assert f"y.npy: {dtype} [3]" in capsys.readouterr().out
    saved = np.load(tmp_path / "out" / "y.npy")
    assert saved.dtype == {"f16": np.float16, "f64": np.float64}.get(dtype, np.float32)
    np.save(tmp_path / "x.npy", np.stack([saved] * 4, axis=1).T.copy().T)  # in the order of Fortran
    assert main(["run", str(path), "sums", "--arg", f"x={tmp_path / 'x.npy'}", *options]) == 0
    again = np.load(tmp_path / "out" / "y.npy")
    np.testing.assert_allclose(again.astype("float64"), 4 * saved.astype("float64"), rtol=0.1)


def test_random_numbers_are_those_of_the_seed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def printed(*options: str) -> str:
        assert main(["run", str(path), "sums", "--arg", "x=randn(3,4)", *options]) == 0
        return capsys.readouterr().out

    assert printed() == printed("--seed", "0") != printed("--seed", "1")


def test_building_needs_no_numpy(path: Path, tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['numpy'] = None\n"
        "from teenyc.cli import main\n"
        f"sys.exit(main(['build', {str(path)!r}, '-o', {str(tmp_path)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "scale.py").exists()
