"""libdevice: the table is whole, references are right to the last digits, and the interpreter's form gives the same."""

from __future__ import annotations

import importlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import mpmath
import numpy as np
import pytest
from intrinsic_kernels import NUMPY, Array, Case, case, module, run

from teenyc import compile_source
from teenyc.intrinsics import TABLE
from teenyc.intrinsics.arrays import function
from teenyc.intrinsics.libdevice import INTRINSICS, OTHERS

libdevice = pytest.importorskip("triton.language.extra.libdevice")
RNG = np.random.default_rng(11)
MODES = ("rn", "rz", "rd", "ru")


def test_every_function_of_libdevice_has_a_record() -> None:
    theirs = {name for name, value in vars(libdevice).items() if callable(value) and not name.startswith("_")}
    assert theirs == {r.name for r in INTRINSICS} | OTHERS
    assert TABLE.keys() >= OTHERS


# ---- references against other arithmetic ----------------------------------------------------------------------------

SPREAD = np.concatenate([RNG.uniform(-6, 6, 16), 10.0 ** RNG.uniform(-9, 2, 8), -(10.0 ** RNG.uniform(-9, 1.4, 8))])
POSITIVE = np.concatenate([RNG.uniform(0.001, 9, 12), 10.0 ** RNG.uniform(-9, 2.4, 12)])
UNIT = np.concatenate([RNG.uniform(-1, 1, 12), 10.0 ** -RNG.uniform(1, 9, 6), 1 - 10.0 ** -RNG.uniform(1, 14, 6)])
LIKELY = np.abs(UNIT)

EXACT: dict[str, tuple[Callable[..., Any], Array]] = {
    "acos": (mpmath.acos, UNIT),
    "acosh": (mpmath.acosh, POSITIVE + 1),
    "asin": (mpmath.asin, UNIT),
    "asinh": (mpmath.asinh, SPREAD),
    "atan": (mpmath.atan, SPREAD),
    "atanh": (mpmath.atanh, UNIT),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), SPREAD),
    "cosh": (mpmath.cosh, SPREAD),
    "cospi": (mpmath.cospi, SPREAD),
    "cyl_bessel_i0": (lambda x: mpmath.besseli(0, x), SPREAD),
    "cyl_bessel_i1": (lambda x: mpmath.besseli(1, x), SPREAD),
    "erfc": (mpmath.erfc, SPREAD),
    "erfcinv": (lambda x: mpmath.erfinv(1 - x), LIKELY),
    "erfcx": (lambda x: mpmath.exp(x * x) * mpmath.erfc(x), SPREAD),
    "erfinv": (mpmath.erfinv, UNIT),
    "exp10": (lambda x: mpmath.power(10, x), SPREAD),
    "expm1": (mpmath.expm1, SPREAD),
    "j0": (lambda x: mpmath.besselj(0, x), SPREAD),
    "j1": (lambda x: mpmath.besselj(1, x), SPREAD),
    "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))), SPREAD),
    "log10": (mpmath.log10, POSITIVE),
    "log1p": (mpmath.log1p, POSITIVE),
    "normcdf": (mpmath.ncdf, SPREAD),
    "normcdfinv": (lambda x: mpmath.sqrt(2) * mpmath.erfinv(2 * x - 1), LIKELY),
    "rcbrt": (lambda x: 1 / mpmath.cbrt(x), POSITIVE),
    "sinh": (mpmath.sinh, SPREAD),
    "sinpi": (mpmath.sinpi, SPREAD),
    "tan": (mpmath.tan, SPREAD),
    "tgamma": (mpmath.gamma, SPREAD),
    "y0": (lambda x: mpmath.bessely(0, x), POSITIVE),
    "y1": (lambda x: mpmath.bessely(1, x), POSITIVE),
}
OSCILLATING = ("j0", "j1", "y0", "y1", "lgamma")
"""Near their zeros the argument's own rounding decides how many digits are right."""


@pytest.mark.parametrize("name", EXACT)
def test_functions_are_right_to_float64(name: str) -> None:
    exact, x = EXACT[name]
    with mpmath.workdps(40):
        expected = [float(exact(mpmath.mpf(v))) for v in x.tolist()]
    got = call(name, x)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12 if name in OSCILLATING else 0)
    assert call(name, x.astype("float32")).dtype == np.float32


