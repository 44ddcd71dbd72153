"""The emitter: what hand-made IR looks like as Python, and what it computes."""

from __future__ import annotations

import ast
import inspect
import math
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from emitted import body_text, generated, imported, kernel_text
from hypothesis import given
from hypothesis import strategies as st
from ir_builder import B, D, N, constant, lit

from teenyc.codegen.comments import comment_lines, docstring
from teenyc.codegen.layout import broken
from teenyc.ir.nodes import Block, For, Kernel, Let, Value
from teenyc.record import replace
from teenyc.source import Comments, SourceFile, Span
from teenyc.types import BF16, BOOL, F16, F32, F64, I32, I64, ONE, U8, U32, Compute, Extent, TensorType, scalar

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


# ---- numbers --------------------------------------------------------------------------------------------------------


def test_division_truncates_for_every_sign(tmp_path: Path, device: str) -> None:
    b = B("divide")
    out, n = b.pointer("out", I32), b.param("n", I32)
    size = constant("SIZE")
    cells = [
        b.binary("div", constant("N"), size),
        b.binary("rem", constant("N"), size),
        b.binary("div", n, size),
        b.binary("rem", n, size),
        b.binary("div", n, lit(-3)),
    ]
    for index, value in enumerate(cells):
        b.store(b.offset(out, lit(index)), value)
    module = imported(generated(b.kernel(constants=("N", "SIZE"), variables=())), tmp_path)
    tensor = torch.zeros(5, dtype=torch.int32, device=device)
    module.divide[(1,)](tensor, -72, N=-72, SIZE=10)
    assert tensor.tolist() == [-7, -2, -7, -2, 24]


def test_floats_become_integers_as_in_rust(tmp_path: Path, device: str) -> None:
    b = B("integers")
    x, narrow, wide, bytes_ = b.pointer("x", F32), b.pointer("a", I32), b.pointer("w", I64), b.pointer("c", U8)
    lane = b.arange(8, name="lane")
    value = b.load(b.offset(x, lane), name="v")
    b.store(b.offset(narrow, lane), b.cast(value, I32))
    b.store(b.offset(wide, lane), b.cast(value, I64))
    b.store(b.offset(bytes_, lane), b.cast(value, U8))
    module = imported(generated(b.kernel(constants=(), variables=())), tmp_path)
    given = torch.tensor([math.nan, math.inf, -math.inf, 3e9, -3e9, 1e19, -0.9, 200.7], device=device)
    a, w, c = (torch.zeros(8, dtype=t, device=device) for t in (torch.int32, torch.int64, torch.uint8))
    module.integers[(1,)](given, a, w, c)
    low, high, least, greatest = -(2**31), 2**31 - 1, -(2**63), 2**63 - 1
    assert a.tolist() == [0, high, low, high, low, high, 0, 200]
    assert w.tolist() == [0, greatest, least, 3 * 10**9, -3 * 10**9, greatest, 0, 200]
    assert c.tolist() == [0, 255, 0, 255, 0, 255, 0, 200]


def test_bf16_is_rounded_to_nearest_even(tmp_path: Path, device: str) -> None:
    b = B("store")
    x, out = b.pointer("x", F32), b.pointer("out", BF16)
    lane = b.arange(8, name="lane")
    b.store(b.offset(out, lane), b.load(b.offset(x, lane)))
    module = imported(generated(b.kernel(constants=(), variables=())), tmp_path)
    bits = [0x3F808000, 0x3F818000, 0x3FFF8000, 0x7F7FFFFF, 0x00008001, 0x7F800001, 0xBF808001, 0xFF800000]
    given = torch.tensor([struct.unpack("<f", struct.pack("<I", b))[0] for b in bits], device=device)
    result = torch.zeros(8, dtype=torch.bfloat16, device=device)
    module.store[(1,)](given, result)
    expected = given.to(torch.bfloat16)
    assert torch.equal(result.isnan(), expected.isnan())
    assert torch.equal(result.nan_to_num(7), expected.nan_to_num(7))


def test_scalars_arrive_as_declared(tmp_path: Path, device: str) -> None:
    b = B("scalars")
    out = b.pointer("out", F64)
    h, bf, d = b.param("h", F16), b.param("b", BF16), b.param("d", F64)
    u, w, s = b.param("u", U32), b.param("w", I64), b.param("s", F32)
    values = [
        b.cast(b.cast(h, F32, name="h"), F64),
        b.cast(b.cast(bf, F32, name="b"), F64),
        d,
        b.cast(b.binary("add", u, u), F64),
        b.cast(b.binary("mul", w, w), F64),
        b.cast(b.binary("mul", s, s), F64),
    ]
    for index, value in enumerate(values):
        b.store(b.offset(out, lit(index)), value)
    made = generated(b.kernel(constants=(), variables=()))
    assert "h: tl.float32,\n    b: tl.float32,\n    d: tl.float64,\n" in made.text
    module = imported(made, tmp_path)
    tensor = torch.zeros(6, dtype=torch.float64, device=device)
    module.scalars[(1,)](tensor, 42.1, 1.001, 0.1, 2**31, 2**31 - 1, 0.1)
    half, brain = (torch.tensor(x, dtype=torch.float32) for x in (42.1, 1.001))
    single = torch.tensor(0.1, dtype=torch.float32)
    assert tensor.tolist() == [
        half.half().double().item(),
        brain.bfloat16().double().item(),
        0.1,
        0.0,
        float((2**31 - 1) ** 2),
        (single * single).double().item(),
    ]


