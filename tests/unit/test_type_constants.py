"""Constants of types: every name and number against NumPy and the digits of Rust's documentation."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from teenyc import compile_source
from teenyc.check.associated import CONSTS

with mpmath.workdps(40):
    EXACT = {
        "E": mpmath.e,
        "FRAC_1_PI": 1 / mpmath.pi,
        "FRAC_1_SQRT_2": 1 / mpmath.sqrt(2),
        "FRAC_2_PI": 2 / mpmath.pi,
        "FRAC_2_SQRT_PI": 2 / mpmath.sqrt(mpmath.pi),
        **{f"FRAC_PI_{n}": mpmath.pi / n for n in (2, 3, 4, 6, 8)},
        "LN_10": mpmath.log(10),
        "LN_2": mpmath.log(2),
        "LOG10_2": mpmath.log10(2),
        "LOG10_E": mpmath.log10(mpmath.e),
        "LOG2_10": mpmath.log(10, 2),
        "LOG2_E": 1 / mpmath.log(2),
        "PI": mpmath.pi,
        "SQRT_2": mpmath.sqrt(2),
        "TAU": 2 * mpmath.pi,
    }


def test_constants_of_mathematics_are_right_to_the_last_bit() -> None:
    assert CONSTS.keys() == EXACT.keys()
    for name, value in CONSTS.items():
        assert value == float(EXACT[name]), name


@pytest.mark.parametrize(("dtype", "kind"), [("f16", np.float16), ("f32", np.float32), ("f64", np.float64)])
def test_limits_of_floats(dtype: str, kind: type[np.floating]) -> None:
    info = np.finfo(kind)
    text = stored(dtype, f"{dtype}::MAX, {dtype}::MIN, {dtype}::MIN_POSITIVE, {dtype}::EPSILON")
    assert text == [float(n) for n in (info.max, info.min, info.tiny, info.eps)]


@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"])
def test_limits_of_integers(dtype: str) -> None:
    info = np.iinfo(dtype.replace("i", "int").replace("u", "uint"))
    assert stored(dtype, f"{dtype}::MAX, {dtype}::MIN, {dtype}::BITS") == [info.max, info.min, info.bits]


@pytest.mark.parametrize("path", ["f32::consts::PI", "std::f32::consts::PI", "core::f32::consts::PI", "consts::PI"])
def test_constants_are_found_by_every_path(path: str) -> None:
    assert stored("f32", path) == [math.pi]


def stored(dtype: str, values: str) -> list[int | float]:
    """The literals that a kernel stores."""
    lines = " ".join(f"store(out, {value});" for value in values.split(", "))
    compiled = compile_source(f"#[kernel]\nfn k(out: Pointer<{dtype}>) {{ {lines} }}", name="k.tk")
    assert compiled.program is not None, [d.message() for d in compiled.diagnostics]
    statements = compiled.program.kernels[0].body.statements
    return [s.operation.operand("value").value for s in statements]  # type: ignore[union-attr]  # all are stores
