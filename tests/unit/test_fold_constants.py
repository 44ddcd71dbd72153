"""Folding: what is known goes, and nothing else changes."""

from __future__ import annotations

from ir_builder import B, D, N, constant, lit, of_kernel
from pass_texts import after, expect

from teenyc.ir.nodes import Cast
from teenyc.passes.fold_constants import fold_constants
from teenyc.record import replace
from teenyc.types import BF16, BOOL, F32, F64, I8, I32, I64, TensorType, scalar


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
