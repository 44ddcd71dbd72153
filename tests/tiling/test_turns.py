"""In which order programs take blocks: in groups along two axes, the longest first, or as the grid has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch
from blocked import close, written
from called import planned
from meaning import module_of
from memory import surrounded

from teenyc.runtime.tables import attach, write
from teenyc.tiling.plan import Grouped, LastFirst, Plan

PRODUCT = """
#[kernel(tile{configs})]
fn product(a: Pointer<f32>, b: Pointer<f32>, c: Pointer<f32>, k_size: i32) {{
    let row = program_id({row});
    let column = program_id({column});
    let columns = num_programs({column});
    let mut total = 0.0;
    for k in 0..k_size {{
        total += load(a + row * k_size + k) * load(b + k * columns + column);
    }}
    store(c + row * columns + column, total);
}}
"""

SUM = """
#[kernel(tile)]
fn sums(a: Pointer<f32>, b: Pointer<f32>, c: Pointer<f32>, keys: i32) {{
    {index}
    let mut total = 0.0;
    for key in {bounds} {{
        total += load(a + row * keys + key) * load(b + key);
    }}
    store(c + row, total);
}}
"""


def _order(source: str) -> Grouped | LastFirst | None:
    plan = planned(source)
    assert isinstance(plan, Plan), plan.reason
    return plan.order


def _product(row: int = 0, column: int = 1, configs: str = "") -> str:
    return PRODUCT.format(row=row, column=column, configs=configs)


def _sums(bounds: str, index: str = "let row = program_id(0);") -> str:
    return SUM.format(bounds=bounds, index=index)


# ---- plans ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("row", "column", "size"), [(0, 1, "GROUP_N"), (1, 0, "GROUP_M"), (1, 2, "GROUP_N")])
def test_a_group_goes_along_the_axis_that_is_launched_last(row: int, column: int, size: str) -> None:
    order = _order(_product(row, column))
    if 0 not in (row, column):
        assert order is not None  # the kernel asks for no index along the first axis
    assert isinstance(order, Grouped)
    assert (order.outer.id, order.inner.id, order.size) == (max(row, column), min(row, column), size)


def test_a_batch_behind_both_axes_stays_behind_and_one_before_or_between_them_keeps_the_order_of_the_grid() -> None:
    def batched(batch: int, row: int, column: int) -> str:
        text = _product(row, column).replace("k_size: i32", "k_size: i32, rows: i32")
        text = text.replace("let mut", f"let batch = program_id({batch});\n    let mut")
        text = text.replace("load(a + row", "load(a + (batch * rows + row)")
        return text.replace("load(b + k ", "load(b + (batch * k_size + k) ").replace(
            "store(c + row", "store(c + (batch * rows + row)"
        )

    assert isinstance(_order(batched(2, 0, 1)), Grouped)
    assert _order(batched(1, 0, 2)) is None
    assert _order(batched(0, 1, 2)) is None


@pytest.mark.parametrize(
    ("bounds", "is_turned"),
    [
        ("0..row + 1", True),
        ("0..minimum(row + 1, keys)", True),
        ("minimum(9, keys) - row..keys", True),
        ("0..keys", False),
        ("row..keys", False),
        ("0..keys - row", False),
        ("maximum(row - 9, 0)..minimum(row + 1, keys)", False),  # as long in the middle as at the end
        ("0..minimum(row * row, keys)", False),  # which may wrap
    ],
)
def test_the_last_rows_come_first_where_loops_only_get_longer(bounds: str, is_turned: bool) -> None:
    order = _order(_sums(bounds).replace("#[kernel(tile)]", "#[kernel(tile(row, key))]"))
    assert isinstance(order, LastFirst) == is_turned
    assert order is None or (isinstance(order, LastFirst) and order.loop == "key")


def test_loops_that_get_longer_beside_such_that_get_shorter_stay_in_order() -> None:
    shorter = "for later in row..keys {\n        total += load(b + later);\n    }\n    store(c + row, total)"
    source = _sums("0..row + 1").replace("#[kernel(tile)]", "#[kernel(tile(row, {}))]")
    assert isinstance(_order(source.replace("{}", "key")), LastFirst)
    assert _order(source.replace("{}", "key, later").replace("store(c + row, total)", shorter)) is None


def test_an_index_that_is_taken_apart_stays_in_order(tmp_path: Path) -> None:
    index = "let pid = program_id(0);\n    let head = pid / rows;\n    let row = pid % rows;"
    source = """
    #[kernel(tile)]
    fn heads<const N: i32>(a: Pointer<f32>, b: Pointer<f32>, c: Pointer<f32>, rows: i32) {
        INDEX
        let lane = arange(0, N);
        let mut acc = zeros::<f32>(&[N]);
        for k in 0..row + 1 {
            acc += load(a + (head * rows + row) * rows + k) * load(b + (head * rows + k) * N + lane);
        }
        store(c + (head * rows + row) * N + lane, acc);
    }
    """
    plan = planned(source.replace("INDEX", index))
    assert isinstance(plan, Plan)
    assert plan.programs[0].is_part
    assert plan.order is None
    two_axes = "let row = program_id(0);\n        let head = program_id(1);"
    assert isinstance(_order(source.replace("INDEX", two_axes)), LastFirst)


# ---- numbers --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    configs = ", configs = [config(BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 16, GROUP_N = 3)]"
    text = _product(configs=configs) + _product(1, 0).replace("fn product", "fn turned") + _sums("0..row + 1")
    text += _product(1, 2).replace("fn product", "fn behind")
    return module_of(text, tmp_path_factory.mktemp("turns"), "turns")


@pytest.mark.parametrize("name", ["product", "turned"])
@pytest.mark.parametrize("group", [None, 1, 2, 3, 8])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (70, 50), (20, 100)])
def test_all_blocks_are_computed(
    module: ModuleType, device: str, name: str, group: int | None, rows: int, columns: int
) -> None:
    """Of 1, 5 and 2 by 1, 4 and 7 blocks, in groups that divide these, that do not, and that are larger."""
    kernel = getattr(module, name)
    a, b = (surrounded(torch.randn(*shape).double(), torch.float32, device) for shape in ((rows, 7), (7, columns)))
    grid = (rows, columns) if name == "product" else (columns, rows)
    size = {} if group is None else {"GROUP_N" if name == "product" else "GROUP_M": group}
    blocks = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, **size}
    given = {"a": a, "b": b, "k_size": 7}

    def launch(kernel: object, grid: tuple[int, ...], **named: object) -> None:
        kernel[grid](**named, **blocks)  # type: ignore[index]

    got = written(launch, kernel, grid, given, {"c": ((rows, columns), torch.float32)})
    close(got["c"], (a.double() @ b.double()).cpu(), 1e-5)


@pytest.mark.parametrize(("name", "is_grouped"), [("product", True), ("behind", False)])
def test_programs_that_share_a_loop(module: ModuleType, device: str, name: str, is_grouped: bool) -> None:
    """The kernel of parts, whose own axis may lie before the others, is given a group only where it has any."""
    kernel = getattr(module, name)
    a, b = (surrounded(torch.randn(*shape).double(), torch.float32, device) for shape in ((20, 40), (40, 50)))
    grid = (20, 50) if name == "product" else (1, 20, 50)
    blocks = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "SPLIT": 2}

    def launch(kernel: object, grid: tuple[int, ...], **named: object) -> None:
        kernel[grid](**named, **blocks)  # type: ignore[index]

    got = written(launch, kernel, grid, {"a": a, "b": b, "k_size": 40}, {"c": ((20, 50), torch.float32)})
    close(got["c"], (a.double() @ b.double()).cpu(), 1e-5)
    assert ("GROUP_N" in kernel.tiled.parts.arg_names) == is_grouped


@pytest.mark.parametrize("rows", [1, 16, 50])
def test_the_last_rows_first(module: ModuleType, device: str, rows: int) -> None:
    a, b = (surrounded(torch.randn(*shape).double(), torch.float32, device) for shape in ((rows, rows), (rows,)))
    given = {"a": a, "b": b, "keys": rows}

    def launch(kernel: object, grid: tuple[int, ...], **named: object) -> None:
        kernel[grid](**named, BLOCK_M=16, BLOCK_N=16)  # type: ignore[index]

    got = written(launch, module.sums, (rows,), given, {"c": ((rows,), torch.float32)})
    close(got["c"], (a.double().tril() @ b.double()).cpu(), 1e-5)


def test_the_kernel_as_written_is_given_no_group(module: ModuleType, device: str) -> None:
    """Where what is written overlaps what is read, whatever the launch names."""
    memory = torch.ones(16, device=device)
    blocks = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "GROUP_N": 2}
    module.product[(1, 1)](memory[:4], memory[4:8], memory[3:4], 4, **blocks)
    assert memory[3] == 4
    assert "GROUP_N" not in module.product.plain.arg_names


def test_a_table_may_say_of_a_group(module: ModuleType, tmp_path: Path) -> None:
    row = {"kernel": "product", "device": "GPU", "dtypes": ["f32"] * 3, "named": {}, "sizes": [4, 4, 1, 4]}
    blocks = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16}
    configs = [blocks, {**blocks, "GROUP_N": 4}, {**blocks, "GROUP_M": 4}]
    write(str(tmp_path / "turns.tuned.json"), [{**row, "sizes": [n], "config": c} for n, c in enumerate(configs)])
    attach(module, tmp_path / "turns.tk")
    assert [row["config"] for row in module.product.tables] == configs[:2]
    module.product.tables.clear()


def test_what_a_configuration_says_of_a_group(module: ModuleType, device: str) -> None:
    facts = module.TEENYC["kernels"]["product"]["tiled"]
    assert facts["defaults"] == {"GROUP_N": 8}
    assert facts["constants"] == ["BLOCK_M", "BLOCK_N", "BLOCK_K"]
    assert [config["GROUP_N"] for config in facts["configs"]] == [3]
    given = [torch.ones(16, 16, device=device) for _ in range(3)]
    blocks = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16}
    found: list[int] = []

    def note(kernel: object, grid: tuple[int, ...]) -> Callable[..., None]:
        return lambda *_, **named: found.append(named["GROUP_N"])

    module.product._launch((16, 16), (*given, 16), blocks, note)
    module.product._launch((16, 16), (*given, 16), {**blocks, "GROUP_N": 5}, note)
    assert found == [8, 5]
