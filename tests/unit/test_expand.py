"""Expansion: a kernel with the bodies of what it calls says the same, in the caller's types and extents."""

from __future__ import annotations

from teenyc.driver import compile_source
from teenyc.ir.expand import MOST, expanded
from teenyc.ir.nodes import Apply, Call, Let, Program
from teenyc.ir.verify import verify
from teenyc.ir.walk import statements_of
from teenyc.record import replace

SOURCE = """
fn block<D: Float, const N: i32>(p: Pointer<D>, n: i32) -> Tensor<D> {
    let off = arange(0, N);
    let mut x = load(p + off, mask = off < n, other = 0.0);
    let mut i = 0;
    while i < N { x = x + x; i += 2; }
    x
}
fn both<D: Float, const M: i32>(p: Pointer<D>) -> (Tensor<D>, Tensor<D>) {
    (block::<D, M>(p, M), block::<D, { M * 2 }>(p, 3))
}
#[kernel]
fn k<E: Float, const SIZE: i32>(p: Pointer<E>, o: Pointer<E>) {
    let (a, b) = both::<E, SIZE>(p + program_id(0) * SIZE);
    store(o + arange(0, SIZE), a * sum(b));
}
"""


def checked(text: str) -> Program:
    program = compile_source(text).checked
    assert program is not None
    return program


def test_a_kernel_is_whole_and_sound() -> None:
    program = checked(SOURCE)
    whole = expanded(program.kernels[0], {f.name: f for f in program.functions})
    lets = [s for _, s in statements_of(whole.kernel.body) if isinstance(s, Let)]
    assert not any(isinstance(let.operation, Apply) for let in lets)
    ends = [
        str(a) for let in lets if isinstance(let.operation, Call) for n, a in let.operation.attributes if n == "end"
    ]
    assert ends == ["SIZE", "2 * SIZE", "SIZE"]
    verify(replace(program, kernels=(whole.kernel,), functions=()))
    names = {function for function, _ in whole.origins.values()}
    assert names == {"block", "both"}


def test_what_would_be_huge_stays() -> None:
    text = "fn f0(x: f32) -> f32 { x + 1.0 }\n"
    text += "".join(f"fn f{i}(x: f32) -> f32 {{ f{i - 1}(f{i - 1}(x)) }}\n" for i in range(1, 40))
    text += "#[kernel] fn k(p: Pointer<f32>) { store(p + program_id(0), f39(load(p + program_id(0)))); }"
    program = checked(text)
    assert len(program.functions) == 40
    assert MOST < 2**39
    assert expanded(program.kernels[0], {f.name: f for f in program.functions}).kernel == program.kernels[0]