def test_literals_keep_their_digits() -> None:
    b = B()
    x, out = b.pointer("x", F64), b.pointer("out", F64)
    value = b.load(x, name="v")
    b.store(out, b.binary("mul", value, lit(0.1, F64)))
    b.store(out, lit(0.1, F64))
    b.store(out, lit(0.5, F64))
    b.store(out, b.call("maximum", scalar(F64), {"x": value, "y": lit(0.1, F64)}))
    b.store(out, lit(float("nan"), F64))
    text = body_text(b.kernel(variables=()))
    assert "tl.store(out, v * 0.1)\n" in text
    assert "tl.store(out, tl.full([], 0.1, tl.float64))\n" in text
    assert "tl.store(out, 0.5)\n" in text
    assert "tl.maximum(v, tl.full([], 0.1, tl.float64))" in text
    assert 'tl.store(out, float("nan"))\n' in text


def test_parentheses_only_where_needed() -> None:
    b = B()
    out = b.pointer("out", I32)
    x = b.load(out, name="x")
    total = b.binary("add", x, b.binary("mul", x, x))
    b.store(out, b.binary("sub", x, b.binary("sub", total, lit(-1))))
    b.store(out, b.binary("shl", b.binary("and", x, lit(3)), x))
    b.store(out, b.unary("neg", b.binary("add", x, lit(-2))))
    text = body_text(b.kernel(variables=()))
    assert "tl.store(out, x - (x + x * x - -1))\n" in text
    assert "tl.store(out, (x & 3) << (x & 31))\n" in text
    assert "tl.store(out, -(x - 2))\n" in text


def test_static_values_stay_known() -> None:
    b = B()
    out = b.pointer("out", I32)
    width = b.copy(lit(7), name="width")
    is_wide = b.compare("gt", width, constant("N"), name="is_wide")
    with b.branch(is_wide) as fork:
        b.store(out, width)
        fork.then()
    text = body_text(b.kernel(variables=()))
    assert text == (
        "width: tl.constexpr = 7\nis_wide: tl.constexpr = width > N\nif is_wide:\n    tl.store(out, width)\n"
    )


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


# ---- text -----------------------------------------------------------------------------------------------------------


@given(st.text())
def test_a_module_docstring_is_the_text(text: str) -> None:
    source = "\n".join(docstring(text, "")) or '""'
    assert ast.literal_eval(source) == text
    assert all(len(line) <= 120 or " " not in line.strip() for line in source.split("\n"))


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=60))
def test_a_kernel_docstring_has_the_words(text: str) -> None:
    lines = docstring(text, "    ")
    if lines:
        tree = ast.parse("def f():\n" + "\n".join(lines))
        function = tree.body[0]
        assert isinstance(function, ast.FunctionDef)
        assert (ast.get_docstring(function) or "").split() == inspect.cleandoc(text).split()
    assert not any(line.strip().startswith("def ") for line in lines)


@given(st.text())
def test_a_comment_stays_a_comment(text: str) -> None:
    lines = comment_lines(text, "    ")
    assert ast.parse("if True:\n" + "\n".join(lines) + "\n    pass").body[0].lineno == 1
    assert all(line.startswith("    #") for line in lines)
    assert len("\n".join(lines).splitlines()) == len(lines)


@pytest.mark.parametrize("depth", range(1, 5))
def test_long_lines_are_broken_and_mean_the_same(depth: int) -> None:
    text = "tl.load(pointer + offsets[:, None] * stride, mask=mask & (lane < length), other=0.0)"
    for _ in range(depth):
        text = f"tl.maximum({text} * scale + (x - {text}), {text}).to(tl.float32)"
    for statement in (f"value = {text}", f"return {text}", f"value = {text} + {text}", f"value = -({text}) * 2"):
        lines = broken(statement, "    ")
        assert max(map(len, lines)) <= 120
        before, after = (ast.dump(ast.parse(f"def f():\n{body}")) for body in (f"    {statement}", "\n".join(lines)))
        assert before == after


def test_a_string_that_is_too_long_is_cut() -> None:
    statement = 'tl.device_assert(x > 0, "' + 'it \\"is\\" so ' * 30 + '")'
    lines = broken(statement, "        ")
    assert max(map(len, lines)) <= 120
    assert ast.dump(ast.parse("\n".join(lines).strip())) == ast.dump(ast.parse(statement))


def test_comments_and_blank_lines_stay_and_lines_know_their_source() -> None:
    source = SourceFile("k.tk", "fn k() {\n    let x = 1;\n\n    // the store\n    store(out, x);\n}\n")
    b = B()
    out = b.pointer("out", I32)
    x = b.load(out, name="x")
    b.store(out, b.binary("add", x, x))
    first, _, last = b.stack[0]
    assert isinstance(first, Let)
    assert isinstance(last, Let)
    at = source.text.index
    b.stack[0][0] = replace(first, span=Span(at("let"), at(";")), comments=Comments(trailing=" one"))
    b.stack[0][2] = replace(last, span=Span(at("store(out"), at("}")), comments=Comments((" the store",)))
    made = generated(b.kernel(variables=()), source=source)
    lines = made.text.split("\n")
    start = lines.index("    x = tl.load(out)  # one")
    assert lines[start + 1 : start + 4] == ["", "    # the store", "    tl.store(out, x + x)"]
    assert (start + 1, 2) in made.source_map
    assert (start + 4, 5) in made.source_map


def test_the_same_bytes_under_every_hash_seed() -> None:
    folder = Path(__file__).parent
    script = (
        f"import sys; sys.path[:0] = [{str(folder)!r}, {str(folder.parent.parent)!r}]\n"
        "from random_ir import random_kernel; from emitted import generated\n"
        "print(*(generated(random_kernel(s, 'k')).text for s in range(6)))"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1]
