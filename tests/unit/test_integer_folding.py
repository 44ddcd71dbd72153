"""Folding against Rust's arithmetic, modelled apart from the compiler: NumPy's fixed widths, and exact fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_builder import B, lit, of_kernel

from teenyc.ir.nodes import Copy, Let, Literal, Number, Operand
from teenyc.passes.fold_constants import fold_constants
from teenyc.passes.integers import (
    exactly_holds,
    float_to_integer,
    integer_to_float,
    round_float,
    wrap,
)
from teenyc.types import BF16, BOOL, DTYPES, F16, F32, F64, DType, Kind, is_integer

INTEGERS = [d for d in DTYPES.values() if is_integer(d)]
FLOATS: dict[DType, Callable[[float], Any]] = {F16: np.float16, F32: np.float32, F64: np.float64}
EDGES = [0, 1, -1, 2, 7, 8, 31, 32, 63, 64, 127, 128, 255]


def numpy_type(dtype: DType) -> np.dtype[np.generic]:
    return np.dtype(("int" if dtype.kind is Kind.SIGNED else "uint") + str(dtype.bits))


def integers_of(dtype: DType) -> st.SearchStrategy[int]:
    edges = [e for e in (*EDGES, dtype.minimum, dtype.maximum) if dtype.minimum <= e <= dtype.maximum]
    return st.integers(dtype.minimum, dtype.maximum) | st.sampled_from(edges)


def pairs() -> st.SearchStrategy[tuple[DType, int, int]]:
    return st.sampled_from(INTEGERS).flatmap(lambda d: st.tuples(st.just(d), integers_of(d), integers_of(d)))


def folded(build: Callable[[B], Operand]) -> Operand:
    """What the pass makes of the last line of a kernel."""
    b = B()
    b.copy(build(b), "result")
    (*_, last) = fold_constants(of_kernel(b.kernel())).kernels[0].body.statements
    assert isinstance(last, Let)
    assert isinstance(last.operation, Copy)
    return last.operation.operand


def number(operand: Operand) -> Number:
    assert isinstance(operand, Literal), "not folded"
    return operand.value


def compared(operator: str, a: Operand, b: Operand) -> Number:
    return number(folded(lambda k: k.compare(operator, a, b)))


def rust(operator: str, a: int, b: int, dtype: DType) -> int:
    """Rust's `wrapping_*` methods, on NumPy's integers of that width."""
    kind = numpy_type(dtype)
    if operator == "div":
        return dtype.minimum if (a, b) == (dtype.minimum, -1) and dtype.minimum else int(Fraction(a, b).__trunc__())
    if operator == "rem":
        return a - b * int(Fraction(a, b).__trunc__())
    x, y = np.array([a], kind), np.array([b], kind)
    if operator in ("shl", "shr"):
        y = np.array([b & (dtype.bits - 1)], kind)
    methods = {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
        "shl": np.left_shift,
        "shr": np.right_shift,
    }
    return int(methods[operator](x, y)[0])


@pytest.mark.parametrize("operator", ["add", "sub", "mul", "div", "rem", "and", "or", "xor", "shl", "shr"])
@given(case=pairs())
@settings(max_examples=150, deadline=None)
def test_binary_operators_wrap_as_in_rust(operator: str, case: tuple[DType, int, int]) -> None:
    dtype, a, b = case
    if operator in ("div", "rem") and b == 0:
        b = 1
    result = folded(lambda k: k.binary(operator, lit(a, dtype), lit(b, dtype)))
    assert number(result) == rust(operator, a, b, dtype)
    assert result.type.element == dtype  # type: ignore[union-attr]


@given(case=pairs())
@settings(max_examples=100, deadline=None)
def test_negation_and_inversion_wrap(case: tuple[DType, int, int]) -> None:
    dtype, a, _ = case
    x = np.array([a], numpy_type(dtype))
    assert number(folded(lambda k: k.unary("neg", lit(a, dtype)))) == int(np.negative(x)[0])
    assert number(folded(lambda k: k.unary("not", lit(a, dtype)))) == int(np.invert(x)[0])


@given(case=pairs())
@settings(max_examples=100, deadline=None)
def test_comparisons_are_exact(case: tuple[DType, int, int]) -> None:
    dtype, a, b = case
    for operator, expected in (("lt", a < b), ("ge", a >= b), ("eq", a == b), ("ne", a != b)):
        assert compared(operator, lit(a, dtype), lit(b, dtype)) is expected


@given(case=pairs(), target=st.sampled_from(INTEGERS))
@settings(max_examples=200, deadline=None)
def test_casts_between_integers_keep_the_low_bits(case: tuple[DType, int, int], target: DType) -> None:
    dtype, a, _ = case
    expected = int(np.array([a], numpy_type(dtype)).astype(numpy_type(target))[0])
    assert number(folded(lambda k: k.cast(lit(a, dtype), target))) == expected
    assert wrap(a, target) == expected


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(value=st.floats(), target=st.sampled_from(INTEGERS), source=st.sampled_from([F32, F64]))
@settings(max_examples=300, deadline=None)
def test_floats_saturate_and_nan_is_zero(value: float, target: DType, source: DType) -> None:
    rounded = value if source == F64 else float(np.float32(value))
    if math.isnan(rounded):
        expected = 0
    elif math.isinf(rounded):
        expected = target.maximum if rounded > 0 else target.minimum
    else:
        expected = min(max(Fraction(rounded).__trunc__(), target.minimum), target.maximum)
    assert number(folded(lambda k: k.cast(lit(value, source), target))) == expected
    assert float_to_integer(rounded, target) == expected


def nearest(value: Fraction, digits: int) -> Fraction:
    """The nearest number of that many binary digits, ties to even, with no bounds on the exponent."""
    if value == 0:
        return value
    exponent = math.floor(math.log2(abs(value))) - digits
    while abs(value) / Fraction(2) ** exponent >= 2**digits:
        exponent += 1
    while abs(value) / Fraction(2) ** exponent < 2 ** (digits - 1):
        exponent -= 1
    return round(value / Fraction(2) ** exponent) * Fraction(2) ** exponent


@given(value=st.integers(-(2**63), 2**64 - 1))
@settings(max_examples=300, deadline=None)
def test_integers_round_once_to_floats(value: int) -> None:
    assert Fraction(integer_to_float(value, F64)) == nearest(Fraction(value), 53)
    assert Fraction(integer_to_float(value, F32)) == nearest(Fraction(value), 24)
    assert Fraction(integer_to_float(value, BF16)) == nearest(Fraction(value), 8)


@given(value=st.floats(min_value=-1e38, max_value=1e38).filter(lambda v: v == 0 or abs(v) > 1e-37))
@settings(max_examples=300, deadline=None)
def test_bf16_is_rounded_once(value: float) -> None:
    assert Fraction(round_float(value, BF16)) == nearest(Fraction(value), 8)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(value=st.floats(), dtype=st.sampled_from(list(FLOATS)))
@settings(max_examples=300, deadline=None)
def test_rounding_is_numpys(value: float, dtype: DType) -> None:
    expected = float(FLOATS[dtype](value))
    found = round_float(value, dtype)
    assert (math.isnan(found) and math.isnan(expected)) or found == expected


@pytest.mark.parametrize("operator", ["add", "sub", "mul", "div", "rem"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(a=st.floats(width=32), b=st.floats(width=32), dtype=st.sampled_from([F32, F64]))
@settings(max_examples=150, deadline=None)
def test_float_arithmetic_is_that_of_the_type(operator: str, a: float, b: float, dtype: DType) -> None:
    kind = FLOATS[dtype]
    methods = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "rem": np.fmod}
    expected = float(methods[operator](kind(a), kind(b)))
    b_ = B()
    b_.binary(operator, lit(a, dtype), lit(b, dtype), name="x")
    (statement,) = fold_constants(of_kernel(b_.kernel())).kernels[0].body.statements
    assert isinstance(statement, Let)
    if math.isnan(expected):
        assert not isinstance(statement.operation, Copy) or number(statement.operation.operand) in (a, b)
    else:
        assert isinstance(statement.operation, Copy)
        assert number(statement.operation.operand) == expected


def test_division_by_zero_is_left_for_the_report() -> None:
    for operator in ("div", "rem"):
        b = B()
        b.binary(operator, lit(1), lit(0), name="x")
        program = of_kernel(b.kernel())
        assert fold_constants(program) == program


def test_exact_casts_lose_nothing() -> None:
    for source in INTEGERS:
        for target in INTEGERS:
            numbers = (source.minimum, source.maximum)
            assert exactly_holds(source, target) == all(wrap(n, target) == n for n in numbers)
        for target in (F32, F64):
            largest = source.maximum if source.bits < 64 else source.maximum - 1
            assert exactly_holds(source, target) == (int(integer_to_float(largest, target)) == largest)
    assert exactly_holds(F16, F32)
    assert exactly_holds(F32, F64)
    assert not exactly_holds(F64, F32)
    assert not exactly_holds(F16, BF16)
    assert not exactly_holds(BOOL, F32)
