"""Calls of losses, sums, extrema and counts."""

from __future__ import annotations

import torch
from calls import F32, F64, SIZES, Call, Draw, blocks

SOME = tuple((rows, n) for rows, n in SIZES if n)
D = 16


@blocks("class", 0, sizes=SOME)
def cross_entropy(draw: Draw, rows: int, n: int) -> Call:
    logits, labels = draw(rows, n, scale=4.0), draw.integers(rows, high=n)
    loss = torch.nn.functional.cross_entropy(logits, labels.long(), reduction="none")
    return Call((rows,), {"logits": logits, "labels": labels, "classes": n}, {"loss": loss})


@blocks("row class", 1, (F32, F64), SOME, loss=2)
def linear_cross_entropy(draw: Draw, rows: int, n: int) -> Call:
    x, w, labels = draw(rows, D), draw(n, D), draw.integers(rows, high=n)
    loss = torch.nn.functional.cross_entropy(x @ w.T, labels.long(), reduction="none", label_smoothing=0.125)
    arguments = {"x": x, "w": w, "labels": labels, "classes": n, "smoothing": 0.125}
    return Call((rows,), arguments, {"loss": loss}, {"N": D}, wide=("loss",))


@blocks("row i", 0)
def softmax_of_rows(draw: Draw, rows: int, n: int) -> Call:
    x, heat = draw(rows, n), draw(rows).abs() + 0.5
    heat = heat.float().double()
    highest = x.amax(1) if n else torch.full((rows,), float("-inf"), dtype=F64)
    total = torch.exp((x - highest[:, None]) * heat[:, None]).sum(1)
    return Call((rows,), {"x": x, "heat": heat, "n": n}, {"highest_of": highest, "total_of": total})


@blocks("row i", 0)
def gated_sums(draw: Draw, rows: int, n: int) -> Call:
    x, g = draw(rows, n), draw(n)
    gates = torch.sigmoid(x * g)
    return Call((rows,), {"x": x, "g": g, "n": n}, {"y": (gates * x).sum(1) / (1 + gates.sum(1))})


@blocks("row key", 1, sizes=SOME)
def running_extrema(draw: Draw, rows: int, n: int) -> Call:
    q, k = draw(rows, D), draw(n, D)
    scores = q @ k.T
    return Call((rows,), {"q": q, "k": k, "keys": n}, {"most": scores.amax(1), "least": scores.amin(1)}, {"N": D})


@blocks("row i", 0)
def extrema_under_conditions(draw: Draw, rows: int, n: int) -> Call:
    x = draw(rows, n)
    ends = torch.tensor([-1000.0, 1000.0], dtype=F64).expand(rows, 2)
    below = torch.cat([x.masked_fill(x >= 0, -1000.0), ends[:, :1]], 1).amax(1)
    odd = torch.arange(n) % 2 == 1
    above = torch.cat([x.masked_fill((x < 0) | odd, 1000.0), ends[:, 1:]], 1).amin(1)
    return Call((rows,), {"x": x, "n": n}, {"low": below, "high": above})


@blocks("row other", 1, sizes=SOME)
def nearest_distance(draw: Draw, rows: int, n: int) -> Call:
    x, y = draw(rows, D), draw(n, D)
    norms = y.square().sum(1).float().double()
    least = (x.square().sum(1)[:, None] - 2 * x @ y.T + norms).amin(1)
    return Call((rows,), {"x": x, "y": y, "norms": norms, "n": n}, {"o": least}, {"N": D})


@blocks("row key", 1, (F32, F64))
def two_accumulators(draw: Draw, rows: int, n: int) -> Call:
    q, k = draw(rows, D), draw(n, D)
    scores = q @ k.T
    expected = {"first": scores.sum(1), "second": scores.square().sum(1)}
    return Call((rows,), {"q": q, "k": k, "keys": n}, expected, {"N": D}, wide=("first", "second"))


@blocks("row key", 2)
def quotient_weights(draw: Draw, rows: int, n: int) -> Call:
    q, k, v, spread = draw(rows, D), draw(n, D), draw(n, D), draw(n)
    o = (q @ k.T / (1 + spread.square())) @ v
    return Call((rows,), {"q": q, "k": k, "v": v, "spread": spread, "keys": n}, {"o": o}, {"N": D})


