"""What reaches memory is exact: where 64 bits begin, where they end, and where 32 are enough."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from ir_builder import B, N, constant, lit, of_kernel
from pass_texts import after, expect, index_function, store_at

from teenyc.ir.nodes import Value
from teenyc.ir.printer import print_body
from teenyc.passes.widen_offsets import widen_offsets
from teenyc.types import BOOL, F32, I8, I32, I64, U32, scalar


def test_program_ids_widen_where_they_are_defined() -> None:
    b = B()
    row = b.program_id(0, "row")
    b.compare("lt", row, b.param("n", I32), "inside")
    store_at(b, b.binary("add", b.binary("mul", row, constant()), b.arange(N, "d")))
    expect(
        after(widen_offsets, b),
        """
        %1: i32 = program_id(axis = 0)
        %row: i64 = cast %1
        %2: i64 = cast %n
        %inside: bool = lt %row, %2
        %3: i64 = cast N
        %4: i64 = mul %row, %3
        %d: Tensor<i32, [N]> = arange(start = 0, end = N)
        %5: Tensor<i64, [N]> = cast %d
        %6: Tensor<i64, [N]> = add %4, %5
        %7: Tensor<Pointer<f32>, [N]> = offset %x, %6
        store(pointer = %7, value = 1.0)
        """,
    )


@pytest.mark.parametrize(
    "offset",
    [
        lambda b: b.program_id(),
        lambda b: b.param("n", I32),
        lambda b: b.binary("add", b.arange(N), lit(8)),
        lambda b: b.binary("rem", b.param("n", I32), lit(100)),
        lambda b: b.binary("div", b.param("n", I32), b.param("m", I32)),
        lambda b: b.binary("mul", b.binary("and", b.param("n", I32), lit(0xFFFF)), lit(0x7FFF)),
        lambda b: b.binary("mul", b.call("minimum", scalar(I32), {"x": b.program_id(), "y": lit(9)}), lit(1000)),
        lambda b: b.binary("mul", b.param("n", I64), lit(4, I64)),
    ],
)
def test_what_fits_32_bits_stays(offset: Callable[[B], Value]) -> None:
    b = B()
    store_at(b, offset(b))
    before = print_body(b.kernel())
    assert print_body(widen_offsets(of_kernel(b.kernel())).kernels[0]) == before


def test_counters_are_cast_at_the_use_and_bounds_widen_them() -> None:
    b = B()
    n = b.param("n", I32)
    with b.loop(lit(0), n, "i") as loop:
        store_at(b, b.binary("mul", loop.counter, n))
    with b.loop(lit(0), b.binary("mul", n, n, "end"), "j") as second:
        store_at(b, second.counter)
    expect(
        after(widen_offsets, b),
        """
        for %i: i32 in 0..%n step 1
            %1: i64 = cast %i
            %2: i64 = cast %n
            %3: i64 = mul %1, %2
            %4: Pointer<f32> = offset %x, %3
            store(pointer = %4, value = 1.0)
        %5: i64 = cast %n
        %6: i64 = cast %n
        %end: i64 = mul %5, %6
        for %j: i64 in 0_i64..%end step 1_i64
            %7: Pointer<f32> = offset %x.2, %j
            store(pointer = %7, value = 1.0)
        """,
    )


def test_carried_offsets_widen_as_one() -> None:
    b = B()
    with b.loop(lit(0), b.param("n", I32), at=lit(0)) as loop:
        store_at(b, loop.inside[0])
        loop.next(b.binary("add", loop.inside[0], b.param("stride", I32), "at"))
    expect(
        after(widen_offsets, b),
        """
        for %i: i32 in 0..%n step 1 carry (%at: i64 = 0_i64) -> (%at.2)
            %1: Pointer<f32> = offset %x, %at
            store(pointer = %1, value = 1.0)
            %2: i64 = cast %stride
            %at.3: i64 = add %at, %2
            yield %at.3
        """,
    )


def test_a_while_that_counts_to_a_bound_stays_narrow() -> None:
    b = B()
    n = b.param("n", I32)
    with b.loop_while(i=lit(0)) as loop:
        loop.until(b.compare("lt", loop.inside[0], n))
        store_at(b, loop.inside[0])
        loop.next(b.binary("add", loop.inside[0], lit(1)))
    assert "i64" not in after(widen_offsets, b)


def test_other_uses_see_the_exact_value_and_keep_their_type() -> None:
    b = B()
    out = b.pointer("out", I32)
    at = b.binary("mul", b.param("n", I32), b.param("m", I32), "at")
    store_at(b, at)
    b.store(out, b.binary("div", at, lit(3)))
    b.store(out, at)
    b.cast(at, F32, "f")
    b.call("device_print", None, {"args": at}, at={"prefix": "at"})
    text = after(widen_offsets, b)
    expect(
        text[text.index("store") :],
        """
        store(pointer = %3, value = 1.0)
        %4: i64 = div %at, 3_i64
        %5: i32 = cast %4
        store(pointer = %out, value = %5)
        store(pointer = %out, value = %at)
        %f: f32 = cast %at
        %6: i32 = cast %at
        device_print(args = %6, prefix = "at")
        """,
    )


def test_masks_are_exact_and_conditions_are_not_asked() -> None:
    b = B()
    n, start = b.param("n", I32), b.param("start", I32)
    lanes = b.arange()
    inside = b.compare("lt", b.binary("add", start, lanes), n)
    store_at(b, lanes, mask=inside)
    with b.branch(b.compare("lt", b.binary("add", start, n, "end"), n)):
        store_at(b, lit(0))
    text = after(widen_offsets, b)
    assert "%4: Tensor<i64, [N]> = add %2, %3" in text
    assert "%end: i32 = add %start, %n" in text


def test_branches_and_selects_widen() -> None:
    b = B()
    n, flag = b.param("n", I32), b.param("flag", BOOL)
    with b.branch(flag, scalar(I32), name="at") as fork:
        fork.then(b.binary("mul", n, n))
        fork.otherwise(n)
    store_at(b, b.call("where", scalar(I32), {"condition": flag, "x": fork.results[0], "y": lit(0)}))
    expect(
        after(widen_offsets, b),
        """
        if %flag -> (%at: i64)
            %1: i64 = cast %n
            %2: i64 = cast %n
            %3: i64 = mul %1, %2
            yield %3
        else
            %4: i64 = cast %n
            yield %4
        %5: i64 = where(condition = %flag, x = %at, y = 0_i64)
        %6: Pointer<f32> = offset %x, %5
        store(pointer = %6, value = 1.0)
        """,
    )


def test_shift_counts_stay_modulo_the_width() -> None:
    b = B()
    n, by = b.param("n", I32), b.param("by", I32)
    store_at(b, b.binary("shl", n, by))
    store_at(b, b.binary("shl", n, lit(4)))
    text = after(widen_offsets, b)
    assert "and %by, 31" in text
    assert "4_i64" in text
    assert text.count("and") == 1


def test_unsigned_and_small_types_widen_and_narrowing_casts_end_the_flow() -> None:
    b = B()
    store_at(b, b.binary("sub", b.param("u", U32), lit(1, U32)))
    store_at(b, b.binary("add", b.param("s", I8), lit(1, I8)))
    store_at(b, b.cast(b.binary("mul", b.param("w", I64), lit(3, I64)), I32))
    store_at(b, b.cast(b.binary("mul", b.param("n", I32), lit(3)), I64))
    text = after(widen_offsets, b)
    assert text.count(": i64 = sub") == 1
    assert text.count(": i64 = add") == 1
    assert "i32 = cast" in text
    assert text.count(": i64 = mul") == 2


def test_functions_widen_what_reaches_an_address_through_them() -> None:
    b = B()
    function = index_function()
    row = b.program_id(0, "row")
    store_at(b, b.apply(function, row, b.param("n", I32)))
    b.store(b.pointer("out", I32), b.apply(function, lit(1), lit(2)))
    expect(
        after(widen_offsets, b, function),
        """
        function index(%i: i32, %stride: i32) -> (i64)
            %1: i64 = cast %i
            %2: i64 = cast %stride
            %3: i64 = mul %1, %2
            %4: i64 = add %3, 1_i64
            return %4
        %row: i32 = program_id(axis = 0)
        %1: i64 = apply index(%row, %n)
        %2: Pointer<f32> = offset %x, %1
        store(pointer = %2, value = 1.0)
        %3: i64 = apply index(1, 2)
        %4: i32 = cast %3
        store(pointer = %out, value = %4)
        """,
    )


def test_parameters_of_functions_widen_with_their_arguments() -> None:
    f = B("put")
    f.store(f.offset(f.pointer("p"), f.param("at", I32)), lit(1.0))
    f.ret()
    function = f.function()
    b = B()
    x, n = b.pointer("x"), b.param("n", I32)
    b.apply(function, x, b.binary("mul", n, n))
    b.apply(function, x, lit(4))
    text = after(widen_offsets, b, function)
    assert "function put(%p: Pointer<f32>, %at: i64)" in text
    assert "apply put(%x, 4_i64)" in text


def test_a_function_that_an_intrinsic_calls_keeps_its_signature() -> None:
    f = B("combine")
    f.ret(f.binary("add", f.param("a", I32), f.param("b", I32)))
    function = f.function(scalar(I32))
    b = B()
    total = b.call("reduce", scalar(I32), {"input": b.arange()}, at={"axis": 0, "combine_fn": "combine"})
    store_at(b, b.binary("mul", b.apply(function, total, lit(1)), lit(8)))
    result = widen_offsets(of_kernel(b.kernel(), function))
    assert print_body(result.functions[0]).startswith("function combine(%a: i32, %b: i32) -> (i32)")
    assert ": i64 = mul" in print_body(result.kernels[0])
