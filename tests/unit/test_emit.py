"""The emitter: what hand-made IR looks like as Python, and what it computes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from emitted import body_text, generated, imported, kernel_text
from ir_builder import B, D, N, constant, lit

from teenyc.ir.nodes import Block, For, Kernel, Let, Value
from teenyc.record import replace
from teenyc.types import BOOL, F32, F64, I32, I64, ONE, Compute, Extent, TensorType, scalar

COMPUTE = Compute(D)
ROW = TensorType(COMPUTE, (Extent.of("HEAD_DIM"),))


def unrolled(kernel: Kernel) -> Kernel:
    """The kernel with its loops marked as `static_range`."""
    statements = tuple(replace(s, unroll=True) if isinstance(s, For) else s for s in kernel.body.statements)
    return replace(kernel, body=Block(statements=statements))


def with_options(kernel: Kernel) -> Kernel:
    options = (("num_stages", 3), ("flatten", True))
    statements = tuple(replace(s, options=options) if isinstance(s, For) else s for s in kernel.body.statements)
    return replace(kernel, body=Block(statements=statements))


# ---- loops that carry values ----------------------------------------------------------------------------------------


def attention() -> Kernel:
    """The online softmax of one query row."""
    b = B("forward")
    q, k, v, o = (b.pointer(name, D) for name in ("q_ptr", "k_ptr", "v_ptr", "o_ptr"))
    rows, scale = b.param("n_ctx_k", I32), b.param("softmax_scale", F32)
    width = b.cast(constant("HEAD_DIM"), I64)
    base = b.binary("mul", b.cast(b.program_id(), I64), width, name="base")
    lane = b.arange(Extent.of("HEAD_DIM"), name="d")

    def row(pointer: Value, start: Value, name: str) -> Value:
        return b.cast(b.load(b.offset(pointer, b.binary("add", b.cast(lane, I64), start))), COMPUTE, name=name)

    q_vec = row(q, base, "q_vec")
    shape = {"shape": ROW.shape, "dtype": COMPUTE}
    start = {
        "acc": b.call("zeros", ROW, at=shape, name="acc"),
        "m_i": b.call("full", ROW, {"value": lit(float("-inf"), COMPUTE)}, at=shape, name="m_i"),
        "l_i": b.call("zeros", ROW, at=shape, name="l_i"),
    }
    with b.loop(lit(0), rows, "k_row", **start) as loop:
        acc, m_i, l_i = loop.inside
        k_base = b.binary("mul", b.cast(loop.counter, I64), b.cast(constant("HEAD_DIM"), I64), name="k_base")
        k_vec, v_vec = row(k, k_base, "k_vec"), row(v, k_base, "v_vec")
        product = b.binary("mul", q_vec, k_vec)
        score = b.call("sum", TensorType(COMPUTE, (ONE,)), {"input": product}, at={"axis": 0, "keep_dims": True})
        qk = b.binary("mul", score, b.cast(scale, COMPUTE), name="qk")
        m_new = b.call("maximum", ROW, {"x": m_i, "y": qk}, name="m_new")
        exp_diff = b.call("exp", ROW, {"x": b.binary("sub", m_i, m_new)}, name="exp_diff")
        p = b.call("exp", ROW, {"x": b.binary("sub", qk, m_new)}, name="p")
        l_next = b.binary("add", b.binary("mul", exp_diff, l_i), p, name="l_i")
        acc_next = b.binary("add", b.binary("mul", exp_diff, acc), b.binary("mul", p, v_vec), name="acc")
        loop.next(acc_next, m_new, l_next)
    acc, _, l_i = loop.results
    b.store(b.offset(o, b.binary("add", b.cast(lane, I64), base)), b.binary("div", acc, l_i))
    return b.kernel(constants=("HEAD_DIM",))


def test_attention_reads_as_an_author_writes_it() -> None:
    assert body_text(attention()) == (
        "D: tl.constexpr = q_ptr.dtype.element_ty\n"
        "COMPUTE: tl.constexpr = tl.float64 if D == tl.float64 else tl.float32\n"
        "softmax_scale = tl.cast(softmax_scale, tl.float32)\n"
        "base = tl.program_id(0).to(tl.int64) * HEAD_DIM\n"
        "d = tl.arange(0, HEAD_DIM)\n"
        "q_vec = tl.load(q_ptr + (d + base)).to(COMPUTE)\n"
        "acc = tl.zeros([HEAD_DIM], dtype=COMPUTE)\n"
        'm_i = tl.full([HEAD_DIM], float("-inf"), dtype=COMPUTE)\n'
        "l_i = tl.zeros([HEAD_DIM], dtype=COMPUTE)\n"
        "for k_row in range(n_ctx_k):\n"
        "    k_base = tl.cast(k_row, tl.int64) * HEAD_DIM\n"
        "    k_vec = tl.load(k_ptr + (d + k_base)).to(COMPUTE)\n"
        "    v_vec = tl.load(v_ptr + (d + k_base)).to(COMPUTE)\n"
        "    qk = tl.sum(q_vec * k_vec, axis=0, keep_dims=True) * softmax_scale\n"
        "    m_new = tl.maximum(m_i, qk)\n"
        "    exp_diff = tl.exp(m_i - m_new)\n"
        "    p = tl.exp(qk - m_new)\n"
        "    l_i = exp_diff * l_i + p\n"
        "    acc = exp_diff * acc + p * v_vec\n"
        "    m_i = m_new\n"
        "tl.store(o_ptr + (d + base), _round_to(acc / l_i, o_ptr.dtype.element_ty))\n"
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_attention_computes_attention(dtype: torch.dtype, tmp_path: Path, device: str) -> None:
    module = imported(generated(attention()), tmp_path)
    torch.manual_seed(0)
    q, k, v = (torch.randn(rows, 16, device=device).to(dtype) for rows in (3, 5, 5))
    o = torch.full_like(q, 7)
    module.forward[(3,)](q, k, v, o, 5, 0.25, HEAD_DIM=16)
    expected = torch.softmax(q.double() @ k.double().T * 0.25, -1) @ v.double()
    limit = {torch.float32: 1e-5, torch.float64: 1e-12, torch.float16: 2e-3, torch.bfloat16: 1e-2}[dtype]
    assert (o.double() - expected).norm() <= limit * expected.norm()


def test_swapped_values_take_one_assignment() -> None:
    b = B()
    out, n = b.pointer("out", I64), b.param("n", I32)
    with b.loop(lit(0), n, a=b.load(out, name="a"), b=b.load(out, name="b")) as loop:
        loop.next(*reversed(loop.inside))
    b.store(out, b.binary("sub", *loop.results))
    assert body_text(b.kernel(variables=())) == (
        "a = tl.load(out)\nb = tl.load(out)\nfor _ in range(n):\n    a, b = b, a\ntl.store(out, a - b)\n"
    )


def test_a_value_that_is_needed_after_its_successor_is_copied() -> None:
    b = B()
    out, n = b.pointer("out", I32), b.param("n", I32)
    with b.loop(lit(0), n, "i", x=lit(0)) as loop:
        (x,) = loop.inside
        following = b.binary("add", x, lit(1), name="x")
        b.store(b.offset(out, x), following)
        loop.next(following)
    b.store(out, loop.results[0])
    assert "    x_ = x + 1\n    tl.store(out + x, x_)\n    x = x_\n" in body_text(b.kernel(variables=()))


def test_copies_stand_in_an_order_that_reads_before_it_writes() -> None:
    b = B()
    out, n = b.pointer("out", I32), b.param("n", I32)
    with b.loop(lit(0), n, a=lit(0), b=lit(1), c=lit(2)) as loop:
        first, second, _ = loop.inside
        loop.next(second, n, first)
    b.store(out, b.binary("add", b.binary("add", *loop.results[:2]), loop.results[2]))
    assert "    c = a\n    a = b\n    b = n\n" in body_text(b.kernel(variables=()))


def test_a_literal_that_starts_a_loop_has_its_type() -> None:
    b = B()
    out, n = b.pointer("out", I64), b.param("n", I32)
    with b.loop(lit(0), n, i=lit(0), w=lit(0, I64), x=lit(0.5), d=lit(0.1, F64), f=lit(False)) as loop:
        loop.next(*(b.binary("add" if v.type.element != BOOL else "or", v, v) for v in loop.inside))  # type: ignore[union-attr]
    for value in loop.results:
        b.store(out, b.cast(value, I64))
    text = body_text(b.kernel(variables=()))
    for line in ("i = 0", "w = tl.full([], 0, tl.int64)", "x = 0.5", "d = tl.full([], 0.1, tl.float64)", "f = False"):
        assert f"{line}\n" in text


def test_loops_of_every_kind() -> None:
    b = B()
    out, n = b.pointer("out", I64), b.param("n", I64)
    with b.loop(lit(0, I64), n, "i") as loop:
        b.store(b.offset(out, loop.counter), lit(1, I64))
    with b.loop(lit(2, I64), lit(4, I64), "j") as loop:
        b.store(b.offset(out, loop.counter), loop.counter)
    kernel = b.kernel(variables=())
    assert "for i in range(n):" in body_text(kernel)
    assert "for j in range(2, tl.full([], 4, tl.int64)):" in body_text(kernel)
    assert "for j in tl.static_range(2, 4):" in body_text(unrolled(kernel))
    assert "for i in tl.range(n, num_stages=3, flatten=True):" in body_text(with_options(kernel))


def test_a_condition_with_statements_is_computed_before_and_at_the_end() -> None:
    b = B()
    out, n = b.pointer("out", I32), b.param("n", I32)
    with b.loop_while(i=lit(0)) as loop:
        x = b.load(b.offset(out, loop.inside[0]), name="x")
        loop.until(b.compare("lt", x, n))
        loop.next(b.binary("add", loop.inside[0], lit(1), name="i"))
    b.store(out, loop.results[0])
    assert body_text(b.kernel(variables=())) == (
        "i = 0\n"
        "x = tl.load(out + i)\n"
        "running = x < n\n"
        "while running:\n"
        "    i = i + 1\n"
        "    x = tl.load(out + i)\n"
        "    running = x < n\n"
        "tl.store(out, i)\n"
    )


# ---- branches -------------------------------------------------------------------------------------------------------


def test_branches() -> None:
    b = B("branches")
    out, n = b.pointer("out", I32), b.param("n", I32)
    with b.branch(b.compare("lt", n, lit(3)), scalar(I32), name="k") as fork:
        fork.then(lit(1))
        with b.branch(b.compare("eq", n, lit(7)), scalar(I32), name="k") as inner:
            b.store(out, lit(3))
            inner.then(lit(2))
            inner.otherwise(lit(5))
        fork.otherwise(inner.results[0])
    with b.branch(b.unary("not", b.compare("lt", n, lit(9)))) as early:
        b.ret()
        early.then()
    b.store(out, fork.results[0])
    assert body_text(b.kernel(variables=())) == (
        "if n < 3:\n"
        "    k = 1\n"
        "elif n == 7:\n"
        "    tl.store(out, 3)\n"
        "    k = 2\n"
        "else:\n"
        "    k = 5\n"
        "if not n < 9:\n"
        "    return\n"
        "tl.store(out, k)\n"
    )


def test_a_variable_that_one_branch_changes() -> None:
    b = B()
    out, n = b.pointer("out", I32), b.param("n", I32)
    x = b.load(out, name="x")
    with b.branch(b.compare("lt", n, lit(3)), scalar(I32), name="x") as fork:
        fork.then(b.binary("add", x, lit(1), name="x"))
        fork.otherwise(x)
    b.store(out, fork.results[0])
    assert body_text(b.kernel(variables=())) == "x = tl.load(out)\nif n < 3:\n    x = x + 1\ntl.store(out, x)\n"


def test_a_choice_between_two_values() -> None:
    b = B()
    out, n = b.pointer("out", F32), b.param("n", I32)
    with b.branch(b.compare("gt", n, lit(0)), scalar(F32), name="x") as fork:
        fork.then(b.load(out))
        fork.otherwise(lit(1.0))
    b.store(out, fork.results[0])
    assert body_text(b.kernel(variables=())) == "x = tl.load(out) if n > 0 else 1.0\ntl.store(out, x)\n"


# ---- order of effects -----------------------------------------------------------------------------------------------


def test_a_load_does_not_cross_a_store() -> None:
    b = B()
    out = b.pointer("out", I32)
    value = b.load(out)
    b.store(out, lit(1))
    b.store(out, value)
    assert body_text(b.kernel(variables=())) == "loaded = tl.load(out)\ntl.store(out, 1)\ntl.store(out, loaded)\n"


def test_an_atomic_whose_result_nobody_reads() -> None:
    b = B()
    out = b.pointer("out", I32)
    b.call("atomic_add", scalar(I32), {"pointer": out, "val": lit(1)}, name="old")
    assert body_text(b.kernel(variables=())) == "tl.atomic_add(out, 1)\n"


def test_deep_expressions_are_cut() -> None:
    b = B()
    out = b.pointer("out", I32)
    value = b.load(out)
    for _ in range(200):
        value = b.binary("add", value, lit(1))
    b.store(out, value)
    text = body_text(b.kernel(variables=()))
    assert max(line.count("+ 1") for line in text.split("\n")) < 40


# ---- device functions -----------------------------------------------------------------------------------------------


def test_a_device_function_takes_tensors_and_what_it_needs_of_dtypes(tmp_path: Path, device: str) -> None:
    f = B("blocks")
    n, size = f.param("n", I32), f.param("size", I32)
    f.ret(f.binary("div", f.binary("add", n, f.binary("sub", size, lit(1))), size))
    blocks = replace(f.function(scalar(I32)), doc="Rounds up.")
    g = B("filled")
    g.ids = 100
    value = g.param("value", COMPUTE)
    g.ret(g.call("full", TensorType(COMPUTE, (N,)), {"value": value}, at={"shape": (N,), "dtype": COMPUTE}))
    filled = g.function(TensorType(COMPUTE, (N,)), constants=("N",), variables=(D,))
    b = B()
    b.ids = 200
    out, x = b.pointer("out", I32), b.pointer("x", D)
    b.store(out, b.apply(blocks, constant("N"), lit(3)))
    row = b.apply(filled, lit(0.1, COMPUTE), elements=(D,))
    lets = b.stack[0]
    last = lets[-1]
    assert isinstance(last, Let)
    lets[-1] = replace(last, operation=replace(last.operation, constants=(("N", constant("N")),)))  # type: ignore[call-arg]
    b.store(b.offset(x, b.arange(N)), row)
    made = generated(b.kernel(), functions=(blocks, filled))
    assert kernel_text(made, "blocks") == (
        'def blocks(n, size):\n    """Rounds up."""\n    return (n + (size - 1)) // size\n'
    )
    assert "def filled(value, D: tl.constexpr, N: tl.constexpr):\n" in made.text
    assert "blocks(tl.full([], N, tl.int32), tl.full([], 3, tl.int32))" in made.text
    assert "filled(tl.full([], 0.1, COMPUTE), D=D, N=N)" in made.text
    tensor, rows = torch.zeros(1, dtype=torch.int32, device=device), torch.zeros(4, device=device)
    imported(made, tmp_path).k[(1,)](tensor, rows, N=4)
    assert (tensor.item(), rows.tolist()) == (2, [torch.tensor(0.1).item()] * 4)