@blocks("row key", 2, loss=4)
def taken_away(draw: Draw, rows: int, n: int) -> Call:
    q, k, v = draw(rows, D), draw(n, D), draw(max(n, 1), D)
    o = v[0] - (q @ k.T * 0.5 - 1) @ (k + v[:n]) / 0.5
    return Call((rows,), {"q": q, "k": k, "v": v, "keys": n, "c": 0.5}, {"o": o}, {"N": D})


@blocks("row key", 3)
def conditions(draw: Draw, rows: int, n: int) -> Call:
    q, k = draw(rows, D), draw(n, D)
    row, key = torch.arange(rows)[:, None], torch.arange(n)[None, :]
    scores, kind = q @ k.T, n % 2
    is_first = (scores > 0) & (key != row)
    factors = torch.where(is_first, scores, -1.0 * (row % 2 == 0)) + 0.5 * kind
    return Call((rows,), {"q": q, "k": k, "keys": n, "kind": kind}, {"o": factors @ k}, {"N": D})


@blocks("row k", 0)
def integer_sums(draw: Draw, rows: int, n: int) -> Call:
    a, b = (draw.integers(*shape, low=-(2**31), high=2**31) for shape in ((rows, n), (n, 3)))
    exact = [[7 + sum(x * y for x, y in zip(r, s, strict=True)) for s in b.T.tolist()] for r in a.tolist()]
    c = torch.tensor([[(v + 2**31) % 2**32 - 2**31 for v in r] for r in exact], dtype=torch.int32)
    return Call((rows, 3), {"a": a, "b": b, "n": 3, "k_size": n}, {"c": c})


@blocks("row i", 0)
def counts(draw: Draw, rows: int, n: int) -> Call:
    x = draw.integers(rows, n, high=9)
    often = (x[:, :, None] == torch.arange(8)).sum(1)
    most = x.amax(1) if n else torch.full((rows,), -1)
    return Call((rows,), {"x": x, "n": n}, {"often": often.to(torch.int32), "most": most.to(torch.int32)})


@blocks("row i", 0)
def prefix_sums(draw: Draw, rows: int, n: int) -> Call:
    x = draw(n)
    ends = torch.arange(rows).clamp_max(n - 1) + 1
    return Call((rows,), {"x": x, "n": n}, {"y": torch.stack([x[: max(e, 0)].sum() for e in ends.tolist()])})


@blocks("row other", 2, loss=4)
def kernel_regression(draw: Draw, rows: int, n: int) -> Call:
    x, y, v = draw(rows, D, scale=0.5), draw(n, D, scale=0.5), draw(n, D)
    squares = (x[:, None] - y[None]).square().sum(2)
    weights = torch.exp(-squares * 0.25)
    o = weights @ v / (weights.sum(1, keepdim=True) + 0.125)
    return Call((rows,), {"x": x, "y": y, "v": v, "n": n, "width": 0.25}, {"o": o}, {"N": D})


@blocks("row key", 0)
def few_lanes(draw: Draw, rows: int, n: int) -> Call:
    q, k = draw(rows, 4), draw(n, 4)
    return Call((rows,), {"q": q, "k": k, "keys": n}, {"o": q @ k.T @ k})


@blocks("row key", 2)
def functions(draw: Draw, rows: int, n: int) -> Call:
    q, k = draw(rows, D), draw(n, D)
    return Call((rows,), {"q": q, "k": k, "keys": n}, {"o": q @ k.T @ k}, {"N": D})


@blocks("row key", 2, loss=4)
def divisors_of_pairs(draw: Draw, rows: int, n: int) -> Call:
    q, k = draw(rows, D), draw(n, D)
    k[1::3] = 0.0
    scores = q @ k.T
    counts = (scores.abs() > 0.5) & (torch.arange(n)[None, :] <= torch.arange(rows)[:, None])
    inverses = torch.where(counts, 1 / scores, 0.0)
    return Call((rows,), {"q": q, "k": k, "keys": n}, {"o": inverses @ k}, {"N": D})


@blocks("row i", 0)
def sums_of_counters(draw: Draw, rows: int, n: int) -> Call:
    x = draw(rows, n)
    i = torch.arange(n)[None, :]
    own = i >= torch.arange(rows)[:, None]
    expected = {"places": (7 + (i * (own & (x > 0))).sum(1)).to(torch.int32), "sums": (x * own).sum(1)}
    return Call((rows,), {"x": x, "n": n}, expected)
