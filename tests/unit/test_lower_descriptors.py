"""Descriptors at the bounds of device functions, which take and give what a descriptor is made of."""

from __future__ import annotations

from pathlib import Path

import torch
from emitted import imported
from ir_builder import B, lit

from teenyc.codegen.emit import emit
from teenyc.driver import run_passes
from teenyc.ir.nodes import Function, Operand, Parameter, Program, Value
from teenyc.ir.printer import print_body
from teenyc.ir.verify import verify
from teenyc.passes.lower_descriptors import lower_descriptors
from teenyc.source import SourceFile, Span
from teenyc.types import F32, I32, I64, DescriptorType, Extent, TensorType

BLOCK = DescriptorType(F32, (Extent.of(4), Extent.of(8)), is_block_pointer=True)
TILE = TensorType(F32, BLOCK.block)
CHECKED = {"boundary_check": (0, 1)}


def parameter(b: B, name: str) -> Value:
    value = b.value(BLOCK, name)
    b.parameters.append(Parameter(value=value, span=Span(0, 0)))
    return value


def below() -> Function:
    """A block pointer that is one block further down."""
    b = B("below")
    block = parameter(b, "block")
    b.ret(b.call("advance", BLOCK, {"base": block, "offsets0": lit(4), "offsets1": lit(0)}, name="next"))
    return b.function(BLOCK)


def doubled() -> Function:
    """Twice the block that a block pointer points to."""
    b = B("doubled")
    block = parameter(b, "block")
    loaded = b.call("load_block_ptr", TILE, {"pointer": block}, at=CHECKED)
    b.ret(b.binary("add", loaded, loaded))
    return b.function(TILE)


def program() -> Program:
    b = B("k")
    x, out, rows = b.pointer("x"), b.pointer("out"), b.param("rows", I32)
    columns = b.param("columns", I64)
    twice, down = doubled(), below()

    def block(name: str, base: Operand) -> Value:
        operands = {"base": base, "shape0": rows, "shape1": columns, "strides0": columns, "strides1": lit(1)}
        operands |= {"offsets0": lit(0), "offsets1": lit(-1)}
        return b.call("make_block_ptr", BLOCK, operands, name=name, at={"block_shape": BLOCK.block})

    second = b.apply(down, block("x_block", x), name="second")
    target = b.apply(down, block("out_block", out), name="target")
    b.call("store_block_ptr", None, {"pointer": target, "value": b.apply(twice, second)}, at=CHECKED)
    return Program(doc="", kernels=(b.kernel(constants=(), variables=()),), functions=(down, twice))


def test_a_function_takes_and_gives_the_parts() -> None:
    verify(program())
    lowered = lower_descriptors(program())
    verify(lowered)
    assert print_body(lowered.functions[0]) == (
        "function below(%block_base: Pointer<f32>, %block_size_0: i64, %block_size_1: i64, %block_stride_0: i64, "
        "%block_stride_1: i64, %block_offset_0: i64, %block_offset_1: i64) "
        "-> (Pointer<f32>, i64, i64, i64, i64, i64, i64)\n"
        "    %1: i64 = add %block_offset_0, 4_i64\n"
        "    return %block_base, %block_size_0, %block_size_1, %block_stride_0, %block_stride_1, %1, %block_offset_1\n"
    )


def test_what_goes_through_functions_is_right(tmp_path: Path, device: str) -> None:
    made = emit(run_passes(program(), verify=True), source=SourceFile("k.tk", ""))
    module = imported(made, tmp_path, "descriptors_in_functions")
    x = torch.arange(35.0, device=device).reshape(7, 5)
    out = torch.zeros_like(x)
    module.k[(1,)](x, out, 7, 5)
    expected = torch.zeros_like(x)
    expected[4:] = 2 * x[4:]
    assert torch.equal(out, expected)


def test_a_program_without_descriptors_stays_as_it_is() -> None:
    b = B()
    b.store(b.pointer("out", I32), lit(1))
    plain = b.program()
    assert lower_descriptors(plain) is plain