@pytest.mark.parametrize("order", [0, 1, 2, 5, 12])
def test_bessel_functions_of_any_order(order: int) -> None:
    x = np.concatenate([POSITIVE, [60.5, 1e3, 1e5]])
    n = np.full(x.shape, order, "int32")
    with mpmath.workdps(40):
        first = [float(mpmath.besselj(order, v)) for v in x.tolist()]
        second = [float(mpmath.bessely(order, v)) for v in x.tolist()]
    np.testing.assert_allclose(call("jn", n, x), first, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(call("yn", n, x), second, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(call("jn", n, -x), np.array(first) * (-1) ** order, rtol=1e-11, atol=1e-14)


SPECIALS: list[tuple[str, tuple[float, ...], float]] = [
    ("erfinv", (1.0,), math.inf),
    ("erfinv", (1.5,), math.nan),
    ("erfcinv", (2.0,), -math.inf),
    ("normcdfinv", (0.0,), -math.inf),
    ("lgamma", (-2.0,), math.inf),
    ("tgamma", (-2.0,), math.nan),
    ("tgamma", (-0.0,), -math.inf),
    ("tgamma", (200.0,), math.inf),
    ("erfcx", (-30.0,), math.inf),
    ("j0", (math.inf,), 0.0),
    ("y0", (0.0,), -math.inf),
    ("y1", (-1.0,), math.nan),
    ("cyl_bessel_i1", (-math.inf,), -math.inf),
    ("round", (0.5,), 1.0),
    ("round", (-2.5,), -3.0),
    ("round", (0.49999999999999994,), 0.0),
    ("round", (-0.2,), -0.0),
    ("rint", (2.5,), 2.0),
    ("remainder", (5.0, 3.0), -1.0),
    ("remainder", (math.inf, 3.0), math.nan),
    ("fmod", (-5.0, 3.0), -2.0),
    ("fdim", (1.0, 3.0), 0.0),
    ("fdim", (math.nan, 3.0), math.nan),
    ("logb", (0.0,), -math.inf),
    ("logb", (-12.0,), 3.0),
    ("ilogb", (0.0,), -(2**31)),
    ("ilogb", (math.inf,), 2**31 - 1),
    ("saturatef", (math.nan,), 0.0),
    ("norm3d", (2.0, 3.0, 6.0), 7.0),
    ("rnorm4d", (1.0, 1.0, 1.0, 1.0), 0.5),
    ("pow", (-2.0, 3.0), -8.0),
    ("sinpi", (1e15,), 0.0),
    ("cospi", (0.5,), 0.0),
    ("nextafter", (1.0, 2.0), 1 + 2**-52),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), SPECIALS)
def test_values_at_the_edges(name: str, arguments: tuple[float, ...], expected: float) -> None:
    result = float(call(name, *map(np.float64, arguments)))
    assert (result == expected and math.copysign(1, result) == math.copysign(1, expected)) or (
        math.isnan(result) and math.isnan(expected)
    )


# ---- rounding -------------------------------------------------------------------------------------------------------

ROUNDED: dict[str, tuple[int, Callable[..., Fraction]]] = {
    "add": (2, lambda x, y: x + y),
    "sub": (2, lambda x, y: x - y),
    "mul": (2, lambda x, y: x * y),
    "div": (2, lambda x, y: x / y),
    "rcp": (1, lambda x: 1 / x),
    "fma": (3, lambda x, y, z: x * y + z),
}


@pytest.mark.parametrize(("name", "mode", "dtype"), list(product(ROUNDED, MODES, ("float32", "float64"))))
def test_arithmetic_is_rounded_once_and_in_the_stated_direction(name: str, mode: str, dtype: str) -> None:
    if (name, mode) == ("div", "rn"):
        pytest.skip("`div_rn` is another family's")
    count, exact = ROUNDED[name]
    given = [spread(30, dtype) for _ in range(count)]
    for numbers in zip(*given, call(f"{name}_{mode}", *given), strict=True):
        *arguments, result = map(float, numbers)
        assert_rounded(exact(*map(Fraction, arguments)), result, mode, dtype)


@pytest.mark.parametrize(("mode", "dtype"), list(product(("rz", "rd", "ru"), ("float32", "float64"))))
def test_roots_are_rounded_in_the_stated_direction(mode: str, dtype: str) -> None:
    squares = np.abs(spread(30, dtype))
    for x, root in zip(squares, call(f"sqrt_{mode}", squares), strict=True):
        below, above = sorted((root, np.nextafter(root, 0 if mode == "ru" else np.inf, dtype=dtype)))
        assert Fraction(float(below)) ** 2 <= Fraction(float(x)) <= Fraction(float(above)) ** 2


def test_overflow_and_cancelled_sums_follow_the_direction() -> None:
    greatest = np.finfo(np.float32).max
    assert [float(call(f"add_{mode}", greatest, greatest)) for mode in MODES] == [
        math.inf,
        greatest,
        greatest,
        math.inf,
    ]
    zeros = [float(call(f"sub_{mode}", np.float32(1), np.float32(1))) for mode in MODES]
    assert [math.copysign(1, zero) for zero in zeros] == [1, 1, -1, 1]


@pytest.mark.parametrize(
    ("source", "dtype"), [("int", "int32"), ("uint", "uint32"), ("ll", "int64"), ("ull", "uint64")]
)
def test_integers_become_floats_exactly_rounded(source: str, dtype: str) -> None:
    info = np.iinfo(dtype)
    x = RNG.integers(info.min, info.max, 32, dtype, endpoint=True)
    x[:2] = info.min, info.max
    targets = {"float": "float32"} | ({"double": "float64"} if info.bits == 64 else {})
    for (target, kind), mode in product(targets.items(), MODES):
        got = call(f"{source}2{target}_{mode}", x)
        assert got.dtype == kind
        for number, result in zip(x.tolist(), got.tolist(), strict=True):
            assert_rounded(Fraction(number), result, mode, kind)


@pytest.mark.parametrize(
    ("target", "dtype"), [("int", "int32"), ("uint", "uint32"), ("ll", "int64"), ("ull", "uint64")]
)
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_floats_become_integers_and_saturate(source: str, target: str, dtype: str) -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 3e9, -3e9, 1e19, -1e19, np.inf, -np.inf, 7.3, -7.3], source)
    info = np.iinfo(dtype)
    whole: dict[str, Callable[[float], int]] = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}
    for mode in MODES:
        got = call(f"{'float' if source == 'float32' else 'double'}2{target}_{mode}", x)
        assert got.dtype == dtype
        bounds = [info.max if v > 0 else info.min for v in x.tolist()]
        expected = [
            b if math.isinf(v) else min(max(whole[mode](v), info.min), info.max)
            for v, b in zip(x.tolist(), bounds, strict=True)
        ]
        assert got.tolist() == expected


