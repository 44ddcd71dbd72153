"""Calls of kernels whose loops stay: each breaks a law, and float64 walks through its iterations one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from calls import F64, Call, Draw

Step = Callable[..., tuple[torch.Tensor, ...]]
INFINITY = float("inf")


@dataclass(frozen=True)
class Stays:
    """A kernel with a loop that stays, and words of the reason; `is_refused` where all of the kernel does."""

    words: str
    call: Callable[[Draw, int, int], Call]
    is_refused: bool = False


def walk(
    words: str,
    step: Step,
    *start: float,
    result: Callable[..., torch.Tensor] = lambda c, *_: c,
    is_refused: bool = False,
    **arguments: float,
) -> Stays:
    """A kernel that carries numbers over a row `x`: `step` makes the next of the element, its place and the last."""

    def call(draw: Draw, rows: int, n: int) -> Call:
        x = draw(rows, n)
        state = tuple(torch.full((rows,), s, dtype=F64) for s in start or (0.0,))
        for i in range(n):
            state = step(x[:, i], i, *state)
        return Call((rows,), {"x": x, "n": n, **arguments}, {"y": result(*state)})

    return Stays(words, call, is_refused)


def rescaled(words: str, step: Step, highest: float = -INFINITY, *more: float) -> Stays:
    """A sum beside a running maximum: `step` makes the sum of the element, its place, the maxima and the sum."""

    def both(v: torch.Tensor, i: int, c: torch.Tensor, m: torch.Tensor, *rest: torch.Tensor) -> tuple[Any, ...]:
        new = torch.maximum(m, v)
        return step(v, i, m, new, c), new, *rest

    return walk(words, both, 0.0, highest, *more)


def kahan(v: torch.Tensor, i: int, c: torch.Tensor, lost: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return c + v, lost


def welford(v: torch.Tensor, i: int, c: torch.Tensor, mean: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    d = v - mean
    mean = mean + d / (i + 1)
    return c + d * (v - mean), mean


def of_another(
    v: torch.Tensor, i: int, c: torch.Tensor, m: torch.Tensor, low: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    new, least = torch.maximum(m, v), torch.minimum(low, v)
    return c * torch.exp(m - new) + torch.exp(least - v), new, least


def without_the_condition(v: torch.Tensor, i: int, c: torch.Tensor, m: torch.Tensor) -> tuple[torch.Tensor, ...]:
    new = torch.where(v < 0.5, torch.maximum(m, v), m)
    return c * torch.exp(m - new) + torch.exp((v - new).clamp_max(1.0)) * new, new


def gathered(step: Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]) -> Callable[[Draw, int, int], Call]:
    """A sum of elements at places that are made of the last place and the element."""

    def call(draw: Draw, rows: int, n: int) -> Call:
        x, at = draw(rows, n), torch.zeros(rows, dtype=torch.long)
        c = torch.zeros(rows, dtype=F64)
        for i in range(n):
            at = step(at, x[:, i], n)
            c = c + x.gather(1, (at % n)[:, None])[:, 0]
        return Call((rows,), {"x": x, "n": n}, {"y": c})

    return call


def stored_on_the_way(draw: Draw, rows: int, n: int) -> Call:
    x = draw(rows, n)
    return Call((rows,), {"x": x, "n": n}, {"y": x.cumsum(1)})


def stored_to_one_place(draw: Draw, rows: int, n: int) -> Call:
    x = draw(rows, n)
    return Call((rows,), {"x": x, "n": n}, {"y": x[:, -1] * 2 if n else torch.full((rows,), float("nan"), dtype=F64)})


def atomics(draw: Draw, rows: int, n: int) -> Call:
    """It adds to the poison that is there."""
    x = draw(rows, n)
    return Call((rows,), {"x": x, "n": n}, {"y": torch.full((n,), float("nan"), dtype=F64)})


def few_iterations(draw: Draw, rows: int, n: int) -> Call:
    x = draw(rows, 3)
    return Call((rows,), {"x": x}, {"y": x.sum(1) * 0.5})


def nothing_shared(draw: Draw, rows: int, n: int) -> Call:
    x = draw(rows, 32)
    return Call((rows,), {"x": x}, {"y": torch.softmax(x, 1)}, {"N": 32})


def distances(draw: Draw, rows: int, n: int) -> Call:
    x, others = draw(rows, 16, scale=0.25), draw(n, 16, scale=0.25)
    y = torch.exp(-(x[:, None] - others[None]).square().sum(2)).sum(1)
    return Call((rows,), {"x": x, "others": others, "n": n}, {"y": y}, {"N": 16})


def flags_of_floats_and_rows(draw: Draw, rows: int, n: int) -> Call:
    x, w, c = draw(rows, n), draw(n), torch.zeros(rows, dtype=F64)
    for i in range(n):
        c = 0.5 * c + torch.where((w[i] < 0) | (torch.arange(rows) == i), x[:, i], 0.0)
    return Call((rows,), {"x": x, "w": w, "n": n}, {"y": c})


def delta_rule(draw: Draw, rows: int, n: int) -> Call:
    x, keys = draw(rows, n), draw(n, 16, scale=0.5)
    state = torch.zeros(rows, 16, dtype=F64)
    for i in range(n):
        state = state + 0.0625 * (x[:, i] - state @ keys[i])[:, None] * keys[i]
    return Call((rows,), {"x": x, "keys": keys, "n": n}, {"y": state}, {"N": 16})


def read_what_is_written(draw: Draw, rows: int, n: int) -> Call:
    x, y = draw(rows, n), [torch.ones(rows, dtype=F64)]
    for i in range(n):
        y.append(0.5 * y[-1] + x[:, i])
    return Call((rows,), {"x": x, "n": n}, {"y": torch.stack(y, 1)})


def until_three(v: torch.Tensor, i: int, c: torch.Tensor) -> tuple[torch.Tensor]:
    return (torch.where(c < 3.0, c + v.abs(), c),)


GENERAL = "is computed from its last value by more than a sum"
SET_ANEW = "is set anew in each iteration"
ITSELF = "is taken from itself"

SEQUENTIAL: dict[str, Stays] = {
    "decay": walk("is multiplied by `factor`", lambda v, i, c: (c * 0.5 + v,), factor=0.5),
    "decay_by_element": walk("is multiplied by `v`", lambda v, i, c: (c * v + 1 - v,)),
    "recurrence": walk(GENERAL, lambda v, i, c: (torch.tanh(0.5 * c + v),)),
    "doubled": walk(GENERAL, lambda v, i, c: (c + c + v * 0.001,)),
    "alternating": walk(GENERAL, lambda v, i, c: (v - c,)),
    "squared": walk(GENERAL, lambda v, i, c: (0.25 * c * c + v * 0.25,)),
    "set_anew": walk(SET_ANEW, lambda v, i, c: (v,)),
    "previous": walk("depends on `last`", lambda v, i, c, last: (c + v * last, v), 0.0, 0.0),
    "area_below_sums": walk("depends on `total`", lambda v, i, c, total: (c + total + v, total + v), 0.0, 0.0),
    "fibonacci": walk(SET_ANEW, lambda v, i, c, last: (0.5 * c + 0.25 * last + v, c), 0.0, 0.0),
    "kahan": walk(ITSELF, kahan, 0.0, 0.0),
    "neumaier": walk("depends on `c`", kahan, 0.0, 0.0),
    "welford": walk(ITSELF, welford, 0.0, 0.0),
    "moving_mean": walk(ITSELF, lambda v, i, c: (c + (v - c) / (i + 1),)),
    "clipped_sum": walk(GENERAL, lambda v, i, c: ((c + v).clamp_max(1.0),)),
    "reset_sum": walk(
        GENERAL,
        lambda v, i, c, best: ((c + v).clamp_min(0.0), torch.maximum(best, (c + v).clamp_min(0.0))),
        0.0,
        0.0,
        result=lambda c, best: best,
    ),
    "decaying_maximum": walk(GENERAL, lambda v, i, c: (torch.maximum(0.75 * c, v),)),
    "maximum_of_minimum": walk(GENERAL, lambda v, i, c: (torch.maximum(c.clamp_max(0.5), v),)),
    "limited_sum": walk(GENERAL, lambda v, i, c: (torch.where(c < 2.0, c + v.abs(), c),)),
    "place_of_maximum": walk(
        GENERAL,
        lambda v, i, c, best: (torch.where(v > best, float(i), c), torch.maximum(best, v)),
        -1.0,
        -100.0,
    ),
    "chase": Stays(GENERAL, gathered(lambda at, v, n: (at * 5 + 1) % n)),
    "sum_in_the_index": Stays("depends on `at`", gathered(lambda at, v, n: at + (v.abs() * 4).long() + 1)),
    "swapped": walk(SET_ANEW, lambda v, i, c, other: (other + v, c), 0.0, 1.0),
    "newton": walk(GENERAL, lambda v, i, c: (0.5 * (c + 2.0 / c) + 0.001 * v,), 1.0),
    "wrapped_angle": walk(GENERAL, lambda v, i, c: ((c + (v.float().abs() * 100.0).floor()) % 97,)),
    "factor_missing": rescaled("and `v` is not", lambda v, i, m, new, c: c * torch.exp(m - new) + v),
    "old_maximum": rescaled(
        "is brought to the new maximum `new`",
        lambda v, i, m, new, c: c * torch.exp(m - new) + torch.exp(v - m).clamp_max(2.0),
    ),
    "another_scale": rescaled(
        "and `exp(v − new)` is not", lambda v, i, m, new, c: c * torch.exp(0.5 * (m - new)) + torch.exp(v - new)
    ),
    "another_base": rescaled(
        "and `exp(v − new)` is not", lambda v, i, m, new, c: c * torch.exp2(m - new) + torch.exp(v - new)
    ),
    "correction_missing": rescaled("depends on `m`", lambda v, i, m, new, c: c + torch.exp(v - new)),
    "correction_twice": rescaled(
        "is multiplied by `exp(m − new)·exp(m − new)`",
        lambda v, i, m, new, c: c * torch.exp(2 * (m - new)) + torch.exp(v - new),
    ),
    "maximum_of_another": walk("and `exp(least − v)` is not", of_another, 0.0, -INFINITY, INFINITY),
    "maximum_in_the_term": rescaled(
        "and `exp(v − new)·new` is not", lambda v, i, m, new, c: c * torch.exp(m - new) + torch.exp(v - new) * new
    ),
    "maximum_set_first": rescaled(
        "is multiplied by `exp(m − max(m, v))`", lambda v, i, m, new, c: c + torch.exp(v - new)
    ),
    "scale_by_iteration": rescaled(
        "is multiplied by `exp(a·(m − new))`",
        lambda v, i, m, new, c: c * torch.exp((m - new) / (i + 1)) + torch.exp((v - new) / (i + 1)),
    ),
    "sum_without_the_condition": walk("·new` is not", without_the_condition, 0.0, -1.0),
    "stored_on_the_way": Stays("what is stored in the loop depends on `c`", stored_on_the_way),
    "stored_to_one_place": Stays("goes to the same address in every iteration", stored_to_one_place),
    "atomics": Stays("`atomic_add` in the loop", atomics, is_refused=True),
    "ends_by_data": walk("this `while` does not end for all rows", until_three, is_refused=True),
    "left_by_break": walk(
        "this `while` does not end for all rows",
        lambda v, i, c, on: (torch.where((on > 0) & (v <= 1.5), c + v, c), on * (v <= 1.5)),
        0.0,
        1.0,
        is_refused=True,
    ),
    "few_iterations": Stays("takes 3 values only", few_iterations),
    "nothing_shared": Stays("nothing that is loaded is used by several rows", nothing_shared, is_refused=True),
    "distances": Stays("and lanes of its own, and be too large to hold", distances),
    "flags_of_floats_and_rows": Stays("is multiplied by `0.5`", flags_of_floats_and_rows),
    "delta_rule": Stays(GENERAL, delta_rule),
    "read_what_is_written": Stays("in the loop changes what", read_what_is_written),
}
"""By the name of the kernel. What compensates for rounding is zero in float64, or as good as."""
