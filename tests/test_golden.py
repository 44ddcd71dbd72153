"""The whole compiler: each case in `golden/` owns the module that is generated from it, to the byte."""

from __future__ import annotations

import ast
import hashlib
import itertools
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cases import TESTS, Case, case_id, cases, orphans

from teenyc import compile_source
from teenyc.resources import kernels_directory

CASES = cases("golden")
BUNDLED = [Case(path, path.read_text(encoding="utf-8")) for path in sorted(kernels_directory().glob("*.tk"))]
every_source = pytest.mark.parametrize("case", CASES + BUNDLED, ids=lambda c: c.path.stem)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_module_is_as_blessed(case: Case, expect_file: Callable[[Path, str], None]) -> None:
    expect_file(case.expected(".py"), _source(case))


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_case_says_what_it_shows(case: Case) -> None:
    assert case.summary


def test_every_file_belongs_to_a_case() -> None:
    assert not orphans("golden", ".py")


@every_source
def test_module_is_valid_python(case: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # an escape that Python does not know warns
        compile(_source(case), case.path.name, "exec", ast.PyCF_ONLY_AST)


@every_source
def test_no_line_is_over_120_columns(case: Case) -> None:
    assert [line for line in _source(case).splitlines() if len(line) > 120] == []


def test_ruff_finds_nothing(tmp_path: Path) -> None:
    for case in CASES + BUNDLED:
        (tmp_path / f"{case.path.stem}.py").write_text(_source(case), encoding="utf-8")
    command = ["ruff", "check", "--isolated", "--no-cache", "--line-length=120", "--select=E,F,W,I", "."]
    done = subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_bytes_do_not_depend_on_hash_seed_folder_or_locale() -> None:
    program = (
        "import hashlib, json, sys, teenyc\n"
        "from pathlib import Path\n"
        "jobs = json.load(sys.stdin)\n"
        "texts = {n: teenyc.compile_source(t, name=Path(n).name).source for n, t in jobs.items()}\n"
        "print(json.dumps({n: hashlib.sha256(t.encode()).hexdigest() for n, t in texts.items()}))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "LANG": "C", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    environment["PYTHONPATH"] = str(TESTS.parent)
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps({str(case.path): case.text for case in CASES + BUNDLED if not case.directive("options")}),
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    for case in CASES + BUNDLED:
        if not case.directive("options"):
            digest = hashlib.sha256(_source(case).encode()).hexdigest()
            assert json.loads(done.stdout)[str(case.path)] == digest, case.path


def test_modules_compile_for_a_gpu(tmp_path: Path) -> None:
    jobs = [job for case in CASES for job in _gpu_jobs(case, tmp_path)]
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, TESTS / "compile_for_gpu.py"],
        input=json.dumps(jobs),
        env={**environment, "TRITON_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    failures = json.loads(done.stdout)
    assert not failures, "\n".join(f"{name}: {words}" for name, words in failures.items())


def _source(case: Case) -> str:
    compiled = compile_source(case.text, name=case.path.name, options=case.options)
    assert compiled.source is not None, [d.message() for d in compiled.diagnostics]
    return compiled.source


def _gpu_jobs(case: Case, folder: Path) -> Iterator[dict[str, object]]:
    """One job for each combination of the values that the case's `compile:` line gives."""
    words = case.directive("compile")
    path = folder / f"{case.path.stem}.py"
    path.write_text(_source(case), encoding="utf-8")
    for values in itertools.product(*(value.split(",") for value in words.values())):
        chosen = dict(zip(words, values, strict=True))
        constants = {k: v for k, v in chosen.items() if not v[0].isalpha() or v in ("true", "false")}
        yield {
            "path": str(path),
            "constants": {k: v == "true" if v in ("true", "false") else int(v) for k, v in constants.items()},
            "dtypes": {k: v for k, v in chosen.items() if k not in constants},
            "has_parts": case.path.stem in ("tiled_attention", "tiled_products"),
        }
