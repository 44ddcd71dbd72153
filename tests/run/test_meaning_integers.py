"""Integers mean what Rust's wrapping operators give, in every width and sign: against exact Python integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from meaning import (
    INTEGERS,
    bounds,
    empty,
    gpu_failures,
    module_of,
    numbers_of,
    quotient,
    remainder,
    samples,
    tensor_of,
    wrapped,
)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns where integers wrap

COUNT = 64
OPERATORS: dict[str, Callable[[int, int, int], int]] = {
    "+": lambda a, b, _: a + b,
    "-": lambda a, b, _: a - b,
    "*": lambda a, b, _: a * b,
    "/": lambda a, b, _: quotient(a, b),
    "%": lambda a, b, _: remainder(a, b),
    "&": lambda a, b, _: a & b,
    "|": lambda a, b, _: a | b,
    "^": lambda a, b, _: a ^ b,
    "<<": lambda a, b, bits: a << b % bits,
    ">>": lambda a, b, bits: a >> b % bits,
    "==": lambda a, b, _: a == b,
    "!=": lambda a, b, _: a != b,
    "<": lambda a, b, _: a < b,
    "<=": lambda a, b, _: a <= b,
    ">": lambda a, b, _: a > b,
    ">=": lambda a, b, _: a >= b,
}
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def joined(lines: Iterable[str]) -> str:
    return "\n    ".join(lines)


def expected(sign: str, a: int, b: int, dtype: str) -> int:
    if sign in ("/", "%") and b == 0:
        return 0
    return wrapped(int(OPERATORS[sign](a, b, int(dtype[1:]))), dtype)


def term(sign: str, a: str, b: str, dtype: str) -> str:
    text = f"{a} {sign} {b}"
    return f"({text}) as {dtype}" if sign in COMPARISONS else text


# ---- tensors, elements and parameters -------------------------------------------------------------------------------


def run_time(dtype: str) -> str:
    """Each operator on tensors, on 0-d loads, on parameters, and on a parameter with a tensor; `d` is `b` without 0."""
    signs = list(enumerate(OPERATORS))
    divisor = {"/": "d", "%": "d"}
    lines = [f"store(out_ptr + {k * COUNT} + i, {term(s, 'a', divisor.get(s, 'b'), dtype)});" for k, s in signs]
    scalars = [f"store(out_ptr + {k}, {term(s, 'x', divisor.get(s, 'y'), dtype)});" for k, s in signs]
    mixed = [f"store(out_ptr + {k * COUNT} + i, {term(s, 'a', divisor.get(s, 'y'), dtype)});" for k, s in signs]
    flipped = [f"store(out_ptr + {k * COUNT} + i, {term(s, 'x', divisor.get(s, 'b'), dtype)});" for k, s in signs]
    nothing = f"0{dtype}"
    return f"""
#[kernel]
fn tensors(a_ptr: Pointer<{dtype}>, b_ptr: Pointer<{dtype}>, out_ptr: Pointer<{dtype}>) {{
    let i = arange(0, {COUNT});
    let a = load(a_ptr + i);
    let b = load(b_ptr + i);
    let d = where_(b == 0, 1, b);
    {joined(lines)}
    {f"store(out_ptr + {len(signs) * COUNT} + i, -a);" if dtype[0] == "i" else ""}
    store(out_ptr + {(len(signs) + 1) * COUNT} + i, !a);
}}

#[kernel]
fn elements(a_ptr: Pointer<{dtype}>, b_ptr: Pointer<{dtype}>, out_ptr: Pointer<{dtype}>) {{
    let x = load(a_ptr);
    let y = load(b_ptr);
    let d = if y == {nothing} {{ 1 }} else {{ y }};
    {joined(scalars)}
}}

#[kernel]
fn parameters(x: {dtype}, y: {dtype}, out_ptr: Pointer<{dtype}>) {{
    let d = if y == 0 {{ 1 }} else {{ y }};
    {joined(scalars)}
}}

#[kernel]
fn right(a_ptr: Pointer<{dtype}>, y: {dtype}, out_ptr: Pointer<{dtype}>) {{
    let i = arange(0, {COUNT});
    let a = load(a_ptr + i);
    let d = if y == 0 {{ 1 }} else {{ y }};
    {joined(mixed)}
}}

