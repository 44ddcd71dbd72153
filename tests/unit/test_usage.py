"""What a target lacks of what a block takes, and what the tools say of registers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from teenyc.diagnostics.model import Reporter
from teenyc.record import replace
from teenyc.runtime.fitting import form_of
from teenyc.runtime.signature import Signature
from teenyc.runtime.targets import TARGETS
from teenyc.runtime.usage import Usage, _by_the_assembly, shortages
from teenyc.source import Span

SMALL = Usage(shared_memory=1024, threads=128, tensor_memory=0, registers=32, spilled_bytes=0)


@pytest.mark.parametrize(
    ("target", "changes", "lacks"),
    [
        ("cuda:90", {}, []),
        ("cuda:90", {"registers": None, "spilled_bytes": None}, []),
        ("cuda:90", {"shared_memory": 232_448}, []),
        ("cuda:90", {"shared_memory": 232_449}, [("shared memory", 232_449, 232_448)]),
        ("cuda:89", {"shared_memory": 101_377}, [("shared memory", 101_377, 101_376)]),
        ("hip:gfx942", {"shared_memory": 65_537}, [("shared memory", 65_537, 65_536)]),
        ("cuda:90", {"threads": 1024, "registers": 64}, []),
        ("cuda:90", {"threads": 1024, "registers": 65}, [("registers", 73_728, 65_536)]),
        ("hip:gfx942", {"threads": 1024, "registers": 128}, []),
        ("hip:gfx942", {"threads": 2048}, [("threads", 2048, 1024)]),
        ("cuda:100", {"tensor_memory": 512}, []),
        ("cuda:100", {"tensor_memory": 576}, [("tensor memory", 576, 512)]),
    ],
)
def test_a_block_lacks_what_is_beyond_its_share(
    target: str, changes: dict[str, int | None], lacks: list[tuple[str, int, int]]
) -> None:
    found = shortages(replace(SMALL, **changes), TARGETS[target])
    assert [(each.what, each.needed, each.limit) for each in found] == lacks


def test_the_assembly_of_amd_tells_registers_and_memory() -> None:
    text = (
        "    .private_segment_fixed_size: 24\n    .sgpr_count: 16\n    .vgpr_count:     40\n    .vgpr_spill_count: 6\n"
    )
    assert _by_the_assembly(SimpleNamespace(asm={"amdgcn": text})) == (40, 24)
    assert _by_the_assembly(SimpleNamespace(asm={"amdgcn": "no metadata"})) == (None, None)


@pytest.mark.parametrize(
    ("spilled", "lacking", "likely", "chosen", "compiled"),
    [
        ([0, 0, 0], (), 3, 0, 1),
        ([0, 0, 0], (0,), 3, 1, 2),
        ([600, 512, 0], (), 3, 1, 2),
        ([600, 700, 800], (), 3, 0, 3),
        ([600, 700, 0], (), 2, 0, 2),
        ([0, 700, 0], (0, 1), 2, 2, 3),
        ([0, 0, 0], (0, 1, 2), 2, None, 3),
    ],
)
def test_the_first_that_fits_and_spills_little_is_chosen(
    spilled: list[int], lacking: tuple[int, ...], likely: int, chosen: int | None, compiled: int
) -> None:
    """Those behind the likely ones are compiled only where none of these fits."""
    kernel = SimpleNamespace(name="k", span=Span(0, 1), tiling=None)
    signatures: Any = [
        Signature(kernel, "k", (), {}, {}, config={"N": n}, is_likely=n < likely)  # type: ignore[arg-type]
        for n in range(3)
    ]
    seen: list[int] = []

    def compile_one(signature: Signature, reporter: Reporter) -> Any:
        seen.append(n := signature.config["N"])
        text = f".vgpr_count: 8\n.private_segment_fixed_size: {spilled[n]}"
        metadata = SimpleNamespace(shared=2**20 if n in lacking else 0, num_warps=1)
        return SimpleNamespace(asm={"amdgcn": text}, metadata=metadata)

    reporter = Reporter()
    form = form_of(signatures, compile_one, TARGETS["hip:gfx942"], reporter)
    assert (None if form is None else form.chosen.signature.config["N"]) == chosen
    assert len(seen) == compiled
    codes = ["E0504"] if chosen is None else ["W0150"] if spilled[chosen] else []
    assert [report.code for report in reporter] == codes