def assert_rounded(exact: Fraction, result: float, mode: str, dtype: str) -> None:
    """Whether `result` is the float of the type beside `exact` that the mode asks for."""
    up, down = (float(np.nextafter(np.array(result, dtype), np.array(end, dtype))) for end in (np.inf, -np.inf))
    if math.isinf(result):
        assert abs(exact) > Fraction(float(np.finfo(dtype).max))
        return
    here = Fraction(result)
    toward = {"rz": "rd" if exact > 0 else "ru"}.get(mode, mode)
    if toward == "rd":
        assert here <= exact
        assert up == math.inf or exact < Fraction(up)
    elif toward == "ru":
        assert exact <= here
        assert down == -math.inf or Fraction(down) < exact
    else:
        others = [Fraction(v) for v in (up, down) if math.isfinite(v)]
        assert all(abs(here - exact) <= abs(other - exact) for other in others)
        is_tie = any(abs(here - exact) == abs(other - exact) for other in others)
        assert not is_tie or np.array(result, dtype).view(f"u{np.dtype(dtype).itemsize}") % 2 == 0


def spread(count: int, dtype: str) -> Array:
    """Floats of many sizes and both signs, but no zero."""
    sizes = 10.0 ** RNG.uniform(-20, 18, count)
    return (sizes * np.where(RNG.uniform(size=count) < 0.5, -1, 1)).astype(dtype)


# ---- integers -------------------------------------------------------------------------------------------------------

