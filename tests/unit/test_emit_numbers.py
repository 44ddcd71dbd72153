"""Numbers in emitted kernels: division, casts, rounding and scalars mean what the source says, on every path."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import torch
from emitted import body_text, generated, imported
from ir_builder import B, constant, lit

from teenyc.types import BF16, F16, F32, F64, I32, I64, U8, U32, scalar


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
