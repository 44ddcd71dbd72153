"""What a candidate may gain is known before it is tried; what cannot win is not tried; a kernel is analysed once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from teenyc.driver import Options, compile_source, run_passes
from teenyc.ir.axes import AxisInfo, axes
from teenyc.ir.expand import expanded
from teenyc.ir.nodes import Kernel
from teenyc.tiling import analyses, choose, gain, tile
from teenyc.tiling.analyses import Analyses
from teenyc.tiling.choose import Candidate
from teenyc.tiling.normal import normal
from teenyc.tiling.plan import Refusal
from teenyc.tiling.tile import Tiled

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*ROOT.glob("kernels/*.tk"), *ROOT.glob("tests/plans/*.tk"), *ROOT.glob("tests/run/*.tk")])


def kernels(text: str) -> Iterator[Kernel]:
    """The kernels of a source as tiling gets them."""
    checked = compile_source(text, options=Options(generate=False)).checked
    assert checked is not None
    program = run_passes(checked, before="tile")
    functions = {f.name: f for f in program.functions}
    yield from (expanded(kernel, functions).kernel for kernel in program.kernels)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_plan_gains_more_than_its_limit(path: Path) -> None:
    for kernel in map(normal, kernels(path.read_text())):
        source, candidates = Analyses.of(kernel), choose.candidates(kernel)
        for each in () if isinstance(candidates, Refusal) else candidates:
            found = tile._tried(source, each)
            if not isinstance(found, Refusal):
                assert gain.gain(source, found.plan) <= gain.most(source, each.programs, each.axes)


def limits(body: str) -> list[float]:
    (kernel,) = kernels(f"#[kernel(tile)]\nfn f(x: Pointer<f32>, y: Pointer<f32>, n: i32) {{\n{body}\n}}\n")
    source, candidates = Analyses.of(normal(kernel)), choose.candidates(normal(kernel))
    assert not isinstance(candidates, Refusal)
    return [gain.most(source, each.programs, each.axes) for each in candidates]


SUM = """
    let row = program_id(0);
    let lane = arange(0, 64);
    let mut total = zeros::<f32>(&[64]);
    for k in 0..n { total += load(x + row * n + k) * (WEIGHT); }
    store(y + row * 64 + lane, total);
"""


def test_a_row_that_all_numbers_have_gains_no_product() -> None:
    loops_alone, rows = limits(SUM.replace("WEIGHT", "load(y + (row * n + k) * 64 + lane)"))
    assert loops_alone < float("inf")
    assert rows < float("inf")


@pytest.mark.parametrize(
    "weight",
    [
        "load(y + k * 64 + lane)",
        "cos((k * lane) as f32)",
        "where_(lane <= k, 1.0, 0.0)",
        "if k > 3 { load(y + lane + k) } else { load(y + lane) }",
    ],
)
def test_weights_that_lack_the_row_may_be_multiplied_as_matrices(weight: str) -> None:
    assert limits(SUM.replace("WEIGHT", weight))[1] == float("inf")


def test_the_bundled_kernels_are_analysed_and_tried_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    analysed: list[str] = []
    tried: list[str] = []
    attempt = tile._tried

    def noted_axes(kernel: Kernel) -> Mapping[int, AxisInfo]:
        analysed.append(kernel.name)
        return axes(kernel)

    def noted_attempt(source: Analyses, candidate: Candidate) -> Tiled | Refusal:
        tried.append(source.kernel.name)
        return attempt(source, candidate)

    monkeypatch.setattr(analyses, "axes", noted_axes)
    monkeypatch.setattr(tile, "_tried", noted_attempt)
    text = (ROOT / "kernels" / "flash_attn2.tk").read_text()
    compiled = compile_source(text)
    names = [kernel.name for kernel in compiled.kernels]
    assert len(names) == 3
    first, second, last = ([name, f"{name}_parts"] for name in names)  # each, and where programs share its loop
    last[1:1] = [f"{names[2]}_rows", names[2]]  # one runs before, and the last loads from it
    assert analysed == tried == [*first, *second, *last]
