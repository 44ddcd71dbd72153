"""Padding: which extents can grow, what constants must satisfy then, what padding lanes are known to hold."""

from __future__ import annotations

from math import inf

import pytest
from ir_builder import HERE, constant, lit

from teenyc import compile_source
from teenyc.ir.nodes import Binary, Call, Cast, Compare, Kernel, Operation, PaddedConstant, Requirement, Unary
from teenyc.ir.pad.analysis import print_padding
from teenyc.ir.pad.extents import Pads, pads_of
from teenyc.ir.pad.fills import Fill, fill_of
from teenyc.types import BOOL, F32, I32, U8, Element, Extent, Quotient

N, M, B = Extent.of("N"), Extent.of("M"), Extent.of("B")
TWO, THREE = Extent.of(2), Extent.of(3)
PADS = Pads({n: PaddedConstant(name=f"{n}_PADDED", of=n) for n in ("N", "M")})


def over(extent: Extent, by: Extent) -> Extent:
    return Extent.of(Quotient(extent, by))


def checked(text: str) -> Kernel:
    compiled = compile_source(text)
    assert compiled.checked is not None, [d.message() for d in compiled.diagnostics]
    return compiled.checked.kernels[0]


@pytest.mark.parametrize(
    ("extent", "padded"),
    [
        (N, "N_PADDED"),
        (TWO * N, "2 * N_PADDED"),
        (N * M, "M_PADDED * N_PADDED"),
        (N * B, "B * N_PADDED"),
        (over(N, TWO), "N_PADDED / 2"),
        (over(N, TWO) * B, "B * (N_PADDED / 2)"),
        (B + Extent.of(1), "B + 1"),
        (over(B, THREE), "B / 3"),
    ],
)
def test_extents_that_grow_or_stay(extent: Extent, padded: str) -> None:
    assert PADS.is_sound(extent)
    assert str(PADS.extent(extent)) == padded


@pytest.mark.parametrize(
    "extent", [N + Extent.of(1), THREE * N, over(N, THREE), over(N, B), over(B, N), over(N + B, TWO), Extent.of(-1) * N]
)
def test_extents_that_no_padded_constant_makes_a_power_of_two(extent: Extent) -> None:
    assert not PADS.is_sound(extent)


@pytest.mark.parametrize(
    ("extent", "rule", "expected"),
    [
        (N, "power-of-two", ["N positive"]),
        (over(N, TWO), "power-of-two", ["N positive", "N / 2 positive"]),
        (B * N, "power-of-two", ["N positive", "B * N positive", "B power-of-two"]),
        (B, "power-of-two", ["B power-of-two"]),
        (N, "at-least:16", []),
        (over(N, TWO), "at-least:16", []),
        (B * N, "at-least:16", ["B * N at-least:16"]),
        (N - Extent.of(4), "at-least:0", ["N - 4 at-least:0"]),
    ],
)
def test_requirements_of_padded_constants(extent: Extent, rule: str, expected: list[str]) -> None:
    given = Requirement(extent=extent, rule=rule, what="a test", span=HERE)
    assert [f"{r.extent} {r.rule}" for r in PADS.requirements([given])] == expected


@pytest.mark.parametrize(("extent", "minimum"), [("N", 16), ("2 * N", 8), ("N / 2", 32), ("64 * N", 1)])
def test_a_padded_constant_is_large_enough_for_a_dot(extent: str, minimum: int) -> None:
    text = (
        "#[kernel(pad(N))] fn k<const N: i32>(x: Pointer<f32>) {"
        f"let a = load(x + arange(0, 16)[(.., None)] + arange(0, {extent})[(None, ..)]);"
        "store(x, sum(dot(a, trans(a)))); }"
    )
    kernel = checked(text)
    assert pads_of(kernel, ("N",)).constants["N"].minimum == minimum


@pytest.mark.parametrize(
    ("operation", "element", "fills", "expected"),
    [
        (Unary(operator="neg", operand=lit(0.0)), F32, (inf,), -inf),
        (Unary(operator="neg", operand=lit(1)), U8, (1,), None),
        (Unary(operator="not", operand=lit(True)), BOOL, (True,), False),
        (Binary(operator="mul", left=lit(0.0), right=lit(0.0)), F32, (0.0, 0.0), 0),
        (Binary(operator="mul", left=lit(0.0), right=lit(0.0)), F32, (0.0, None), None),
        (Binary(operator="mul", left=lit(0.0), right=lit(0.0)), F32, (0.0, 1e300), None),
        (Binary(operator="mul", left=lit(0.0), right=lit(0.0)), F32, (0.0, inf), None),
        (Binary(operator="mul", left=lit(0), right=lit(0)), I32, (0, None), 0),
        (Binary(operator="sub", left=lit(0.0), right=lit(0.0)), F32, (inf, inf), None),
        (Binary(operator="add", left=lit(0.0), right=lit(0.0)), F32, (-inf, 3.0), -inf),
        (Binary(operator="add", left=lit(0.0), right=lit(0.0)), F32, (0.1, 0.2), None),
        (Binary(operator="div", left=lit(0.0), right=lit(0.0)), F32, (0.0, 1.0), None),
        (Binary(operator="and", left=lit(True), right=lit(True)), BOOL, (None, False), False),
        (Binary(operator="or", left=lit(True), right=lit(True)), BOOL, (None, False), None),
        (Compare(operator="lt", left=lit(0.0), right=lit(0.0)), BOOL, (0.0, inf), True),
        (Compare(operator="lt", left=lit(0.0), right=lit(0.0)), BOOL, (0.1, 0.2), None),
        (Cast(operand=lit(0)), F32, (0,), 0.0),
        (Cast(operand=lit(-1.0)), U8, (-1.0,), None),
        (Call(intrinsic="exp", operands=(("x", constant()),)), F32, (-inf,), 0.0),
        (Call(intrinsic="exp", operands=(("x", constant()),)), F32, (0.0,), None),
    ],
)
def test_what_padding_lanes_of_results_hold(
    operation: Operation, element: Element, fills: tuple[Fill, ...], expected: Fill
) -> None:
    found = fill_of(operation, element, fills)
    assert found == expected
    assert isinstance(found, bool) == isinstance(expected, bool)


def test_the_analysis_prints_what_each_axis_holds() -> None:
    kernel = checked("""
#[kernel(pad(N))]
fn k<const N: i32, const B: i32>(x: Pointer<f32>, mask: i32) {
    let col = arange(0, N);
    let row = load(x + col);
    let block = load(x + arange(0, B)[(.., None)] + col[(None, ..)], mask = mask > 0, other = 1.0);
    let product = row * block;
    let turned = trans(block);
    let total = sum(block, axis = 0);
    let last = cumsum(row, reverse = true);
    store(x + col, row * 2.0 + total + last + sum(product, axis = 0) + sum(turned, axis = 1));
}
""")
    text = print_padding(kernel, ("N",))
    named = [
        line.strip() for line in text.splitlines() if not line.strip().startswith("%") or line.strip()[1].isalpha()
    ]
    assert named == [
        "padding of k",
        "%col: [N..]",
        "%row: [0]",
        "%block: [-, 1.0]",
        "%product: [-, 0.0]",
        "%turned: [1.0, -]",
        "%total: [?]",
        "%last: [?]",
    ]
