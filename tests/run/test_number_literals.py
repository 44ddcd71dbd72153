"""Literals and casts to a `D: Num`, for every type that it may be, against Rust's `as`."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import teenyc

CASE = Path(__file__).parents[1] / "golden" / "number_literals.tk"
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def as_number(value: float, dtype: torch.dtype) -> float:
    """`value as D`: floats keep it, integers cut it and saturate."""
    if dtype.is_floating_point:
        return value
    bounds = torch.iinfo(dtype)
    return 0 if value != value else int(min(max(value, bounds.min), bounds.max))


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")  # of NumPy, under the interpreter
@pytest.mark.parametrize("s", [1.75, -2.5, 1e30, float("nan"), float("-inf")])
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=str)
def test_literals_become_what_the_type_holds(device: str, dtype: torch.dtype, s: float) -> None:
    values = [0, 1, 2, 3, 4, 5, 30, 60]
    s = torch.tensor(s, dtype=torch.float32).item()
    x = torch.tensor(values * 2).to(dtype).to(device)
    y = torch.zeros(80, dtype=dtype, device=device)
    teenyc.load(CASE).NumberLiterals(n=16)[(1,)](x, y, s)
    number = {text: as_number(float(text), dtype) for text in ("0.5", "300", "-3", "2.5", "0.1")}
    expected = [
        *(v * 2 + 1 for v in values * 2),
        *(v if v > 0 else number["0.5"] for v in values * 2),
        *(number["300"] if v > number["2.5"] else number["-3"] for v in values * 2),
        *(v + as_number(s, dtype) for v in values * 2),
        *[number["0.1"]] * 16,
    ]
    if dtype.is_floating_point:
        wide = torch.tensor(expected, dtype=torch.float64)
        compute = wide if dtype == torch.float64 else wide.to(torch.float32)
        torch.testing.assert_close(y.cpu(), compute.to(dtype), rtol=0, atol=0, equal_nan=True)
    else:
        width = 1 << torch.iinfo(dtype).bits
        assert [v % width for v in y.tolist()] == [int(v) % width for v in expected]
