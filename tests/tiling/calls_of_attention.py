"""Calls of attention in all its forms: rows of queries go over keys, the maximum of the scores running along."""

from __future__ import annotations

import torch
from calls import F32, F64, FLOATS, SIZES, Call, Draw, blocks

SOME = tuple((rows, n) for rows, n in SIZES if n)
D = 16


def drawn(draw: Draw, rows: int, n: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return draw(rows, D), draw(n, D), draw(n, D)


def weighted(scores: torch.Tensor, v: torch.Tensor, counts: torch.Tensor | None = None) -> torch.Tensor:
    """The softmax of the scores that count, times values; 0 for rows without any."""
    if counts is not None:
        scores = scores.masked_fill(~counts, float("-inf"))
    return torch.softmax(scores, 1).nan_to_num(0.0) @ v


def places(rows: int, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The number of the row and of the key of each pair."""
    return torch.arange(rows)[:, None].expand(rows, n), torch.arange(n)[None, :].expand(rows, n)


def simple(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n}, {"o": weighted(q @ k.T, v)}, {"N": D})


@blocks("row key", 2, FLOATS, SOME)
def attention(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    arguments = {"q": q, "k": k, "v": v, "keys": n, "scale": 0.25}
    return Call((rows,), arguments, {"o": weighted(q @ k.T * 0.25, v)}, {"N": D})


@blocks("row key", 2, FLOATS, loss=2)
def attention_causal(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    row, key = places(rows, n)
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n}, {"o": weighted(q @ k.T, v, key <= row)}, {"N": D})


@blocks("row key", 2)
def attention_causal_branch(draw: Draw, rows: int, n: int) -> Call:
    return attention_causal(draw, rows, n)


@blocks("row key", 2)
def attention_window(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    row, key = places(rows, n)
    arguments = {"q": q, "k": k, "v": v, "keys": n, "window": 5}
    return Call((rows,), arguments, {"o": weighted(q @ k.T, v, (key - row).abs() <= 5)}, {"N": D})


@blocks("row key", 2, FLOATS, SOME, loss=2)
def attention_bias(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    bias = draw(rows, n)
    arguments = {"q": q, "k": k, "v": v, "keys": n, "bias": bias}
    return Call((rows,), arguments, {"o": weighted(q @ k.T + bias, v)}, {"N": D})


@blocks("row key", 2, sizes=SOME)
def attention_slopes(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = draw(3, rows, D), draw(n, D), draw(n, D)
    row, key = places(rows, n)
    slopes = torch.tensor([0.5, 0.25, 0.125], dtype=F64)
    o = torch.stack([weighted(q[head] @ k.T - slopes[head] * (row - key).abs(), v) for head in range(3)])
    arguments = {"q": q, "k": k, "v": v, "keys": n, "slopes": slopes, "rows": rows}
    return Call((rows, 3), arguments, {"o": o}, {"N": D})


@blocks("row key", 2, sizes=SOME)
def attention_soft_cap(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    arguments = {"q": q, "k": k, "v": v, "keys": n, "cap": 2.0}
    return Call((rows,), arguments, {"o": weighted(torch.tanh(q @ k.T / 2.0) * 2.0, v)}, {"N": D})


@blocks("row key", 2, FLOATS, loss=2)
def attention_sinks(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    sinks = draw(3)
    scores = torch.cat([q @ k.T, sinks[torch.arange(rows) % 3][:, None]], 1)
    o = weighted(scores, torch.cat([v, torch.zeros(1, D, dtype=F64)]))
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n, "sinks": sinks}, {"o": o}, {"N": D})


@blocks("row key", 2, (F32, F64), SOME)
def attention_grouped_heads(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = draw(4, rows, D), draw(2, n, D), draw(2, n, D)
    o = torch.stack([weighted(q[head] @ k[head // 2].T, v[head // 2]) for head in range(4)])
    arguments = {"q": q, "k": k, "v": v, "keys": n, "rows": rows, "group": 2}
    return Call((rows, 4), arguments, {"o": o}, {"N": D})


@blocks("row key", 2, sizes=SOME)
def attention_exp2(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    arguments = {"q": q, "k": k, "v": v, "keys": n, "scale": 0.375}
    return Call(
        (rows,), arguments, {"o": weighted(q @ k.T * 0.375 * torch.log(torch.tensor(2.0, dtype=F64)), v)}, {"N": D}
    )


@blocks("row key", 2, sizes=SOME)
def attention_backwards(draw: Draw, rows: int, n: int) -> Call:
    return simple(draw, rows, n)


@blocks("row key", 2, sizes=SOME)
def attention_strided(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    o = weighted(q @ k[::2].T, v[::2])
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n}, {"o": o}, {"N": D})


@blocks("row key", 2)
def attention_masked_keys(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    mask = draw.integers(n, high=2) * (torch.arange(n) >= 33 if n > 64 else 1)
    o = weighted(q @ k.T, v, (mask != 0).expand(rows, n))
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n, "mask": mask.to(torch.int32)}, {"o": o}, {"N": D})


@blocks("row key", 2)
def attention_skipped(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    row, key = places(rows, n)
    o = weighted(q @ k.T, v, key % 3 == row % 3)
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n}, {"o": o}, {"N": D})


@blocks("row key", 2)
def attention_ragged(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    counts = draw.integers(rows, high=n + 1)
    _, key = places(rows, n)
    o = weighted(q @ k.T, v, key < counts[:, None])
    return Call((rows,), {"q": q, "k": k, "v": v, "counts": counts}, {"o": o}, {"N": D})


@blocks("row key", 2, sizes=SOME)
def attention_to_the_minimum(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n}, {"o": weighted(-(q @ k.T), v)}, {"N": D})


@blocks("row key", 2, sizes=SOME)
def attention_any_order(draw: Draw, rows: int, n: int) -> Call:
    return simple(draw, rows, n)


@blocks("row key", 2, sizes=SOME, loss=4)
def attention_several_sums(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    scores = q @ k.T
    weights = torch.softmax(scores, 1)
    _, key = places(rows, n)
    expected = {"o": weights @ v, "places": (weights * key).sum(1) - (weights * scores).sum(1)}
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n}, expected, {"N": D})


@blocks("row key", 2, sizes=SOME)
def attention_early_return(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    o = weighted(q @ k.T, v)
    last = max(rows - 3, 1)
    o[last:] = float("nan")
    return Call((rows,), {"q": q[:last], "k": k, "v": v, "keys": n, "rows": last}, {"o": o}, {"N": D})


@blocks("row key", 2, (F32, F64), SOME)
def attention_split_heads(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = draw(rows, 24, scale=0.5), draw(n, 24), draw(n, 40)
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n}, {"o": weighted(q @ k.T, v)}, {"N": 24, "M": 40})


@blocks("row key key", 3, sizes=SOME)
def maximum_first(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n}, {"o": torch.softmax(q @ k.T, 1).square() @ v}, {"N": D})


@blocks("row key", 2)
def whole_row_masked(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    row, key = places(rows, n)
    scores = (q @ k.T).masked_fill(key + 20 > row, float("-inf"))
    highest = scores.amax(1) if n else torch.full((rows,), float("-inf"), dtype=F64)
    expected = {"o": weighted(scores, v), "highest_of": highest}
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n, "ahead": 20}, expected, {"N": D})


def gradients(draw: Draw, rows: int, n: int, causal: bool) -> tuple[dict[str, torch.Tensor], list[torch.Tensor]]:
    """Inputs of the gradients of attention, and these."""
    wide = F64 if draw.dtype == F64 else F32
    q, k, v = (x.requires_grad_() for x in drawn(draw, rows, n))
    row, key = places(rows, n)
    scores = (q @ k.T).masked_fill(row < key if causal else row < 0, float("-inf"))
    o, d_o = torch.softmax(scores, 1) @ v, draw(rows, D)
    found = list(torch.autograd.grad(o, (q, k, v), d_o))
    l, delta = torch.logsumexp(scores, 1).to(wide).double(), (o * d_o).sum(1).to(wide).double()
    given = {"q": q, "k": k, "v": v, "d_o": d_o, "l": l, "delta": delta}
    return {name: x.detach() for name, x in given.items()}, found


@blocks("row key", 3, (F32, F64), SOME, loss=8)
def attention_gradient_of_queries(draw: Draw, rows: int, n: int) -> Call:
    given, (dq, _, _) = gradients(draw, rows, n, causal=False)
    return Call((rows,), {**given, "keys": n}, {"dq": dq}, {"N": D}, wide=("l", "delta"))


@blocks("row query", 4, (F32, F64), SOME, loss=8)
def attention_gradient_of_keys(draw: Draw, rows: int, n: int) -> Call:
    given, (_, dk, dv) = gradients(draw, rows, rows, causal=True)
    return Call((rows,), {**given, "queries": rows}, {"dk": dk, "dv": dv}, {"N": D}, wide=("l", "delta"))


@blocks("row key", 2)
def linear_attention(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    row, key = places(rows, n)
    weights = (1 + (q @ k.T).square()) * (key <= row)
    o = weights @ v / (weights.sum(1, keepdim=True) + 1)
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n}, {"o": o}, {"N": D})


@blocks("row key", 2, FLOATS)
def sigmoid_attention(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = drawn(draw, rows, n)
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n}, {"o": torch.sigmoid(q @ k.T) @ v}, {"N": D})


@blocks("row key", 3, loss=4)
def blocks_that_count_for_no_row(draw: Draw, rows: int, n: int) -> Call:
    q, k, levels = draw(rows, D), draw(n, D), draw(rows)
    ends = draw.integers(rows, high=n + 1)
    scores = q @ k.T
    counts = (scores > 0) & (places(rows, n)[1] >= ends[:, None])
    highest = torch.cat([scores.masked_fill(~counts, float("-inf")), torch.full((rows, 1), -1e9, dtype=F64)], 1).amax(1)
    weights = torch.tanh(scores) * torch.exp((scores - highest[:, None]).clamp_max(0)) * counts
    o = weights @ k + counts.double() @ torch.tanh(k)
    arguments = {"q": q, "k": k, "ends": ends, "levels": levels, "keys": n}
    return Call((rows,), arguments, {"o": o, "totals": weights.sum(1)}, {"N": D})
