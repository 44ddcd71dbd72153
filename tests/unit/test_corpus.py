"""`benchmarks/corpus.py`: what it prints of a folder, and that the compiler's work grows with the source."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from teenyc.driver import compile_source
from teenyc.resources import kernels_directory

SCRIPT = Path(__file__).parent.parent.parent / "benchmarks" / "corpus.py"


@pytest.fixture(scope="module")
def corpus() -> ModuleType:
    spec = importlib.util.spec_from_file_location("corpus", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["corpus"] = module
    spec.loader.exec_module(module)
    return module


def run(corpus: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["corpus.py", *arguments])
    status: int = corpus.main()
    return status


def test_every_bundled_kernel_reaches_every_stage(
    corpus: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(corpus, monkeypatch, str(kernels_directory()), "--no-target") == 0
    total = capsys.readouterr().out.splitlines()[-1].split()
    assert total[1] == "files"
    parsed, checked, emitted, compiled = map(int, total[3:7])
    assert parsed == checked == emitted > 0
    assert compiled == 0


def test_a_fault_is_told_and_host_code_is_left_out(
    corpus: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "host.rs").write_text("//! Says #[kernel] and has none.\npub fn host() -> usize { 1 }\n")
    (tmp_path / "wrong.tk").write_text("\n#[kernel]\nfn wrong(x: Pointer<f32>) { store(x, scal); }\n")
    assert run(corpus, monkeypatch, str(tmp_path), "--no-target") == 1
    out = capsys.readouterr().out
    assert "host.rs" not in out
    assert "wrong.tk: wrong.tk:3:38: error[E0201]" in out


def test_constants_satisfy_what_the_kernel_requires(corpus: ModuleType) -> None:
    text = """
#[kernel]
fn product<const M: i32, const TIMES: i32>(x: Pointer<f32>) {
    let at = arange(0, M)[(.., None)] * M + arange(0, M)[(None, ..)];
    let mut a = load(x + at);
    for i in 0..TIMES { a = dot(a, a); }
    store(x + at, a);
}
"""
    (kernel,) = compile_source(text).kernels
    rules = corpus._rules([kernel])
    values = [corpus._value(constant, rules[constant.name], {"TIMES": "7"}) for constant in kernel.constants]
    assert values == [32, 7]


def test_work_grows_with_the_number_of_statements(corpus: ModuleType) -> None:
    """Function calls, which are the same in every run, of a kernel and of one of four times its size."""
    compile_source(corpus._one_kernel(50))  # what is loaded and cached once
    small, large = (calls_of(corpus._one_kernel(n)) for n in (250, 1000))
    assert large < 4.4 * small


REPORTED = """
#[kernel]
fn reported_{}<const N: i32>(x: Pointer<f32>, y: Pointer<f16>, n: i32) {{
    let at = program_id(0) * N + arange(0, N);
    let is_inside = at < n;
    let mut total = zeros::<f16>(&[N]);
    for k in 0..n {{ total += load(y + at + k); }}
    let last = load(x + at, mask = Some(at < n), other = 0.0);
    store(y + at, total + (last + max(last)) as f16, mask = Some(0 < 1));
}}
"""


@pytest.mark.parametrize("other", [", other = 0.0", ""], ids=["lints", "errors"])
def test_work_grows_with_the_number_of_kernels_that_have_reports(other: str) -> None:
    def text(kernels: int) -> str:
        return "".join(REPORTED.format(n).replace(", other = 0.0", other) for n in range(kernels))

    reports = compile_source(text(1)).diagnostics
    assert len(reports) > (2 if other else 0)
    assert any(report.fix() is not None for report in reports)
    small, large = (calls_of(text(n), is_right=bool(other)) for n in (10, 40))
    assert large < 4.4 * small


def calls_of(text: str, *, is_right: bool = True) -> int:
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        compiled = compile_source(text)
    finally:
        sys.setprofile(None)
    assert (compiled.source is not None) == is_right
    return calls
