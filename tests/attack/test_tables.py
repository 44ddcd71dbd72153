"""Tables of configurations, and what the tuner kept, under attack: what is no configuration is not launched."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest

import teenyc
from teenyc.runtime.tables import attach, write

SOURCE = """
#[kernel(tile)]
fn sums(x: Pointer<f32>, y: Pointer<f32>, n: i32) {
    let row = program_id(0);
    let mut total = 0.0f32;
    for k in 0..n {
        total += load(x + row * n + k);
    }
    store(y + row, total);
}
"""
ROW = {
    "kernel": "sums",
    "device": "some",
    "dtypes": ["f32", "f32"],
    "named": {},
    "sizes": [1, 1, 1, 1],
    "config": {"BLOCK_M": 16, "BLOCK_N": 16},
}
JUNK = [None, True, 0, -1, 1.5, 10**30, "", "__import__('os')", [], [[]], {}, {"BLOCK_M": "16"}, {"BLOCK_M": -16}]
JUNK += [{**ROW["config"], "BLOCK_M": value} for value in (0, -1, 1.5, True, None, "16", [16])]  # type: ignore[dict-item]
JUNK += [{**ROW["config"], "x": 1}, {"BLOCK_M": 16}, {**ROW["config"], "grid": 1}]  # type: ignore[dict-item]


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = tmp_path_factory.mktemp("tables") / "sums.tk"
    path.write_text(SOURCE)
    return teenyc.load(path)


def mutations() -> Iterator[dict[str, object]]:
    for name in ROW:
        yield {key: value for key, value in ROW.items() if key != name}
        for junk in JUNK:
            yield {**ROW, name: junk}


def test_no_row_but_of_a_configuration_is_taken(module: ModuleType, tmp_path: Path) -> None:
    """Each is refused, or left out, or it is one."""
    table = tmp_path / "sums.tuned.json"
    outcomes = set()
    for row in mutations():
        table.write_text(json.dumps({"format": 1, "rows": [row]}))
        module.sums.tables.clear()
        with suppress(ValueError):
            attach(module, tmp_path / "sums.tk")
            outcomes.add("read")
        taken = module.sums.tables
        outcomes.update(["taken"] if taken else [])
        for each in taken:
            config = each["config"]
            assert config is None or config.keys() >= {"BLOCK_M", "BLOCK_N"}
            assert all(type(value) is int and value > 0 for value in (config or {}).values())
    module.sums.tables.clear()
    assert outcomes == {"read", "taken"}


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, '{"format": 1}', '{"format": 1, "rows": 3}', "\xff", "1" * 9999]
)
def test_what_is_no_table_is_refused_each_time(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sums.tk"
    path.write_text(SOURCE + "//" + text[:5].replace("\n", ""))
    (tmp_path / "sums.tuned.json").write_bytes(text.encode("latin-1"))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"sums\.tuned\.json is no table"):
            teenyc.load(path)


def test_a_table_is_not_written_through_what_is_planted(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for name in (f"sums.tuned.json.{os.getpid()}", "elsewhere"):
        (tmp_path / name).symlink_to(precious)
    write(str(tmp_path / "sums.tuned.json"), [ROW])
    assert precious.read_text() == "precious"
    assert json.loads((tmp_path / "sums.tuned.json").read_text())["rows"] == [ROW]
