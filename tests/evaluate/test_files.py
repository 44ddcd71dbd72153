"""Files of NumPy as arguments: any order of bytes and axes, no axes, no elements; what holds anything else is said."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import teenyc
from teenyc.cli import main

DOUBLES = """
#[kernel(grid = [rows, columns], shape(x = [rows, columns], y = [rows, columns]))]
fn doubles<D: Num>(x: Pointer<D>, y: Pointer<D>, rows: i32, columns: i32) {
    let at = program_id(0) * columns + program_id(1);
    store(y + at, load(x + at) + load(x + at));
}

#[kernel(grid = [n], shape(x = [n], y = [n]))]
fn of_one_axis<D: Num>(x: Pointer<D>, y: Pointer<D>, n: i32) {
    let at = program_id(0);
    store(y + at, load(x + at) + load(x + at));
}
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("files") / "doubles.tk"
    file.write_text(DOUBLES, encoding="utf-8")
    return file


def run(path: Path, kernel: str, file: Path, out: Path, *options: str) -> int:
    return main(["run", str(path), kernel, "--arg", f"x={file}", "--save", str(out), *options])


@pytest.mark.parametrize("dtype", ["<f4", ">f4", ">f8", ">i4", ">u2", "<i8", "f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_files_are_read_in_any_order(path: Path, tmp_path: Path, dtype: str, order: Any) -> None:
    x = np.arange(6).reshape(2, 3).astype(dtype, order=order)
    np.save(tmp_path / "x.npy", x)
    assert run(path, "doubles", tmp_path / "x.npy", tmp_path) == 0
    found = np.load(tmp_path / "y.npy")
    assert found.dtype == x.dtype.newbyteorder("=")
    np.testing.assert_array_equal(found, 2 * x)


def test_one_number_and_none(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.array(3.5))
    assert run(path, "of_one_axis", tmp_path / "x.npy", tmp_path) == 0
    assert np.load(tmp_path / "y.npy").tolist() == [7.0]
    np.save(tmp_path / "x.npy", np.zeros(0, ">f8"))
    assert run(path, "of_one_axis", tmp_path / "x.npy", tmp_path, "--arg", "y=empty(0)") == 0
    assert "nothing was written" in capsys.readouterr().out


OTHERS: dict[str, tuple[Any, str]] = {
    "objects": (np.array([1, None], object), "objects of Python, which are not loaded"),
    "records": (np.zeros(2, [("a", "f4"), ("b", "i4")]), "which the language has not"),
    "complex": (np.zeros(2, "c8"), "an array of type complex64"),
    "texts": (np.array(["a"]), "an array of type <U1"),
    "long": (np.zeros(2, np.longdouble), "which the language has not"),
    "several": ({"a": np.zeros(2)}, "it holds several arrays"),
    "pickle": (pickle.dumps([1]), "it is no file of NumPy"),
    "nothing": (b"", "it is no file of NumPy"),
    "half": (b"\x93NUMPY", "cannot read"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_array_of_numbers_is_said(
    path: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    held, words = OTHERS[name]
    file = tmp_path / f"{name}.npy"
    if isinstance(held, bytes):
        file.write_bytes(held)
    elif isinstance(held, dict):
        with file.open("wb") as opened:
            np.savez(opened, **held)
    else:
        np.save(file, held, allow_pickle=True)
    assert run(path, "of_one_axis", file, tmp_path) == 1
    error = capsys.readouterr().err
    assert "error[E0708]" in error
    assert words in error
    assert "bug" not in error


def test_arrays_in_another_order_of_bytes_are_said(path: Path) -> None:
    x = np.arange(4, dtype=">f4")
    with pytest.raises(teenyc.RunError, match="bytes in another order"):
        teenyc.run(path, "of_one_axis", None, {"x": x, "y": np.zeros(4, "f")})
    same, y = x.astype(x.dtype.newbyteorder("=")), np.zeros(4, "f")
    teenyc.run(path, "of_one_axis", None, {"x": same, "y": y})
    assert y.tolist() == [0, 2, 4, 6]
