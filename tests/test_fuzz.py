"""Broken sources: whatever the text, the compiler reports or succeeds, soon, and what it gives out is Python.

Mutations of real kernels (`tests/soak/mutations.py`), from fixed seeds; `pytest --fuzz N` tries N of them, and
`python tests/soak/fuzz_sources.py` many more.
"""

from __future__ import annotations

import pytest
from fuzz_sources import try_seed, try_source

from teenyc import Options

BATCHES = 10


@pytest.mark.parametrize("batch", range(BATCHES))
def test_mutated_sources_are_reported_or_compile(batch: int, pytestconfig: pytest.Config) -> None:
    count = pytestconfig.getoption("--fuzz") // BATCHES
    for seed in range(batch * count, (batch + 1) * count):
        found = try_seed(seed).finding
        assert found is None, f"seed {seed}: {found.kind}\n{found.detail}\n{found.text.decode(errors='replace')}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "\ufeff",
        "\x00" * 100,
        "{" * 10_000,
        "(" * 10_000,
        "/*" * 10_000,
        "#[kernel] fn f() { " + "if true { " * 2_000,
        "#[kernel] fn f() { let x = " + "(" * 2_000 + "1" + ")" * 2_000 + "; }",
        "#[kernel] fn f(p: Pointer<i32>) { store(p, " + " + ".join(["1"] * 5_000) + "); }",
        "#[kernel] fn f(p: Pointer<i32>) { store(p, " + "-" * 5_000 + "1); }",
        "#[kernel] fn f() {" + " let x = 1;" * 5_000 + "}",
        "#[kernel] fn f() { g(" + "1, " * 10_000 + "); }",
        "#[kernel] fn f(" + "p: i32, " * 5_000 + ") {}",
        "\n".join(f"#[kernel] fn f{i}() {{}}" for i in range(1_500)),
        '"' * 9_999,
        "r#" * 10_000,
        "x" * 60_000,
        "#[kernel] fn f() { let x = " + "9" * 5_000 + "; }",
        "#[kernel] fn f<const N: i32>(p: Pointer<i32>) { store(p + " + "2 * (1 + " * 200 + "N" + ")" * 200 + ", 1); }",
    ],
    ids=lambda text: f"{text[:24]!r}x{len(text)}",
)
def test_extreme_sources_are_reported_or_compile(text: str) -> None:
    for options in (Options(), Options(generate=False)):
        found = try_source(text.encode(), options)[1]
        assert found is None, f"{found.kind}\n{found.detail}"


def test_a_kernel_that_denies_what_is_found_after_it_was_checked_has_no_module() -> None:
    text = "#[kernel(grid = [rows, 2], shape(y = []), deny(unproven))] fn f(y: Pointer<f32>, rows: i32) {}"
    text = text.replace("{}", "{ store(y, 1.0); }")
    assert try_source(text.encode(), Options()) == ("reported", None)
