"""The passes, each on small IR built by hand: what it does, what it leaves alone, and that the IR stays valid."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from textwrap import dedent

import pytest
from ir_builder import B, D, N, constant, lit, of_kernel

from teenyc.ir.nodes import Cast, Function, Let, Operand, Program, Value
from teenyc.ir.printer import print_body
from teenyc.ir.verify import verify
from teenyc.passes import PIPELINE
from teenyc.passes.drop_dead_code import drop_dead_code
from teenyc.passes.fold_constants import fold_constants
from teenyc.passes.widen_floats import widen_floats
from teenyc.passes.widen_offsets import widen_offsets
from teenyc.types import BF16, BOOL, F16, F32, F64, I8, I32, I64, U32, Compute, Extent, TensorType, scalar

ROW = TensorType(D, (N,))


def after(run: Callable[[Program], Program], b: B, *functions: Function) -> str:
    """The statements of the kernel after a pass, with the functions before them if there are any."""
    program = of_kernel(b.kernel(), *functions)
    verify(program)
    result = run(program)
    verify(result)
    if run is fold_constants:
        assert run(result) == result
    texts = [print_body(f) for f in result.functions]
    lines = print_body(result.kernels[0]).splitlines(keepends=True)
    return "".join([*texts, *(line[4:] for line in lines[1:])])


def expect(found: str, text: str) -> None:
    assert found == dedent(text).lstrip("\n")


@contextmanager
def shallow(limit: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


# ---- fold-constants -------------------------------------------------------------------------------------------------


def test_literals_fold_through_temporaries() -> None:
    b = B()
    b.store(b.offset(b.pointer("x"), b.binary("mul", b.binary("add", lit(2), lit(3)), lit(4))), lit(1.0))
    expect(
        after(fold_constants, b),
        """
        %1: Pointer<f32> = offset %x, 20
        store(pointer = %1, value = 1.0)
        """,
    )


def test_lines_with_names_stay_and_are_known() -> None:
    b = B()
    width = b.copy(lit(7), "width")
    b.binary("mul", width, lit(6), "area")
    b.binary("add", b.param("n", I32), width, "end")
    expect(
        after(fold_constants, b),
        """
        %width: i32 = 7
        %area: i32 = 42
        %end: i32 = add %n, %width
        """,
    )


def test_neutral_operations_go() -> None:
    b = B()
    n, f, p = b.param("n", I32), b.param("f", F32), b.pointer("p")
    b.copy(b.binary("add", lit(0), b.binary("mul", b.binary("shl", n, lit(0)), lit(1))), "a")
    b.copy(b.binary("div", b.binary("mul", lit(1.0), f), lit(1.0)), "b")
    b.copy(b.binary("mul", n, lit(0)), "c")
    b.copy(b.offset(p, lit(0)), "d")
    expect(
        after(fold_constants, b),
        """
        %a: i32 = %n
        %b: f32 = %f
        %c: i32 = 0
        %d: Pointer<f32> = %p
        """,
    )


def test_float_zero_and_broadcasts_are_not_neutral() -> None:
    b = B()
    b.binary("add", b.param("f", F32), lit(0.0), "a")
    row = b.call("full", TensorType(F32, (N,)), {"value": lit(1.0)}, at={"shape": (N,), "dtype": F32}, name="row")
    b.binary("mul", row, lit(1.0), "b")
    b.binary("sub", lit(0), b.param("n", I32), "c")
    b.binary("mul", b.arange(N, "d"), lit(0), "e")
    text = after(fold_constants, b)
    assert "%a: f32 = add %f, 0.0" in text
    assert "%b: Tensor<f32, [N]> = %row" in text
    assert "%c: i32 = sub 0, %n" in text
    assert "%e: Tensor<i32, [N]> = mul %d, 0" in text


def test_logic_folds() -> None:
    b = B()
    mask = b.compare("lt", b.arange(), lit(3), "mask")
    some = b.param("some", BOOL)
    b.copy(b.binary("and", mask, lit(True)), "a")
    b.copy(b.binary("and", some, lit(False)), "b")
    b.copy(b.binary("or", lit(False), some), "c")
    b.copy(b.unary("not", lit(True)), "d")
    b.binary("and", mask, lit(False), "e")
    text = after(fold_constants, b)
    assert "%a: Tensor<bool, [N]> = %mask\n" in text
    assert "%b: bool = false\n%c: bool = %some\n%d: bool = false\n" in text
    assert "%e: Tensor<bool, [N]> = and %mask, false\n" in text


def test_casts_of_casts_go_where_the_first_is_exact() -> None:
    b = B()
    f, g, n = b.param("f", F32), b.param("g", F64), b.param("n", I32)
    b.cast(b.cast(f, F64), D, "a")
    b.copy(b.cast(b.cast(f, D), F32), "b")
    b.cast(b.cast(n, I64), I8, "c")
    b.cast(b.cast(n, I8), I32, "d")
    b.cast(b.cast(g, F32), D, "e")
    text = after(fold_constants, b)
    assert "%a: D = cast %f\n" in text
    assert "%b: f32 = %f\n" in text
    assert "%c: i8 = cast %n\n" in text
    assert "i8 = cast %n\n%d: i32 = cast %" in text
    assert "f32 = cast %g\n%e: D = cast %" in text


def test_casts_of_literals_keep_what_each_type_holds() -> None:
    b = B()
    b.cast(lit(0.1), F64, "a")
    b.cast(lit(0.1, F64), D, "b")
    b.cast(lit(0.1), D, "c")
    b.cast(lit(3), D, "d")
    b.cast(lit(0.1, D), F32, "e")
    b.cast(lit(0.1, D), F64, "f")
    b.cast(lit(1.00390625), BF16, "g")
    b.cast(lit(True), I32, "h")
    lines = [line.split(" = ")[1] for line in after(fold_constants, b).splitlines()]
    assert lines == [
        "0.10000000149011612_f64",
        "0.1_D",
        "0.10000000149011612_D",
        "3.0_D",
        "0.10000000149011612",
        "cast 0.1_D",
        "1.0_bf16",
        "1",
    ]


def test_a_narrow_cast_to_its_own_type_rounds_unless_it_is_implicit() -> None:
    b = B()
    x = b.load(b.pointer("x", BF16), "x")
    b.cast(x, BF16, "rounded")
    b.let(Cast(operand=x, implicit=True), scalar(BF16), name="same")
    text = after(fold_constants, b)
    assert "%rounded: bf16 = cast %x" in text
    assert "%same: bf16 = %x" in text


def test_a_branch_under_a_literal_is_taken() -> None:
    b = B()
    n = b.param("n", I32)
    with b.branch(b.compare("lt", lit(1), lit(2)), scalar(I32), scalar(I32)) as fork:
        fork.results = (replace(fork.results[0], name="x"), fork.results[1])
        fork.then(b.binary("add", n, lit(1)), n)
        fork.otherwise(lit(0), lit(0))
    b.binary("mul", fork.results[0], fork.results[1], "y")
    expect(
        after(fold_constants, b),
        """
        %1: i32 = add %n, 1
        %x: i32 = %1
        %y: i32 = mul %x, %n
        """,
    )


def test_what_follows_a_certain_return_goes() -> None:
    b = B()
    with b.branch(lit(True)):
        b.ret()
    b.store(b.pointer("x"), lit(1.0))
    expect(after(fold_constants, b), "return\n")


def test_loops_without_a_trip_give_their_initials() -> None:
    b = B()
    n = b.param("n", I32)
    with b.loop(lit(4), lit(4), acc=n) as loop:
        loop.next(b.binary("add", loop.inside[0], lit(1)))
    b.binary("add", loop.results[0], lit(2), "y")
    expect(after(fold_constants, b), "%acc: i32 = %n\n%y: i32 = add %acc, 2\n")


def test_constants_stay_symbols_even_when_they_are_known() -> None:
    b = B()
    b.binary("mul", constant(), lit(2), "twice")
    kernel = b.kernel()
    known = replace(kernel, constants=(replace(kernel.constants[0], known=64),))
    assert fold_constants(of_kernel(known)).kernels[0].body == kernel.body


# ---- widen-offsets --------------------------------------------------------------------------------------------------


def store_at(b: B, offset: Operand, mask: Operand | None = None) -> None:
    b.store(b.offset(b.pointer("x"), offset), lit(1.0), mask)


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


def index_function() -> Function:
    f = B("index")
    f.ret(f.binary("add", f.binary("mul", f.param("i", I32), f.param("stride", I32)), lit(1)))
    return f.function(scalar(I32))


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


# ---- widen-floats ---------------------------------------------------------------------------------------------------


def test_loads_widen_and_give_their_name_to_the_cast() -> None:
    b = B()
    x = b.pointer("x", D)
    v = b.load(x, "v")
    scale = b.cast(b.param("s", F32), D)
    acc = b.call("zeros", ROW, at={"shape": (N,), "dtype": D}, name="acc")
    with b.loop(lit(0), lit(4), acc=acc) as loop:
        loop.next(b.binary("add", loop.inside[0], b.binary("mul", v, scale)))
    b.store(x, b.call("sum", scalar(D), {"input": loop.results[0]}, at={"axis": 0}))
    expect(
        after(widen_floats, b),
        """
        %1: D = load(pointer = %x)
        %v: D::Compute = cast %1
        %2: D::Compute = cast %s
        %acc: Tensor<D::Compute, [N]> = zeros(shape = [N], dtype = D::Compute)
        for %i: i32 in 0..4 step 1 carry (%acc.2: Tensor<D::Compute, [N]> = %acc) -> (%acc.3)
            %3: D::Compute = mul %v, %2
            %4: Tensor<D::Compute, [N]> = add %acc.2, %3
            yield %4
        %5: D::Compute = sum(input = %acc.3, axis = 0)
        store(pointer = %x, value = %5)
        """,
    )


def test_casts_to_named_narrow_floats_round_and_others_do_not() -> None:
    b = B()
    f = b.param("f", F32)
    b.cast(f, BF16, "rounded")
    b.let(Cast(operand=f, implicit=True), scalar(BF16), name="plain")
    x = b.load(b.pointer("x", BF16), "x")
    b.cast(b.binary("mul", x, x), BF16, "again")
    b.cast(x, F32, "same")
    expect(
        after(widen_floats, b),
        """
        %1: bf16 = cast %f
        %rounded: f32 = cast %1
        %plain: f32 = %f
        %2: bf16 = load(pointer = %x)
        %x.2: f32 = cast %2
        %3: f32 = mul %x.2, %x.2
        %4: bf16 = cast %3
        %again: f32 = cast %4
        %same: f32 = %x.2
        """,
    )


def test_an_unnamed_load_is_cast_straight_to_what_the_author_asks() -> None:
    b = B()
    b.cast(b.load(b.pointer("h", F16)), F64, "d")
    b.cast(b.load(b.pointer("x", D)), F32, "f")
    text = after(lambda p: drop_dead_code(widen_floats(p)), b)
    assert text == ""
    b.store(b.pointer("o", F64), b.cast(b.load(b.pointer("g", F16)), F64, "e"))
    text = after(lambda p: drop_dead_code(widen_floats(p)), b)
    expect(text, "%1: f16 = load(pointer = %g)\n%e: f64 = cast %1\nstore(pointer = %o, value = %e)\n")


def test_what_is_only_moved_stays_stored() -> None:
    b = B()
    v = b.load(b.pointer("x", D), "v")
    b.store(b.pointer("y", D), v)
    expect(after(widen_floats, b), "%v: D = load(pointer = %x)\nstore(pointer = %y, value = %v)\n")


def test_dots_take_loads_as_they_are_stored() -> None:
    b = B()
    tile = b.offset(b.pointer("x", D), b.binary("add", b.expand(b.arange(16), 1), b.expand(b.arange(16), 0)))
    square = TensorType(D, (Extent.of(16), Extent.of(16)))
    q, k = b.load(tile, "q"), b.load(tile, "k")
    kt = b.call("trans", square, {"input": k}, name="kt")
    s = b.call("dot", square, {"input": q, "other": kt}, name="s")
    b.call("dot", square, {"input": s, "other": k}, name="o")
    text = after(widen_floats, b)
    expect(
        text[text.index("%q") :],
        """
        %q: Tensor<D, [16, 16]> = load(pointer = %6)
        %7: Tensor<D, [16, 16]> = load(pointer = %6)
        %k: Tensor<D::Compute, [16, 16]> = cast %7
        %kt: Tensor<D, [16, 16]> = trans(input = %7)
        %s: Tensor<D::Compute, [16, 16]> = dot(input = %q, other = %kt)
        %o: Tensor<D::Compute, [16, 16]> = dot(input = %s, other = %k)
        """,
    )


def test_atomics_work_in_the_storage_type() -> None:
    b = B()
    x = b.pointer("x", F16)
    v = b.binary("mul", b.load(x), lit(2.0, F16))
    b.call("atomic_add", scalar(F16), {"pointer": x, "val": v}, name="old")
    expect(
        after(widen_floats, b),
        """
        %1: f16 = load(pointer = %x)
        %2: f32 = cast %1
        %3: f32 = mul %2, 2.0
        %4: f16 = cast %3
        %5: f16 = atomic_add(pointer = %x, val = %4)
        %old: f32 = cast %5
        """,
    )


def test_scalar_parameters_are_converted_once_at_the_top() -> None:
    b = B()
    h = b.param("h", F16)
    b.store(b.pointer("x"), b.cast(h, F32))
    expect(after(widen_floats, b), "%h.2: f32 = cast %h\nstore(pointer = %x, value = %h.2)\n")


def test_functions_over_a_dtype_work_in_compute_types() -> None:
    f = B("twice")
    f.ret(f.binary("mul", f.param("v", D), lit(2.0, D)))
    function = f.function(scalar(D), variables=(D,))
    b = B()
    x = b.pointer("x", D)
    b.store(x, b.apply(function, b.load(x, "v"), elements=(D,)))
    expect(
        after(widen_floats, b, function),
        """
        function twice<D: Float>(%v: D::Compute) -> (D::Compute)
            %1: D::Compute = mul %v, 2.0_D::Compute
            return %1
        %1: D = load(pointer = %x)
        %v: D::Compute = cast %1
        %2: D::Compute = apply twice<D>(%v)
        store(pointer = %x, value = %2)
        """,
    )


def test_loads_of_compute_types_are_cast_since_memory_may_be_wider() -> None:
    b = B()
    b.load(b.pointer("l", Compute(D)), "l")
    expect(after(widen_floats, b), "%1: D::Compute = load(pointer = %l)\n%l.2: D::Compute = cast %1\n")


def test_concrete_wide_floats_stay() -> None:
    b = B()
    x = b.pointer("x", F64)
    b.store(x, b.binary("mul", b.load(x, "v"), lit(0.1, F64)))
    assert after(widen_floats, b) == "".join(line[4:] for line in print_body(b.kernel()).splitlines(True)[1:])


# ---- drop-dead-code -------------------------------------------------------------------------------------------------


def test_unread_operations_go_and_effects_stay() -> None:
    b = B()
    x = b.pointer("x")
    b.binary("add", b.binary("mul", b.param("n", I32), lit(2)), lit(1), "unused")
    b.load(x, "unread")
    b.call("load", scalar(F32), {"pointer": x}, at={"volatile": True})
    b.call("atomic_add", scalar(F32), {"pointer": x, "val": lit(1.0)})
    expect(
        after(drop_dead_code, b),
        "%1: f32 = load(pointer = %x, volatile = true)\n%2: f32 = atomic_add(pointer = %x, val = 1.0)\n",
    )


def test_carried_values_that_nobody_reads_go() -> None:
    b = B()
    x = b.pointer("x")
    with b.loop(lit(0), lit(4), used=lit(0.0), unused=lit(0), cycle=lit(1)) as loop:
        used, unused, cycle = loop.inside
        more = b.binary("add", used, lit(1.0))
        loop.next(more, b.binary("add", unused, cycle), b.binary("mul", cycle, lit(2)))
    b.store(x, loop.results[0])
    expect(
        after(drop_dead_code, b),
        """
        for %i: i32 in 0..4 step 1 carry (%used: f32 = 0.0) -> (%used.2)
            %1: f32 = add %used, 1.0
            yield %1
        store(pointer = %x, value = %used.2)
        """,
    )


def test_idle_loops_and_branches_go_but_a_while_stays() -> None:
    b = B()
    n = b.param("n", I32)
    with b.loop(lit(0), n):
        b.binary("add", n, lit(1))
    with b.branch(b.compare("lt", n, lit(0)), scalar(I32)) as fork:
        fork.then(lit(1))
        fork.otherwise(lit(2))
    with b.loop_while(i=lit(0), j=lit(0)) as loop:
        loop.until(b.compare("lt", loop.inside[0], n))
        loop.next(b.binary("add", loop.inside[0], lit(1)), loop.inside[0])
    expect(
        after(drop_dead_code, b),
        """
        while carry (%i: i32 = 0) -> (%i.2)
            %1: bool = lt %i, %n
            yield %1
        do
            %2: i32 = add %i, 1
            yield %2
        """,
    )


def test_what_decides_about_an_effect_stays() -> None:
    b = B()
    x, n = b.pointer("x"), b.param("n", I32)
    with b.branch(b.compare("lt", n, lit(0)), scalar(I32), scalar(I32), name="y") as fork:
        b.store(x, lit(1.0))
        fork.then(lit(1), lit(2))
        fork.otherwise(lit(3), lit(4))
    with b.loop(lit(0), fork.results[1]), b.branch(b.compare("eq", n, lit(5))):
        b.store(x, lit(2.0))
    expect(
        after(drop_dead_code, b),
        """
        %1: bool = lt %n, 0
        if %1 -> (%y: i32)
            store(pointer = %x, value = 1.0)
            yield 2
        else
            yield 4
        for %i: i32 in 0..%y step 1
            %2: bool = eq %n, 5
            if %2
                store(pointer = %x, value = 2.0)
        """,
    )


def test_calls_of_functions_are_judged_by_what_is_in_them() -> None:
    pure, loud = index_function(), B("loud")
    loud.store(loud.pointer("p"), lit(1.0))
    loud.ret()
    noisy = loud.function()
    b = B()
    x = b.pointer("x")
    b.apply(pure, lit(1), lit(2))
    b.apply(noisy, x)
    text = after(drop_dead_code, b, pure, noisy)
    assert "apply index" not in text
    assert "apply loud" in text


def test_early_returns_stay() -> None:
    b = B()
    with b.branch(b.compare("lt", b.param("n", I32), lit(0))):
        b.ret()
    b.store(b.pointer("x"), lit(1.0))
    assert "return" in after(drop_dead_code, b)


# ---- all of them ----------------------------------------------------------------------------------------------------


def test_the_pipeline_has_the_documented_names() -> None:
    assert [p.name for p in PIPELINE] == ["fold-constants", "widen-offsets", "widen-floats", "drop-dead-code"]
    for one in PIPELINE:
        assert one.run.__name__ == one.name.replace("-", "_")


def test_long_kernels_take_no_recursion_and_names_survive() -> None:
    b = B()
    x = b.pointer("x", D)
    at: Operand = b.param("n", I32)
    value: Operand = b.load(x, "v")
    for index in range(2500):
        at = b.binary("add", at, constant(), f"at{index}")
        value = b.binary("add", value, lit(1.0, D))
    b.store(b.offset(x, at), value)
    program = of_kernel(b.kernel())
    with shallow(250):
        for one in PIPELINE:
            program = one.run(program)
            verify(program)
    body = program.kernels[0].body.statements
    names = {v.name for s in body if isinstance(s, Let) for v in s.results}
    assert {"v", "at0", "at2499"} <= names