#[kernel]
fn left(x: {dtype}, b_ptr: Pointer<{dtype}>, out_ptr: Pointer<{dtype}>) {{
    let i = arange(0, {COUNT});
    let b = load(b_ptr + i);
    let d = where_(b == 0, 1, b);
    {joined(flipped)}
}}
"""


@pytest.fixture(scope="module", params=INTEGERS)
def run_time_kernels(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, ModuleType]:
    dtype = request.param
    return dtype, module_of(run_time(dtype), tmp_path_factory.mktemp(dtype))


Kernels = tuple[str, ModuleType]


def test_operators_on_tensors(run_time_kernels: Kernels, device: str) -> None:
    dtype, kernels = run_time_kernels
    a, b = samples(dtype, COUNT, 1), samples(dtype, COUNT, 2)
    b[:8] = [b[0], bounds(dtype)[1], bounds(dtype)[0], -1 if dtype[0] == "i" else 1, 0, 1, 33, 64]
    a[3] = bounds(dtype)[0]  # MIN / -1
    out = empty((len(OPERATORS) + 2) * COUNT, dtype, device)
    kernels.Tensors()[(1,)](tensor_of(a, dtype, device), tensor_of(b, dtype, device), out)
    rows = [numbers_of(row) for row in out.reshape(-1, COUNT)]
    for sign, row in zip(OPERATORS, rows, strict=False):
        divisors = [y or 1 for y in b] if sign in "/%" else b
        assert row == [expected(sign, x, y, dtype) for x, y in zip(a, divisors, strict=True)], sign
    if dtype[0] == "i":
        assert rows[-2] == [wrapped(-x, dtype) for x in a]
    assert rows[-1] == [wrapped(~x, dtype) for x in a]


def pairs(dtype: str) -> list[tuple[int, int]]:
    low, high = bounds(dtype)
    minus = -1 if low else high
    return [
        (low, minus),
        (high, 1),
        (1, high),
        (minus, 2),
        (7, minus),
        (1, 1),
        (0, 1),
        (high, high),
        (low, low),
        (9, 0),
    ]


def test_operators_on_elements_and_parameters(run_time_kernels: Kernels, device: str) -> None:
    dtype, kernels = run_time_kernels
    for x, y in pairs(dtype):
        wanted = [expected(s, x, (y or 1) if s in "/%" else y, dtype) for s in OPERATORS]
        out = empty(len(OPERATORS), dtype, device)
        kernels.Elements()[(1,)](tensor_of([x], dtype, device), tensor_of([y], dtype, device), out)
        assert dict(zip(OPERATORS, numbers_of(out), strict=True)) == dict(zip(OPERATORS, wanted, strict=True)), (x, y)
        out = empty(len(OPERATORS), dtype, device)
        kernels.Parameters()[(1,)](x, y, out)
        assert dict(zip(OPERATORS, numbers_of(out), strict=True)) == dict(zip(OPERATORS, wanted, strict=True)), (x, y)


def test_operators_on_a_tensor_and_a_parameter(run_time_kernels: Kernels, device: str) -> None:
    dtype, kernels = run_time_kernels
    numbers = samples(dtype, COUNT, 3)
    tensor = tensor_of(numbers, dtype, device)
    for y in (1, bounds(dtype)[1], bounds(dtype)[0], 3):
        out = empty(len(OPERATORS) * COUNT, dtype, device)
        kernels.Right()[(1,)](tensor, y, out)
        for sign, row in zip(OPERATORS, out.reshape(-1, COUNT), strict=True):
            divisor = (y or 1) if sign in "/%" else y
            assert numbers_of(row) == [expected(sign, x, divisor, dtype) for x in numbers], (sign, y)
        kernels.Left()[(1,)](y, tensor, out)
        for sign, row in zip(OPERATORS, out.reshape(-1, COUNT), strict=True):
            divisors = [n or 1 for n in numbers] if sign in "/%" else numbers
            assert numbers_of(row) == [expected(sign, y, n, dtype) for n in divisors], (sign, y)


# ---- literals and constants -----------------------------------------------------------------------------------------


def literal(value: int, dtype: str) -> str:
    return f"({value}{dtype})"


def literal_cases(dtype: str) -> list[tuple[str, int, int]]:
    return [(sign, a, b) for sign in OPERATORS for a, b in pairs(dtype) if not (sign in "/%" and b == 0)]


def folded(dtype: str) -> str:
    """Each operator on literals: folded, on named ones, and a literal with a tensor on either side."""
    cases = literal_cases(dtype)
    plain, named, mixed = [], [], []
    for k, (s, a, b) in enumerate(cases):
        x, y = literal(a, dtype), literal(b, dtype)
        plain.append(f"store(out_ptr + {k}, {term(s, x, y, dtype)});")
        named.append(f"let a = {x}; let b: {dtype} = {b}; store(out_ptr + {k}, {term(s, 'a', 'b', dtype)});")
        mixed.append(f"let a = load(x_ptr + {k}); store(out_ptr + {k}, {term(s, 'a', y, dtype)});")
    return f"""
