"""Which axes of a kernel are blocked, and the reasons why some kernels are left as they are."""

from __future__ import annotations

import pytest

from teenyc.driver import Options, compile_source, run_passes
from teenyc.ir.expand import expanded
from teenyc.tiling.plan import Plan, Refusal
from teenyc.tiling.tile import plan_of


def planned(parameters: str, body: str, attribute: str = "tile") -> Plan | Refusal:
    text = f"#[kernel({attribute})]\nfn k{parameters} {{\n{body}\n}}\n"
    compiled = compile_source(text, options=Options(generate=False))
    assert compiled.checked is not None, compiled.diagnostics
    program = run_passes(compiled.checked, until="widen-floats")
    return plan_of(expanded(program.kernels[0], {f.name: f for f in program.functions}).kernel)


def chosen(plan: Plan | Refusal) -> list[tuple[str, str]]:
    assert isinstance(plan, Plan), plan.reason
    return [(axis.name, axis.block) for axis in plan.axes]


def reason(plan: Plan | Refusal) -> str:
    assert isinstance(plan, Refusal)
    return plan.reason


PRODUCT = """
    let row = program_id(0);
    let column = program_id(1);
    let mut acc = 0.0;
    for k in 0..k_size { acc += load(a + row * k_size + k) * load(b + BATCHk * n + column); }
    store(c + row * n + column, acc);
"""
POINTERS = "(a: Pointer<f32>, b: Pointer<f32>, c: Pointer<f32>, n: i32, k_size: i32)"


def test_two_axes_where_the_sum_is_a_product_of_matrices_only_so() -> None:
    plan = planned(POINTERS, PRODUCT.replace("BATCH", ""))
    assert chosen(plan) == [("row", "BLOCK_M"), ("column", "BLOCK_N"), ("k", "BLOCK_K")]


def test_the_axis_along_which_stores_are_contiguous_is_the_last() -> None:
    body = PRODUCT.replace("BATCH", "").replace("row * n + column, acc", "column * n + row, acc")
    assert chosen(planned(POINTERS, body))[:2] == [("column", "BLOCK_M"), ("row", "BLOCK_N")]


def test_a_batch_is_not_blocked() -> None:
    body = PRODUCT.replace("BATCH", "batch * k_size * n + ").replace("let mut", "let batch = program_id(2); let mut")
    plan = planned(POINTERS, body.replace("c + row", "c + batch * n * n + row"))
    assert chosen(plan) == [("row", "BLOCK_M"), ("column", "BLOCK_N"), ("k", "BLOCK_K")]


def test_the_author_names_the_axes() -> None:
    assert chosen(planned(POINTERS, PRODUCT.replace("BATCH", ""), "tile(k, row)")) == [
        ("row", "BLOCK_M"),
        ("k", "BLOCK_N"),
    ]


ROW = "let row = program_id(0); let lane = arange(0, N); let v = load(a + row * N + lane);"
ROWS = "<const N: i32>(a: Pointer<f32>, b: Pointer<f32>)"


@pytest.mark.parametrize(
    "body",
    [
        ROW + "store(b + row * N + lane, v + 1.0);",
        ROW + "let e = exp(v - max(v, axis = 0)); store(b + row * N + lane, e / sum(e, axis = 0));",
    ],
    ids=["elementwise", "softmax"],
)
def test_rows_that_share_nothing_are_left(body: str) -> None:
    assert "used by several rows" in reason(planned(ROWS, body))


def test_rows_that_share_weights_or_have_few_lanes_are_blocked() -> None:
    shared = ROW + "store(b + row * N + lane, v * load(b + lane));"
    assert chosen(planned(ROWS, shared)) == [("row", "BLOCK_M")]
    few = ROW.replace("N", "8") + "store(b + row * 8 + lane, v / sum(v, axis = 0));"
    assert chosen(planned(ROWS, few)) == [("row", "BLOCK_M")]
