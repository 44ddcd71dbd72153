"""Narrow floats: stored as they are, computed in the compute type, rounded where the author says."""

from __future__ import annotations

from ir_builder import B, D, N, lit
from pass_texts import after, expect

from teenyc.ir.nodes import Cast
from teenyc.ir.printer import print_body
from teenyc.passes.drop_dead_code import drop_dead_code
from teenyc.passes.widen_floats import widen_floats
from teenyc.types import BF16, F16, F32, F64, Compute, Extent, TensorType, scalar

ROW = TensorType(D, (N,))


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
        %o: Tensor<D::Compute, [16, 16]> = dot(input = %s, other = %k, input_precision = "ieee")
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
