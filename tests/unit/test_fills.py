"""Numbers in lanes: folding agrees with the intrinsics' references; what is not known stays so or is absorbed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from teenyc.intrinsics import TABLE
from teenyc.ir.fills import _CALLS, SOME, Number, folded
from teenyc.ir.nodes import Binary, Call, Cast, Compare, Literal, Unary
from teenyc.types import BOOL, F32, F64, I32, TensorType, scalar

NUMBERS = (0.0, 1.0, -1.0, 0.5, 2.0, 3.0, math.inf, -math.inf, -3.0e38)
X = Literal(0.0, TensorType(F64))


def call(name: str, count: int) -> Call:
    params = [p.name for p in TABLE[name].params][:count]
    return Call(intrinsic=name, operands=tuple((p, X) for p in params))


def same(found: Number, expected: float) -> bool:
    if found is SOME:
        return False
    return (math.isnan(found) and math.isnan(expected)) or found == pytest.approx(expected, rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("name", sorted(_CALLS))
def test_functions_agree_with_their_references(name: str) -> None:
    """Where Python has no number, `SOME` is right; it must not be so for finite results of zero, one and two."""
    reference = TABLE[name].reference
    assert reference is not None
    count = {"clamp": 3, "fma": 3, "div_rn": 2, "fdiv": 2, "maximum": 2, "minimum": 2}.get(name, 1)
    known = 0
    for first in NUMBERS:
        numbers = (first, *(-2.0, 0.75)[: count - 1])
        with np.errstate(all="ignore"):
            expected = float(np.asarray(reference(*(np.float64(n) for n in numbers))))
        found = folded(call(name, count), numbers, F64)
        assert found is SOME or same(found, expected), (name, numbers, found, expected)
        known += found is not SOME
    assert known >= 3


@pytest.mark.parametrize("operator", ["add", "sub", "mul", "div"])
def test_operators_agree_with_ieee(operator: str) -> None:
    ufunc = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[operator]
    for x in NUMBERS:
        for y in NUMBERS:
            with np.errstate(all="ignore"):
                expected = float(ufunc(np.float64(x), np.float64(y)))
            assert same(folded(Binary(operator=operator, left=X, right=X), (x, y), F64), expected), (x, y)


@pytest.mark.parametrize(
    ("operator", "numbers", "expected"),
    [
        ("mul", (0.0, SOME), 0.0),
        ("mul", (SOME, 0.0), 0.0),
        ("mul", (1.0, SOME), SOME),
        ("add", (-math.inf, SOME), -math.inf),
        ("sub", (-math.inf, SOME), -math.inf),
        ("sub", (SOME, -math.inf), math.inf),
        ("sub", (0.0, SOME), SOME),
        ("sub", (-3.4e38, SOME), -3.4e38),
        ("div", (0.0, SOME), 0.0),
        ("div", (SOME, math.inf), 0.0),
        ("div", (1.0, SOME), SOME),
        ("add", (SOME, SOME), SOME),
    ],
)
def test_what_is_not_known_is_absorbed_or_stays(
    operator: str, numbers: tuple[Number, Number], expected: Number
) -> None:
    assert folded(Binary(operator=operator, left=X, right=X), numbers, F32) == expected


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [((1.0, 2.0, 3.0), 2.0), ((0.0, 2.0, 3.0), 3.0), ((SOME, 2.0, 2.0), 2.0), ((SOME, 1.0, 2.0), SOME)],
)
def test_where_chooses(numbers: tuple[Number, ...], expected: Number) -> None:
    assert folded(call("where", 3), numbers, F32) == expected


def test_flags_casts_and_integers() -> None:
    flags = Binary(operator="and", left=X, right=X)
    assert folded(flags, (0.0, SOME), BOOL) == 0.0
    assert folded(flags, (1.0, SOME), BOOL) is SOME
    assert folded(Binary(operator="or", left=X, right=X), (SOME, 1.0), BOOL) == 1.0
    assert folded(Unary(operator="not", operand=X), (1.0,), BOOL) == 0.0
    assert folded(Unary(operator="neg", operand=X), (2.0,), F32) == -2.0
    assert folded(Compare(operator="lt", left=X, right=X), (1.0, 2.0), BOOL) == 1.0
    assert folded(Compare(operator="lt", left=X, right=X), (SOME, 2.0), BOOL) is SOME
    assert folded(Cast(operand=X), (-2.75,), I32) == -2.0
    assert folded(Cast(operand=X), (math.inf,), I32) is SOME
    assert folded(Binary(operator="div", left=X, right=X), (-7.0, 2.0), I32) == -3.0
    assert folded(call("zeros_like", 0), (), scalar(F32).element) == 0.0
