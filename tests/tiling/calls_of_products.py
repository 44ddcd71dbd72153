"""Calls of products of matrices, layers, convolutions and norms."""

from __future__ import annotations

import torch
from calls import F16, F32, F64, FLOATS, SIZES, Call, Draw, blocks

functional = torch.nn.functional
SOME = tuple((rows, n) for rows, n in SIZES if n)


@blocks("row k", 1, FLOATS)
def matrix_product(draw: Draw, rows: int, n: int) -> Call:
    a, b = draw(rows, n), draw(n, 32)
    return Call((rows,), {"a": a, "b": b, "k_size": n}, {"c": a @ b}, {"N": 32})


@blocks("row column k", 1, FLOATS)
def product_of_elements(draw: Draw, rows: int, n: int) -> Call:
    a, b = draw(rows, 33), draw(33, n)
    return Call((rows, n), {"a": a, "b": b, "n": n, "k_size": 33}, {"c": a @ b})


@blocks("row column k", 1)
def product_of_rows(draw: Draw, rows: int, n: int) -> Call:
    a, b = draw(rows, n), draw(17, n)
    return Call((rows, 17), {"a": a, "b": b, "n": 17, "k_size": n}, {"c": a @ b.T})


@blocks("row k", 1)
def batched_product(draw: Draw, rows: int, n: int) -> Call:
    a, b = draw(3, rows, n), draw(3, n, 16)
    return Call((rows, 3), {"a": a, "b": b, "rows": rows, "k_size": n}, {"c": a @ b}, {"N": 16})


@blocks("row k", 1)
def strides_as_arguments(draw: Draw, rows: int, n: int) -> Call:
    a, b = draw(n, rows), draw(16, 2 * n)
    c = torch.full((rows, 3 * 16), float("nan"), dtype=F64)
    c[:, ::3] = a.T @ b[:, ::2].T
    strides = {"a_row": 1, "a_k": rows, "b_k": 2, "b_n": 2 * n, "c_row": 3 * 16, "c_n": 3}
    return Call((rows,), {"a": a, "b": b, "k_size": n, **strides}, {"c": c}, {"N": 16})


@blocks("row k", 1, loss=500)
def product_in_tf32(draw: Draw, rows: int, n: int) -> Call:
    return matrix_product(draw, rows, n)


@blocks("row k", 1)
def product_in_tf32x3(draw: Draw, rows: int, n: int) -> Call:
    return matrix_product(draw, rows, n)


@blocks("row k", 1, FLOATS)
def linear(draw: Draw, rows: int, n: int) -> Call:
    x, w, bias = draw(rows, n), draw(n, 16), draw(16)
    arguments = {"x": x, "w": w, "bias": bias, "k_size": n}
    return Call((rows,), arguments, {"y": (x @ w + bias).clamp_min(0)}, {"N": 16})


@blocks("row k", 2, FLOATS, loss=2)
def gated_linear(draw: Draw, rows: int, n: int) -> Call:
    x, gates, w = draw(rows, n), draw(n, 16, scale=0.25), draw(n, 16)
    arguments = {"x": x, "gates": gates, "w": w, "k_size": n}
    return Call((rows,), arguments, {"y": functional.silu(x @ gates) * (x @ w)}, {"N": 16})


@blocks("row", 1, FLOATS, tuple((rows, 1) for rows in (1, 15, 16, 17, 64, 100)))
def weights_at_once(draw: Draw, rows: int, n: int) -> Call:
    x, w = draw(rows, 32), draw(16, 32)
    return Call((rows,), {"x": x, "w": w}, {"y": x @ w.T}, {"N": 16, "K": 32})


@blocks("out position channel", 1)
def convolution_1d(draw: Draw, rows: int, n: int) -> Call:
    x, w, bias = draw(n, rows + 2), draw(5, n, 3), draw(5)
    y = sum((w[:, :, tap] @ x[:, tap : tap + rows] for tap in range(3)), bias[:, None])
    arguments = {"x": x, "w": w, "bias": bias, "length": rows, "channels": n, "taps": 3}
    return Call((5, rows), arguments, {"y": y})


@blocks("column channel", 1, sizes=((1, 17), (17, 16), (33, 15), (16, 0)))
def convolution_2d(draw: Draw, rows: int, n: int) -> Call:
    x, w = draw(3, rows, n), draw(3, 3, n, 16)
    y = torch.zeros(3, rows, 16, dtype=F64)
    if n:
        y = functional.conv2d(x.permute(2, 0, 1)[None], w.permute(3, 2, 0, 1), padding=1)[0].permute(1, 2, 0)
    arguments = {"x": x, "w": w, "height": 3, "width": rows, "channels": n}
    return Call((rows, 3), arguments, {"y": y.contiguous()}, {"OUTS": 16})