#[kernel]
fn plain(out_ptr: Pointer<{dtype}>) {{
    {joined(plain)}
}}

#[kernel]
fn named(out_ptr: Pointer<{dtype}>) {{
    {joined(named)}
}}

#[kernel]
fn mixed(x_ptr: Pointer<{dtype}>, out_ptr: Pointer<{dtype}>) {{
    {joined(mixed)}
}}
"""


@pytest.mark.parametrize("dtype", INTEGERS)
def test_operators_on_literals(dtype: str, tmp_path: Path, device: str) -> None:
    kernels = module_of(folded(dtype), tmp_path)
    cases = literal_cases(dtype)
    wanted = {c: expected(*c, dtype) for c in cases}
    left = tensor_of([a for _, a, _ in cases], dtype, device)
    for name in ("Plain", "Named", "Mixed"):
        out = empty(len(cases), dtype, device)
        arguments: list[Any] = [left, out] if name == "Mixed" else [out]
        getattr(kernels, name)()[(1,)](*arguments)
        assert dict(zip(cases, numbers_of(out), strict=True)) == wanted, name


CONSTANTS = f"""
#[kernel]
fn constants<const A: i32, const B: i32>(out_ptr: Pointer<i32>, m: i32) {{
    {joined(f"store(out_ptr + {k}, {term(s, 'A', 'B', 'i32')});" for k, s in enumerate(OPERATORS))}
    {joined(f"store(out_ptr + {k + 16}, {term(s, 'm', 'B', 'i32')});" for k, s in enumerate(OPERATORS))}
    {joined(f"store(out_ptr + {k + 32}, {term(s, 'A', 'm', 'i32')});" for k, s in enumerate(OPERATORS))}
    store(out_ptr + 48, (A + B) / 2);
    store(out_ptr + 49, (A * B) % 7);
    store(out_ptr + 50, ((A - B) < 0) as i32);
    store(out_ptr + 51, ((A * B) as i64 / 5) as i32);
    store(out_ptr + 52, -A / 3);
    store(out_ptr + 53, (A + m) / B);
    store(out_ptr + 54, (A * B + m) >> 1);
    store(out_ptr + 55, -(A * B) / 3);
    store(out_ptr + 56, !(A + B) / 3);
    store(out_ptr + 57, ((A + B) as f32 * 0.5) as i32);
    let named = A + B;
    store(out_ptr + 58, named / 16);
    store(out_ptr + 59, (A + B > m) as i32);
}}
"""


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (-72, 10),
        (72, -10),
        (-7, -2),
        (2**31 - 1, 1),
        (-(2**31), -1),
        (2**31 - 1, 2**31 - 1),
        (65537, 65537),
        (1, 1),
        (-(2**31), 3),
        (5, 33),
        (-5, -1),
    ],
)
def test_operators_on_constants(a: int, b: int, tmp_path: Path, device: str) -> None:
    kernels = module_of(CONSTANTS, tmp_path)
    for m in (1, -3, 2**31 - 1):
        out = empty(60, "i32", device)
        kernels.Constants(a, b)[(1,)](out, m)
        found = numbers_of(out)
        for k, (x, y) in enumerate(((a, b), (m, b), (a, m))):
            row = dict(zip(OPERATORS, found[16 * k :], strict=False))
            assert row == {s: expected(s, x, y, "i32") for s in OPERATORS}, (k, m)
        w = lambda n: wrapped(n, "i32")  # noqa: E731
        assert found[48:] == [
            quotient(w(a + b), 2), remainder(w(a * b), 7), int(w(a - b) < 0), w(quotient(w(a * b), 5)),
            quotient(w(-a), 3), w(quotient(w(a + m), b)), w(a * b + m) >> 1, quotient(w(-w(a * b)), 3),
            quotient(~w(a + b), 3), single(w(a + b)), quotient(w(a + b), 16), int(w(a + b) > m),
        ]  # fmt: skip


def single(value: int) -> int:
    """`value as f32 * 0.5`, as i32."""
    half = np.float32(value) * np.float32(0.5)
    return max(min(int(half), 2**31 - 1), -(2**31))


def test_kernels_compile_for_a_gpu(tmp_path: Path) -> None:
    texts = {dtype: run_time(dtype) for dtype in INTEGERS}
    texts |= {f"{dtype}_literals": folded(dtype) for dtype in ("i8", "u32")}
    texts["constants"] = CONSTANTS
    assert gpu_failures(texts, tmp_path, {"A": 2**31 - 1, "B": -(2**31)}, {}) == ""
