"""The printed IR: one statement a line, names that do not depend on ids."""

from __future__ import annotations

from textwrap import dedent

from ir_builder import HERE, B, D, N, constant, lit, of_kernel

from teenyc.ir.nodes import Attributes, ConstantParameter, OpClass, OpField, Requirement
from teenyc.ir.printer import print_body, print_program, value_names
from teenyc.ir.walk import renumber
from teenyc.record import replace
from teenyc.types import BF16, F32, F64, I32, I64, Extent, TensorType, scalar


def text(source: str) -> str:
    return dedent(source).lstrip("\n")


def test_operations_and_loops() -> None:
    b = B("add_rows")
    x, n = b.pointer("x_ptr", D), b.param("n", I32)
    row = b.program_id(0, "row")
    lanes = b.arange()
    with b.loop(lit(0), n, "i", acc=lit(0.0)) as loop:
        at = b.offset(x, b.binary("add", b.expand(lanes, 0), b.binary("mul", row, constant())))
        total = b.call("sum", scalar(F32), {"input": b.cast(b.load(at), F32)}, at={"axis": None})
        loop.next(b.binary("add", loop.inside[0], total, "acc"))
    b.store(x, b.unary("neg", loop.results[0]), mask=b.compare("lt", row, n))
    assert print_body(b.kernel()) == text("""
        kernel add_rows<D: Float, const N: i32>(%x_ptr: Pointer<D>, %n: i32)
            %row: i32 = program_id(axis = 0)
            %1: Tensor<i32, [N]> = arange(start = 0, end = N)
            for %i: i32 in 0..%n step 1 carry (%acc: f32 = 0.0) -> (%acc.2)
                %2: Tensor<i32, [1, N]> = expand_dims %1 at [0]
                %3: i32 = mul %row, N
                %4: Tensor<i32, [1, N]> = add %2, %3
                %5: Tensor<Pointer<D>, [1, N]> = offset %x_ptr, %4
                %6: Tensor<D, [1, N]> = load(pointer = %5)
                %7: Tensor<f32, [1, N]> = cast %6
                %8: f32 = sum(input = %7, axis = none)
                %acc.3: f32 = add %acc, %8
                yield %acc.3
            %9: f32 = neg %acc.2
            %10: bool = lt %row, %n
            store(pointer = %x_ptr, value = %9, mask = %10)
        """)


def test_branches_whiles_and_returns() -> None:
    b = B()
    n = b.param("n", I32)
    with b.branch(b.compare("eq", n, lit(0))):
        b.ret()
    with b.loop_while(i=lit(0)) as loop:
        loop.until(b.compare("lt", loop.inside[0], n))
        loop.next(b.binary("add", loop.inside[0], lit(1)))
    with b.branch(lit(True), scalar(I32), name="x") as fork:
        fork.then(loop.results[0])
        fork.otherwise(lit(0))
    assert print_body(b.kernel(constants=(), variables=())) == text("""
        kernel k(%n: i32)
            %1: bool = eq %n, 0
            if %1
                return
            while carry (%i: i32 = 0) -> (%i.2)
                %2: bool = lt %i, %n
                yield %2
            do
                %3: i32 = add %i, 1
                yield %3
            if true -> (%x: i32)
                yield %i.2
            else
                yield 0
        """)


def test_literals_show_types_that_are_not_the_default() -> None:
    b = B()
    b.copy(lit(1), "a")
    b.copy(lit(1, I64), "b")
    b.copy(lit(0.1), "c")
    b.copy(lit(0.1, F64), "d")
    b.copy(lit(float("-inf"), D), "e")
    b.copy(lit(False), "f")
    b.copy(constant(), "g")
    lines = print_body(b.kernel()).splitlines()[1:]
    assert [line.split(" = ")[1] for line in lines] == ["1", "1_i64", "0.1", "0.1_f64", "-inf_D", "false", "N"]


def test_functions_come_before_kernels_and_are_called_with_their_generics() -> None:
    f = B("twice")
    f.ret(f.binary("add", f.param("x", D), lit(1.0, D)))
    function = f.function(scalar(D), variables=(D,))
    b = B()
    b.store(b.pointer("p", BF16), b.apply(function, lit(2.0, BF16), elements=(BF16,)))
    assert print_program(of_kernel(b.kernel(constants=(), variables=()), function)) == text("""
        function twice<D: Float>(%x: D) -> (D)
            %1: D = add %x, 1.0_D
            return %1

        kernel k(%p: Pointer<bf16>)
            %1: D = apply twice<bf16>(2.0_bf16)
            store(pointer = %p, value = %1)
        """)


def test_facts_about_kernels_and_ops() -> None:
    kernel = replace(
        B().kernel(),
        constants=(ConstantParameter(name="N", type=scalar(I32), known=64, span=HERE),),
        elements=(("D", BF16),),
        requirements=(Requirement(extent=N, rule="power-of-two", what="an end of `arange`", span=HERE),),
        attributes=Attributes(grid=(Extent.of("n"),), shapes=(("x", (N,)),), options=(("num_warps", 4),), pad=("N",)),
    )
    op = OpClass(
        name="AddOp",
        doc="",
        parameters=("n",),
        fields=(OpField(name="forward", kernel="k", arguments=(("N", Extent.of("n")),), span=HERE),),
        span=HERE,
    )
    assert print_program(replace(of_kernel(kernel), ops=(op,))) == text("""
        kernel k<D: Float, const N: i32 = 64>()
            where D = bf16
            where N is power-of-two for an end of `arange`
            grid [n]
            shape x = [N]
            option num_warps = 4
            pad N

        op AddOp(n)
            forward = k<N = n>
        """)


def test_names_do_not_depend_on_ids() -> None:
    b = B()
    b.ids = 100
    first = b.copy(lit(1), "x")
    second = b.copy(lit(2), "x")
    plain = b.copy(lit(3))
    kernel = b.kernel()
    assert value_names(kernel) == {first.id: "%x", second.id: "%x.2", plain.id: "%1"}
    program = of_kernel(kernel)
    assert print_program(renumber(program)) == print_program(program)


def test_strings_are_quoted() -> None:
    b = B()
    b.call("device_print", None, {"x": lit(1)}, at={"prefix": 'a "b"\n', "hex": True})
    assert '"a \\"b\\"\\n", hex = true' in print_body(b.kernel())


def test_attributes_of_every_kind() -> None:
    b = B()
    type = TensorType(F32, (N, Extent.of(4)))
    b.call("full", type, {"value": lit(0.0)}, at={"shape": type.shape, "dtype": F32, "order": (1, 0)})
    assert "full(value = 0.0, shape = [N, 4], dtype = f32, order = [1, 0])" in print_body(b.kernel())