@blocks("row k", 1)
def product_by_steps(draw: Draw, rows: int, n: int) -> Call:
    a, b = draw(rows, n), draw(n, 16)
    return Call((rows,), {"a": a, "b": b, "k_size": n}, {"c": a[:, 1::3] @ b[1::3]}, {"N": 16})


@blocks("row k", 1)
def product_from_the_end(draw: Draw, rows: int, n: int) -> Call:
    return matrix_product(draw, rows, n)


@blocks("row k", 1)
def product_by_while(draw: Draw, rows: int, n: int) -> Call:
    a, b = draw(rows, n), draw(n, 16)
    return Call((rows,), {"a": a, "b": b, "k_size": n}, {"c": a[:, ::2] @ b[::2]}, {"N": 16})


@blocks("row key", 2, (F32, F64), loss=4)
def padded_lanes(draw: Draw, rows: int, n: int) -> Call:
    q, k = draw(rows, 24), draw(n, 24)
    return Call((rows,), {"q": q, "k": k, "keys": n}, {"o": torch.tanh(q @ k.T) @ k}, {"N": 24})


@blocks("row", 0, (F32, F64, F16), tuple((rows, 1) for rows in (1, 15, 16, 17, 64, 100)))
def layer_norm(draw: Draw, rows: int, n: int) -> Call:
    x, w, b = draw(rows, 32), draw(32), draw(32)
    arguments = {"x": x, "w": w, "b": b, "eps": 2.0**-10}
    return Call((rows,), arguments, {"y": functional.layer_norm(x, (32,), w, b, 2.0**-10)}, {"N": 32})


@blocks("row i", 0, sizes=SOME)
def layer_norm_by_loop(draw: Draw, rows: int, n: int) -> Call:
    x = draw(rows, n)
    scale = (x.var(1, correction=0) + 2.0**-4).rsqrt()
    return Call((rows,), {"x": x, "n": n, "eps": 2.0**-4}, {"mean": x.mean(1), "scale": scale})


@blocks("row", 0, sizes=tuple((rows, 1) for rows in (1, 15, 16, 17, 64, 100)))
def rms_norm(draw: Draw, rows: int, n: int) -> Call:
    x, w = draw(rows, 32), draw(32)
    y = x * (x.square().mean(1, keepdim=True) + 2.0**-10).rsqrt() * w
    return Call((rows,), {"x": x, "w": w, "eps": 2.0**-10}, {"y": y}, {"N": 32})


@blocks("row i", 1)
def early_returns(draw: Draw, rows: int, n: int) -> Call:
    x, w = draw(rows, n), draw(n, 16)
    y = x @ w
    y[rows - 1] *= 0.5
    y[3::4] = float("nan")
    return Call((rows,), {"x": x, "w": w, "n": n, "rows": rows}, {"y": y}, {"N": 16})


@blocks("row k", 1, (F32, F64, F16))
def great_weights_as_stored(draw: Draw, rows: int, n: int) -> Call:
    a, b = draw(rows, n, dtype=F32 if draw.dtype == F16 else draw.dtype), draw(n, 16)
    arguments = {"a": a, "b": b, "k_size": n}
    return Call((rows,), arguments, {"c": a.exp() @ b}, {"N": 16}, wide=("a", "c"))


@blocks("row i", 1)
def segments(draw: Draw, rows: int, n: int) -> Call:
    lengths = draw.integers(rows, high=max(2 * n // 3, 2)) * (torch.arange(rows) % 3 != 1)
    starts = torch.cat([torch.zeros(1), lengths.cumsum(0)]).to(torch.int32)
    x, v = draw(int(starts[-1])), draw(int(starts[-1]), 16)
    spans = list(zip(starts.tolist(), starts[1:].tolist(), strict=False))
    y = torch.stack([x[low:high] @ v[low:high] for low, high in spans])
    return Call((rows,), {"starts": starts, "x": x, "v": v}, {"y": y}, {"N": 16})


@blocks("row i", 1)
def gathered_rows(draw: Draw, rows: int, n: int) -> Call:
    x, places, table = draw(rows, n), draw.integers(n, high=9), draw(9, 16)
    arguments = {"x": x, "places": places, "table": table, "n": n}
    return Call((rows,), arguments, {"y": x @ table[places.long()]}, {"N": 16})


@blocks("row i j", 2, loss=4)
def loops_in_turn(draw: Draw, rows: int, n: int) -> Call:
    x, w, u = draw(rows, n, scale=0.25), draw(n, 16), draw(33, 16)
    y = torch.tanh((x @ w).clamp_min(0) @ u.T).sum(1)
    return Call((rows,), {"x": x, "w": w, "u": u, "n": n, "m": 33}, {"y": y}, {"N": 16})