WORDS = [0, 1, 2, 3, 5, 255, 2**31 - 1, 2**30, 0x12345678, -1, -2, -(2**31)]


def test_bits_are_counted_and_turned() -> None:
    for bits in (32, 64):
        x = np.array([*WORDS, *RNG.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), 20)], f"int{bits}")
        digits = [format(v & (1 << bits) - 1, f"0{bits}b") for v in x.tolist()]
        assert call("clz", x).tolist() == [len(d) - len(d.lstrip("0")) for d in digits]
        assert call("popc", x).tolist() == [d.count("1") for d in digits]
        assert call("ffs", x).tolist() == [d[::-1].find("1") + 1 for d in digits]
        reverse = [int(d[::-1], 2) for d in digits]
        assert call("brev", x).view(f"uint{bits}").tolist() == reverse


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_integer_functions_are_exact(dtype: str) -> None:
    info = np.iinfo(dtype)
    x, y = (RNG.integers(info.min, info.max, 30, dtype, endpoint=True) for _ in range(2))
    x[:2], y[:2] = info.min, (info.max, info.min)
    pairs = list(zip(x.tolist(), y.tolist(), strict=True))
    assert call("mulhi", x, y).tolist() == [a * b >> info.bits for a, b in pairs]
    if info.bits == 32:
        assert call("hadd", x, y).tolist() == [(a + b) // 2 for a, b in pairs]
        assert call("rhadd", x, y).tolist() == [(a + b + 1) // 2 for a, b in pairs]
        distance = call("sad", x, y, np.full(30, 2**32 - 1, "uint32"))
        assert distance.tolist() == [(abs(a - b) - 1) % 2**32 for a, b in pairs]
        small = call("mul24", x >> 8, y >> 8)
        assert [v % 2**32 for v in small.tolist()] == [(a >> 8) * (b >> 8) % 2**32 for a, b in pairs]


def test_bytes_are_picked() -> None:
    x, y = np.array([0x03020100], "int32"), np.array([0x07060504], "int32")
    for digits in (0x3210, 0x7654, 0x0123, 0x7007):
        (got,) = call("byte_perm", x, y, np.array([digits], "int32")).tolist()
        picked = [digits >> 4 * n & 7 for n in range(4)]
        assert got == int.from_bytes(bytes(picked), "little", signed=True)


def test_bits_of_floats() -> None:
    x = np.array([1.0, -0.0, 2.0**-1074, np.inf], "float64")
    high, low = call("double2hiint", x), call("double2loint", x)
    np.testing.assert_array_equal(call("hiloint2double", high, low), x)
    assert high.tolist() == [0x3FF00000, -(2**31), 0, 0x7FF00000]
    assert call("double_as_longlong", x[[0, 1, 3]]).tolist() == [0x3FF << 52, -(2**63), 0x7FF << 52]
    assert call("float_as_uint", np.float32([-1.0])).tolist() == [0xBF800000]


def call(name: str, *arrays: Any) -> Any:
    with np.errstate(all="ignore"):
        return function(name)(*map(np.asarray, arrays))


# ---- the interpreter's form -----------------------------------------------------------------------------------------


def cases() -> Iterator[Case]:
    """Each function with arguments of each type that it takes."""
    for record in INTRINSICS:
        tried = map(dict, product(*(_choices(p.name) for p in record.params)))
        accepted = [a for a in tried if is_accepted(record.name, a)]
        assert accepted, record.name
        yield from (case(record.name, **arguments) for arguments in accepted)
    x = RNG.uniform(0.1, 4, 16).astype("float32")
    yield case("pow", x=x, y=np.int32(3))
    yield case("atan2", y=x.reshape(4, 4), x=np.float32(2))
    yield case("hypot", x=np.float32(3), y=np.float32(4))
    yield case("isnan", x=np.float32("nan"))


ARRAYS = {
    **{f"float{bits}": RNG.uniform(0.05, 0.95, 16).astype(f"float{bits}") for bits in (32, 64)},
    **{
        f"{sign}int{bits}": RNG.integers(0, 9, 16).astype(f"{sign}int{bits}") for sign in ("", "u") for bits in (32, 64)
    },
}


def _choices(name: str) -> list[tuple[str, Array]]:
    return [(name, array) for array in ARRAYS.values()]


def is_accepted(name: str, arguments: dict[str, Array]) -> bool:
    from intrinsic_site import judge, tensor

    return judge(name, **{n: tensor(NUMPY[a.dtype.name], 16) for n, a in arguments.items()}).results is not None


CASES = list(cases())


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module(CASES, Path(tmp_path_factory.mktemp("libdevice")) / "libdevice_cases.py")


@pytest.mark.parametrize("index", range(len(CASES)), ids=[f"{c.name}-{n}" for n, c in enumerate(CASES)])
def test_the_interpreter_gives_what_the_reference_gives(kernels: ModuleType, index: int, device: str) -> None:
    one = CASES[index]
    (expected,), (got,) = one.expected(), run(getattr(kernels, f"case_{index}"), one, device)
    assert got.dtype == expected.dtype
    if expected.dtype.kind == "f":
        is_rough = one.name.startswith("fast_") or one.name == "rcp64h"  # less than their type holds, on a GPU
        tolerance = 1e-4 if is_rough else 1e-11 if expected.dtype == np.float64 else 1e-5
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance / 10)
    else:
        np.testing.assert_array_equal(got, expected)


def test_results_have_the_types_of_the_rule() -> None:
    from intrinsic_site import judge, tensor

    for one in CASES:
        types = {n: tensor(NUMPY[a.dtype.name], *a.shape) for n, a in one.arrays.items()}
        judged = judge(one.name, **types)
        assert judged.results is not None
        (expected,) = one.expected()
        assert judged.results == (tensor(NUMPY[expected.dtype.name], *expected.shape),), one.name
    assert {one.name for one in CASES} == {r.name for r in INTRINSICS}


# ---- for GPUs -------------------------------------------------------------------------------------------------------

RUST = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64"}


@pytest.mark.parametrize("target", ["cuda", "hip"])
def test_all_that_a_gpu_has_compiles_for_it(target: str, tmp_path: Path) -> None:
    """One kernel for each type of the first argument; what AMD's library lacks is left out for it."""
    available = libdevice_of(target)
    groups: dict[str, list[Case]] = {}
    for one in CASES:
        first = next(iter(one.arrays.values()))
        if first.ndim == 1 and (one.name in available or one.record.helper == "_tanh"):
            groups.setdefault(RUST[first.dtype.name], []).append(one)
    path = tmp_path / f"all_{target}.py"
    compiled = compile_source("\n".join(kernel(name, group) for name, group in groups.items()), name="all.tk")
    assert compiled.source is not None, [d.message() for d in compiled.diagnostics]
    path.write_text(compiled.source, encoding="utf-8")
    assert compiled_for_gpu([{"path": str(path), "constants": {}, "dtypes": {}, "target": target}], tmp_path) == {}


def libdevice_of(target: str) -> set[str]:
    module = importlib.import_module(f"triton.language.extra.{target}.libdevice")
    return {name for name in vars(module) if not name.startswith("_")}


def kernel(name: str, cases: list[Case]) -> str:
    """A kernel that stores what each call gives of loaded numbers."""
    lines = [f"#[kernel]\nfn of_{name}(" + ", ".join(f"{t}_ptr: Pointer<{t}>" for t in RUST.values()) + ") {"]
    lines += [f"    let {t} = load({t}_ptr + arange(0, 16) + program_id(0));" for t in RUST.values()]
    for number, one in enumerate(cases):
        arguments = ", ".join(RUST[array.dtype.name] for array in one.arrays.values())
        result = one.expected()[0].dtype
        value = f"{one.name}({arguments})" + (" as i32" if result.kind == "b" else "")
        pointer = RUST.get(result.name, "i32")
        lines.append(f"    store({pointer}_ptr + arange(0, 16) + {16 * number} + program_id(0), {value});")
    return "\n".join([*lines, "}"])


def compiled_for_gpu(jobs: list[dict[str, object]], folder: Path) -> dict[str, str]:
    """What fails, in a process where Triton does not interpret."""
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    script = Path(__file__).parent.parent / "compile_for_gpu.py"
    done = subprocess.run(
        [sys.executable, script],
        input=json.dumps(jobs),
        env={**environment, "TRITON_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    failures: dict[str, str] = json.loads(done.stdout)
    return failures
