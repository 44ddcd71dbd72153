"""The verifier: it takes what is valid and names what is broken."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from ir_builder import HERE, B, D, N, constant, lit, of_kernel

from teenyc.ir.nodes import Binary, Block, Cast, Constant, For, Literal, Value
from teenyc.ir.verify import verify
from teenyc.record import replace
from teenyc.types import BOOL, F32, I8, I32, I64, DescriptorType, Extent, TensorType, Unsuffixed, scalar


def check(b: B) -> None:
    verify(of_kernel(b.kernel()))


def test_valid_ir_passes() -> None:
    b = B()
    x, n = b.pointer("x", D), b.param("n", I32)
    row = b.arange()
    with b.loop(lit(0), n, acc=lit(0.0, D)) as loop:
        at = b.offset(x, b.binary("add", row, b.binary("mul", loop.counter, constant())))
        total = b.call("sum", scalar(D), {"input": b.load(at)}, at={"axis": 0})
        loop.next(b.binary("add", loop.inside[0], total))
    with b.branch(b.compare("lt", n, lit(0))):
        b.ret()
    with b.loop_while(i=lit(0)) as count:
        count.until(b.compare("lt", count.inside[0], n))
        count.next(b.binary("add", count.inside[0], lit(1)))
    b.store(x, loop.results[0])
    check(b)


def test_a_static_assert_may_make_different_symbols_equal() -> None:
    b = B()
    left, right = b.arange(N), b.arange(Extent.of("M"))
    b.let(Binary(operator="add", left=left, right=right), left.type)
    check(b)


VIEW = DescriptorType(F32, (Extent.of(8), Extent.of(8)))
PARTS = {"shape0": lit(8), "shape1": lit(8), "strides0": lit(8), "strides1": lit(1)}


def test_descriptors_are_values() -> None:
    b = B()
    view = b.call("make_tensor_descriptor", VIEW, {"base": b.pointer("x"), **PARTS}, at={"block_shape": VIEW.block})
    at = {"offsets0": lit(0), "offsets1": lit(4)}
    loaded = b.call("load_tensor_descriptor", TensorType(F32, VIEW.block), {"desc": b.copy(view), **at})
    b.call("store_tensor_descriptor", None, {"desc": view, **at, "value": loaded})
    check(b)


def descriptor_of_a_pointer(b: B) -> None:
    tile = TensorType(F32, VIEW.block)
    b.call("load_tensor_descriptor", tile, {"desc": b.pointer("x"), "offsets0": lit(0), "offsets1": lit(0)})


def descriptor_with_one_stride(b: B) -> None:
    parts = {name: part for name, part in PARTS.items() if name != "strides1"}
    b.call("make_tensor_descriptor", VIEW, {"base": b.pointer("x"), **parts})


def descriptor_that_is_advanced(b: B) -> None:
    view = b.call("make_tensor_descriptor", VIEW, {"base": b.pointer("x"), **PARTS})
    b.call("advance", VIEW, {"base": view, "offsets0": lit(0), "offsets1": lit(0)})


def two_definitions(b: B) -> None:
    b.copy(lit(1))
    b.ids -= 1
    b.copy(lit(2))


def use_before_definition(b: B) -> None:
    b.copy(Value(99, scalar(I32)))


def use_after_scope(b: B) -> None:
    with b.loop(lit(0), b.param("n", I32)):
        inner = b.copy(lit(1))
    b.copy(inner)


def counter_after_loop(b: B) -> None:
    with b.loop(lit(0), lit(4)) as loop:
        pass
    b.copy(loop.counter)


def use_with_another_type(b: B) -> None:
    value = b.copy(lit(1))
    b.copy(replace(value, type=scalar(I64)))


def mixed_operands(b: B) -> None:
    b.binary("add", b.param("a", I32), b.param("b", I64))


def wrong_shape(b: B) -> None:
    b.let(Binary(operator="add", left=b.arange(4), right=b.arange(8)), TensorType(I32, (Extent.of(4),)))


def wrong_result(b: B) -> None:
    b.let(Binary(operator="add", left=lit(1), right=lit(2)), scalar(I64))


def cast_that_reshapes(b: B) -> None:
    b.let(Cast(operand=b.arange(4)), scalar(I32))


def unknown_operator(b: B) -> None:
    b.binary("plus", lit(1), lit(2))


def float_offset(b: B) -> None:
    b.offset(b.pointer("p"), lit(1.0))


def unknown_intrinsic(b: B) -> None:
    b.call("frobnicate", scalar(I32))


def unknown_parameter(b: B) -> None:
    b.call("program_id", scalar(I32), at={"axle": 0})


def unsuffixed(b: B) -> None:
    b.copy(Literal(1, scalar(Unsuffixed(1, False))))


def literal_out_of_range(b: B) -> None:
    b.copy(lit(200, I8))


def literal_of_wrong_kind(b: B) -> None:
    b.copy(Literal(1, scalar(BOOL)))


def unknown_constant(b: B) -> None:
    b.copy(Constant("MISSING", scalar(I32)))


def carried_type_changes(b: B) -> None:
    with b.loop(lit(0), lit(4), acc=lit(0.0)) as loop:
        loop.next(lit(0))


def carried_count(b: B) -> None:
    with b.loop(lit(0), lit(4), acc=lit(0.0)) as loop:
        loop.next()


def branch_yields_too_little(b: B) -> None:
    with b.branch(lit(True), scalar(F32)) as fork:
        fork.then(lit(1.0))
        fork.otherwise()


def condition_is_a_tensor(b: B) -> None:
    with b.branch(b.compare("lt", b.arange(), lit(4))):
        pass


def return_in_a_loop(b: B) -> None:
    with b.loop(lit(0), lit(4)):
        b.ret()


def code_after_return(b: B) -> None:
    b.ret()
    b.copy(lit(1))


def kernel_returns_a_value(b: B) -> None:
    b.ret(lit(1))


def bounds_of_two_types(b: B) -> None:
    with b.loop(lit(0), b.param("n", I64)):
        pass


BROKEN: dict[Callable[[B], None], str] = {
    two_definitions: "defined twice",
    use_before_definition: "not in scope",
    use_after_scope: "not in scope",
    counter_after_loop: "not in scope",
    use_with_another_type: "a use differs from its definition",
    mixed_operands: "`i32` meets `i64`",
    wrong_shape: "do not give",
    wrong_result: "the result is `i64`",
    cast_that_reshapes: "a cast changes the shape",
    unknown_operator: "unknown operator",
    float_offset: "an offset of type `f32`",
    unknown_intrinsic: "there is no intrinsic `frobnicate`",
    unknown_parameter: "no parameter `axle`",
    descriptor_of_a_pointer: "needs one type of descriptor",
    descriptor_with_one_stride: "`strides` does not have 2 items",
    descriptor_that_is_advanced: "the other kind of descriptor",
    unsuffixed: "no literal of its type",
    literal_out_of_range: "no literal of its type",
    literal_of_wrong_kind: "no literal of its type",
    unknown_constant: "no constant of the kernel",
    carried_type_changes: "a carried value has the types",
    carried_count: "1 values are carried",
    branch_yields_too_little: "a branch yields (), not (f32)",
    condition_is_a_tensor: "no bool scalar",
    return_in_a_loop: "inside a loop",
    code_after_return: "statements follow a return",
    kernel_returns_a_value: "returns (i32), not ()",
    bounds_of_two_types: "not of one integer type",
}


@pytest.mark.parametrize("build", BROKEN, ids=lambda f: f.__name__)
def test_broken_ir_is_named(build: Callable[[B], None]) -> None:
    b = B("broken")
    build(b)
    with pytest.raises(AssertionError) as raised:
        check(b)
    assert str(raised.value).startswith("broken IR in kernel `broken`: ")
    assert BROKEN[build] in str(raised.value)


def test_the_statement_is_shown() -> None:
    b = B()
    b.binary("add", b.param("a", I32), b.param("b", I64), name="c")
    with pytest.raises(AssertionError, match=r"(?s)meets.*\n%c: i32 = add %a, %b$"):
        check(b)


def test_functions_are_checked_against_their_calls() -> None:
    f = B("inc")
    f.ret(f.binary("add", f.param("x", I32), lit(1)))
    function = f.function(scalar(I32))
    b = B()
    b.apply(function, lit(1), lit(2))
    with pytest.raises(AssertionError, match="do not match the parameters"):
        verify(of_kernel(b.kernel(), function))
    b = B()
    b.apply(function, lit(1.0))
    with pytest.raises(AssertionError, match="meets `i32` of the function"):
        verify(of_kernel(b.kernel(), function))
    with pytest.raises(AssertionError, match="no device function"):
        verify(of_kernel(b.kernel()))


def test_a_function_returns_what_it_states() -> None:
    f = B("wrong")
    f.ret(lit(1.0))
    with pytest.raises(AssertionError, match=r"function `wrong`: returns \(f32\), not \(i32\)"):
        verify(of_kernel(B().kernel(), f.function(scalar(I32))))


def test_a_loop_step_has_the_type_of_the_counter() -> None:
    b = B()
    counter = b.value(scalar(I32), "i")
    loop = For(counter=counter, start=lit(0), stop=lit(4), step=lit(1, I64), carried=(), body=Block(), span=HERE)
    b.add(loop)
    with pytest.raises(AssertionError, match="not of one integer type"):
        check(b)


def test_a_branch_that_returns_yields_nothing() -> None:
    b = B()
    with b.branch(lit(True), scalar(I32)) as fork:
        b.ret()
        fork.then()
        fork.otherwise(lit(1))
    b.copy(fork.results[0])
    check(b)
