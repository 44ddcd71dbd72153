"""Numbers: every reference against independent arithmetic, and every Triton form against its reference."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from fractions import Fraction
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from intrinsic_kernels import NUMPY, Array, Case, case, module, run

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.libdevice import INTRINSICS as LIBDEVICE
from teenyc.intrinsics.random import philox
from teenyc.intrinsics.spec import Facts, Role
from teenyc.types import Extent, Pointer, TensorType

triton = pytest.importorskip("triton")
RNG = np.random.default_rng(7)


def floats(*shape: int, dtype: str = "float32", low: float = -4, high: float = 4) -> Array:
    return RNG.uniform(low, high, shape).astype(dtype)


def integers(*shape: int, dtype: str = "int32", low: int = -50, high: int = 50) -> Array:
    return RNG.integers(low, high, shape).astype(dtype)


# ---- references -----------------------------------------------------------------------------------------------------

POSITIVE = ("log", "log2", "sqrt", "sqrt_rn", "rsqrt")
MATHS: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "exp2": lambda x: 2.0**x,
    "log": math.log,
    "log2": math.log2,
    "sqrt": math.sqrt,
    "sqrt_rn": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "erf": math.erf,
    "floor": math.floor,
    "ceil": math.ceil,
    "abs": abs,
}


@pytest.mark.parametrize("name", MATHS)
def test_functions_of_one_number(name: str) -> None:
    x = floats(64, dtype="float64", low=0.01 if name in POSITIVE else -6, high=6)
    expected = [MATHS[name](v) for v in x.tolist()]
    np.testing.assert_allclose(reference(name)(x), expected, rtol=1e-14)


def reference(name: str) -> Callable[..., Any]:
    found = TABLE[name].reference
    assert found is not None
    return found


def test_extrema_take_the_number_or_the_nan() -> None:
    x, y = np.array([1.0, np.nan, np.nan]), np.array([2.0, 2.0, np.nan])
    np.testing.assert_array_equal(reference("maximum")(x, y), [2, 2, np.nan])
    np.testing.assert_array_equal(reference("minimum")(x, y, propagate_nan="all"), [1, np.nan, np.nan])
    np.testing.assert_array_equal(reference("clamp")(np.array([np.nan, 9.0]), 0.0, 6.0), [0, 6])


def test_quotients_are_rounded_up_exactly() -> None:
    x, div = integers(200, low=-100), np.where(np.arange(200) % 2, 7, -3)
    expected = [math.ceil(Fraction(a, b)) for a, b in zip(x.tolist(), div.tolist(), strict=True)]
    assert reference("cdiv")(x, div).tolist() == expected


def test_high_products_are_exact() -> None:
    x, y = (RNG.integers(0, 1 << 64, 20, dtype=np.uint64) for _ in range(2))
    assert reference("umulhi")(x, y).tolist() == [(a * b) >> 64 for a, b in zip(x.tolist(), y.tolist(), strict=True)]


def test_a_fused_product_is_rounded_once() -> None:
    x = np.float32(1 + 2**-12)
    assert reference("fma")(x, x, np.float32(-1 - 2**-11)) == np.float32(2**-24)


def test_softmax_sums_to_one() -> None:
    x = floats(4, 8, dtype="float64", low=-500, high=500)
    np.testing.assert_allclose(reference("softmax")(x).sum(1), 1, rtol=1e-14)
    np.testing.assert_allclose(reference("softmax")(x, dim=0).sum(0), 1, rtol=1e-14)


def test_the_generator_gives_the_published_words() -> None:
    """The known answers of Random123 for Philox 4x32 with ten rounds."""
    zeros = [int(w) for w in philox(0, 0, 0, 0, 0)]
    assert zeros == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = [int(w) for w in philox(-1, *[-1] * 4)]
    assert ones == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def test_random_numbers_are_spread_as_they_should_be() -> None:
    offsets = np.arange(1 << 16, dtype=np.int32)
    uniform, normal = reference("rand")(3, offsets), reference("randn")(3, offsets)
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.01
    assert abs(normal.mean()) < 0.02
    assert abs(normal.std() - 1) < 0.02


# ---- Triton's functions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", TABLE.values(), ids=lambda record: record.name)
def test_forms_fit_the_functions_of_triton(record: Any) -> None:
    import triton.language as tl

    for form in (record.triton, *(v.triton for v in record.variants)):
        for name in [] if "hasattr(" in form else re.findall(r"\btl\.([\w.]+)", form):
            assert attrgetter(name)(tl), f"triton {triton.__version__} has no `{name}`"
        if "{" in form or not form.startswith("tl."):
            continue
        function = attrgetter(form.removeprefix("tl."))(tl)
        theirs = inspect.signature(getattr(function, "fn", function)).parameters
        variadic = {p.name for p in theirs.values() if p.kind is inspect.Parameter.VAR_POSITIONAL}
        for param in record.params:
            is_left_out = param.is_ignored or (record.name, param.name) == ("cumprod", "dtype")  # a variant of its own
            assert is_left_out or param.name in theirs or variadic, f"{form} has no `{param.name}`"


X, Y, Z = floats(16), floats(16), floats(16)
MATRIX, CUBE = floats(8, 16), floats(4, 2, 8)
NEAR_ZERO = np.concatenate([np.logspace(-8, 0, 15), [0.0]]).astype("float32")
LARGE = np.array([1e30, -1e30, np.inf, -np.inf, 88, -88, 20, -20, 9, -9, 0.625, 0.62499, 1, -1, 0.1, -0.1], "float32")
WORDS = integers(16, dtype="uint32", low=0, high=1 << 32)
COUNTS = integers(16, low=0, high=8)
SEED = np.int32(42)
BITONIC = np.array([-4, 0, 3, 9, 8, 8, 2, -7], "int32")
KEYS = integers(2, dtype="uint64", low=0, high=1 << 62)
SMALL = integers(4, 8, dtype="int8", low=-9, high=9)


def _scaled(format: str, side: str) -> dict[str, Any]:
    """One operand of `dot_scaled`, K 64, without codes of NaN and infinity, and its scales around 1."""
    rows = 16 if side == "lhs" else 32
    extents = {"lhs": (rows, 64), "rhs": (64, rows)}[side]
    inner = {"lhs": 1, "rhs": 0}[side]
    name = {"unscaled": "e4m3"}.get(format, format.split()[0])
    packed = () if name != "e2m1" else (1 - inner,) if " " in format else (inner,)
    extents = tuple(e // 2 if axis in packed else e for axis, e in enumerate(extents))
    bits = integers(*extents, dtype="uint8", low=0, high=256)
    codes = np.where(bits & 124 == 124, 3, bits).astype("uint8") if name != "e2m1" else bits
    found: dict[str, Any] = {side: codes, f"{side}_format": name}
    if " " in format:
        found[f"{side}_k_pack"] = False
    if format != "unscaled":
        found[f"{side}_scale"] = integers(rows, 2, dtype="uint8", low=120, high=132)
    return found


SCALED = {
    (format, side): _scaled(format, side)
    for format in ("e4m3", "e5m2", "e2m1", "e2m1 rows", "unscaled")
    for side in ("lhs", "rhs")
}

CASES = [
    *(
        case(name, x=floats(16, dtype=d, low=0.01 if name in POSITIVE else -4))
        for name in MATHS
        for d in ("float32", "float64")
    ),
    *(case("tanh", x=x.astype(d)) for x in (NEAR_ZERO, -NEAR_ZERO, LARGE) for d in ("float32", "float64")),
    case("tanh", x=np.float32(0.3)),
    case("abs", x=integers(16)),
    *(
        case(name, x=floats(16, dtype=d), y=floats(16, dtype=d, low=1))
        for name in ("div_rn", "fdiv", "maximum", "minimum")
        for d in ("float32", "float64")
    ),
    case("fdiv", x=X, y=np.abs(Y) + 1, ieee_rounding=True),
    case("maximum", x=integers(16), y=integers(16)),
    case("minimum", x=WORDS, y=WORDS[::-1].copy()),
    case("maximum", x=X, y=np.where(Y > 0, Y, np.nan).astype("float32"), propagate_nan="all"),
    case("fma", x=X, y=Y, z=Z),
    case("clamp", x=X, min=np.float32(-1), max=np.float32(2)),
    case("clamp", x=integers(16), min=np.int32(-9), max=integers(16, low=0)),
    *(
        case("clamp", x=np.where(Y > 0, X, np.nan).astype(d), min=np.dtype(d).type(-1), max=np.dtype(d).type(2), **c)
        for d in ("float32", "float64")
        for c in ({}, {"propagate_nan": "all"})
    ),
    *(
        case(name, x=RNG.integers(0, 2**63, 16).astype(dtype))
        for name in ("count_ones", "leading_zeros", "reverse_bits", "swap_bytes")
        for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    ),
    case("where", condition=X > 0, x=X, y=Y),
    case("where", condition=MATRIX > 0, x=X, y=np.float32(2)),
    case("expect_zero", x=np.where(X > 0, X, 0).astype("float32"), mask=X <= 0),
    case("umulhi", x=WORDS, y=WORDS[::-1].copy()),
    case("umulhi", x=WORDS.astype("uint64") << np.uint64(30), y=WORDS.astype("uint64") << np.uint64(31)),
    *(case("cdiv", x=integers(16, low=-90), div=np.int32(d)) for d in (7, -7, 1)),
    case("cdiv", x=np.int32(-72), div=np.int32(10)),
    case("cdiv", x=np.int32(2**31 - 1), div=np.int32(2)),
    case("swizzle2d", i=COUNTS % 4, j=COUNTS // 2, size_i=np.int32(4), size_j=np.int32(4), size_g=np.int32(2)),
    case("arange", start=4, end=12),
    case("arange", start=-8, end=8),
    case("arange_f32", start=0, end=8),
    case("arange_f32", start=-3, end=1),
    case("zeros", shape=(4, 8), dtype=np.float64),
    case("full", shape=(8,), value=np.float32(1.5), dtype=np.float32),
    case("full", shape=(2, 4), value=3, dtype=np.int64),
    case("zeros_like", input=MATRIX),
    *(case("cat", input=x, other=x + 1) for x in (X, MATRIX, CUBE)),
    *(case("cat", input=x, other=x + 1, dim=x.ndim - 1) for x in (MATRIX, CUBE)),
    case("cat", input=CUBE, other=CUBE + 1, dim=1),
    *(case("sum", input=x, axis=x.ndim - 1) for x in (X, MATRIX, CUBE, SMALL)),
    *(case(name, input=MATRIX, axis=0, keep_dims=True) for name in ("sum", "max", "min", "argmax", "argmin")),
    *(case(name, input=CUBE, keep_dims=True) for name in ("sum", "max", "min")),
    *(case(name, input=SMALL) for name in ("sum", "max", "min", "xor_sum")),
    case("sum", input=SMALL.astype("uint8")),
    *(case("reduce_or", input=x) for x in (SMALL, MATRIX > 3.9, MATRIX > 4)),
    *(case("reduce_or", input=x, axis=1, keep_dims=True) for x in (WORDS.reshape(2, 8), MATRIX > 3)),
    *(case("prod", input=x) for x in (X, MATRIX / 4, SMALL[:2, :4], SMALL[:2, :4].astype("uint8"))),
    *(case("prod", input=x, axis=1, keep_dims=k) for x in (MATRIX / 4, SMALL) for k in (True, False)),
    *(case("reduce_and", input=x) for x in (SMALL | 6, WORDS | 12, MATRIX > -9, MATRIX > 0)),
    *(case("reduce_and", input=x, axis=0, keep_dims=k) for x in (SMALL, MATRIX > -1) for k in (True, False)),
    case("sum", input=X, dtype=np.float64),
    *(case(f"{n}_with_indices", input=MATRIX, axis=1) for n in ("max", "min")),
    *(case(n, input=CUBE, axis=1, return_indices=True) for n in ("max", "min")),
    *(case("softmax", x=MATRIX.astype(d), dim=1) for d in ("float32", "float64")),
    case("softmax", x=CUBE, dim=0),
    case("softmax", x=MATRIX, dim=1, ieee_rounding=True),
    case("softmax", x=X, dim=0),
    *(
        case(n, input=MATRIX / 2, axis=a, reverse=r)
        for n in ("cumsum", "cumprod")
        for a in (0, 1)
        for r in (True, False)
    ),
    *(case(n, input=SMALL, axis=1) for n in ("cumsum", "cumprod")),
    case("cumprod", input=SMALL.astype("uint8"), axis=0, reverse=True),
    case("cumsum", input=X, dtype=np.float64),
    case("cumprod", input=X, dtype=np.float64),
    *(case("sort", x=x, descending=d) for x in (X, integers(4, 8), SMALL) for d in (True, False)),
    *(
        case("topk", x=x, k=k, descending=d)
        for x in (X, MATRIX, integers(4, 8), SMALL, SMALL.astype("uint8"), WORDS, floats(8, dtype="float64"))
        for k in (1, 2, 8)
        for d in (True, False)
    ),
    *(case("bitonic_merge", x=x, descending=d) for x in (BITONIC, integers(2, 1) * BITONIC) for d in (True, False)),
    case("histogram", input=COUNTS, num_bins=8),
    case("histogram", input=COUNTS, num_bins=8, mask=X > 0),
    case("broadcast", input=X, other=MATRIX),
    case("broadcast_to", input=MATRIX[:, :1].copy(), shape=(8, 16)),
    case("broadcast_to", input=X, shape=(2, 8, 16)),
    case("broadcast_to", input=np.float32(3), shape=(8,)),
    *(case(n, input=MATRIX, shape=(4, 2, 16)) for n in ("reshape", "view")),
    case("ravel", x=MATRIX),
    case("squeeze", x=floats(4, 1, 8), dim=1),
    case("squeeze", x=floats(1, 8) > 0, dim=0),
    case("squeeze", x=floats(1), dim=0),
    case("item", x=floats(1, 1)),
    case("to_tensor", x=X),
    case("to_tensor", x=np.int32(1)),
    case("permute", input=CUBE, dims=(2, 0, 1)),
    case("trans", input=MATRIX),
    case("trans", input=CUBE),
    case("trans", input=CUBE, dims=(1, 0, 2)),
    case("flip", x=CUBE),
    case("flip", x=CUBE, dim=1),
    case("flip", x=integers(8), dim=0),
    case("join", a=X, b=Y),
    case("join", a=np.float32(1), b=np.float32(2)),
    case("split", a=floats(8, 2)),
    case("split", a=floats(2)),
    case("interleave", a=MATRIX, b=MATRIX + 1),
    case("interleave", a=np.float32(1), b=np.float32(2)),
    case("gather", src=MATRIX, index=integers(8, 4, low=0, high=16), axis=1),
    case("gather", src=X, index=COUNTS, axis=0),
    *(
        case("dot", input=floats(16, 32, dtype=d), other=floats(32, 16, dtype=d), input_precision="ieee")
        for d in ("float16", "float32", "float64")
    ),
    case("dot", input=floats(16, 16), other=floats(16, 16), acc=floats(16, 16), input_precision="ieee"),
    case(
        "dot",
        input=floats(16, 16, dtype="float64"),
        other=floats(16, 16, dtype="float64"),
        acc=floats(16, 16, dtype="float64"),
        input_precision="ieee",
        out_dtype=np.float64,
    ),
    case(
        "dot",
        input=integers(16, 32, dtype="int8", low=-9, high=9),
        other=integers(32, 16, dtype="int8", low=-9, high=9),
        acc=integers(16, 16),
        out_dtype=np.int32,
    ),
    case("dot", input=floats(2, 16, 32), other=floats(2, 32, 16), acc=floats(2, 16, 16), input_precision="ieee"),
    case("dot", input=floats(16, 32), other=floats(32, 16), input_precision="tf32x3", max_num_imprecise_acc=0),
    *(
        case("dot_scaled", **SCALED[left, "lhs"], **SCALED[right, "rhs"], **extra)
        for left, right, extra in (
            ("e4m3", "e5m2", {"acc": floats(16, 32)}),
            ("e5m2", "e2m1", {"fast_math": True}),
            ("e2m1", "e4m3", {}),
            ("e2m1 rows", "e2m1 rows", {}),
            ("unscaled", "e2m1", {}),
        )
    ),
    case("cast", input=X, dtype=np.float16, fp_downcast_rounding="rtz"),
    case("bitcast", input=X, dtype=np.int32),
    *(case(n, seed=SEED, offset=integers(16)) for n in ("rand", "randint", "randint4x")),
    case("rand4x", seed=SEED, offsets=integers(16)),
    *(
        case(n, seed=np.int32(-1), offset=integers(16), n_rounds=7)
        for n in ("randn", "randn4x", "randint", "randint4x")
    ),
    case("philox", seed=SEED, c0=integers(16), c1=integers(16), c2=integers(16), c3=integers(16)),
    case("philox_impl", c0=WORDS, c1=WORDS, c2=WORDS[::-1].copy(), c3=WORDS, k0=WORDS[3], k1=WORDS[4]),
    case("philox_impl", c0=KEYS, c1=KEYS, c2=KEYS, c3=KEYS, k0=KEYS[0], k1=KEYS[1], n_rounds=3),
    case("uint_to_uniform_float", x=WORDS),
    case("pair_uniform_to_normal", u1=np.abs(X) / 5, u2=np.abs(Y) / 5),
    case("multiple_of", input=integers(16) * 16, values=(16,)),
    case("max_contiguous", input=np.arange(16, dtype="int32"), values=(16,)),
    case("max_constancy", input=np.ones(16, dtype="int32"), values=(16,)),
]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module(CASES, Path(tmp_path_factory.mktemp("intrinsics")) / "intrinsic_cases.py")


@pytest.mark.parametrize("index", range(len(CASES)), ids=[f"{c.name}-{n}" for n, c in enumerate(CASES)])
def test_triton_gives_what_the_reference_gives(kernels: ModuleType, index: int, device: str) -> None:
    one: Case = CASES[index]
    if one.name == "dot_scaled" and device == "cpu" and triton.__version__ < "3.8":
        pytest.skip("Triton's interpreter has scaled products since 3.8")
    expected = one.expected()
    got = run(getattr(kernels, f"case_{index}"), one, device)
    for result, wanted in zip(got, expected, strict=True):
        assert result.dtype == wanted.dtype
        if wanted.dtype.kind == "f":
            tolerance = 1e-12 if wanted.dtype == np.float64 else 1e-5
            largest = np.max(np.abs(wanted), initial=1.0, where=np.isfinite(wanted))  # sums cancel on a GPU too
            np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance / 10 * largest)
        else:
            np.testing.assert_array_equal(result, wanted)


def test_every_reference_has_a_case() -> None:
    names = {one.name for one in CASES}
    elsewhere = {record.name for record in LIBDEVICE}  # tests/unit/test_libdevice.py
    elsewhere |= {
        r.name for r in TABLE.values() if any(p.role is Role.FUNCTION for p in r.params)
    }  # run/test_combine.py
    assert {name for name, record in TABLE.items() if record.reference is not None} - elsewhere == names


# ---- atomics --------------------------------------------------------------------------------------------------------

LEFT: dict[str, Callable[[Any, Any], Any]] = {
    "atomic_add": lambda old, val: old + val,
    "atomic_max": np.maximum,
    "atomic_min": np.minimum,
    "atomic_and": lambda old, val: old & val,
    "atomic_or": lambda old, val: old | val,
    "atomic_xor": lambda old, val: old ^ val,
    "atomic_xchg": lambda old, val: val,
}
OLD, VAL, MASK = integers(16), integers(16), X > 0
HALVES = [
    (name, OLD.astype(dtype), VAL.astype(dtype))
    for name in LEFT
    for dtype in ("int32", "int64", "uint32", "float32", "float64")
    if dtype[0] != "f" or name.removeprefix("atomic_") in ("add", "max", "min", "xchg")
]


@pytest.fixture(scope="module")
def atomics(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = Path(tmp_path_factory.mktemp("atomics")) / "atomic_cases.py"
    forms = dict.fromkeys(form for name in LEFT for form in _forms(name))
    calls = {form.rpartition(".")[2]: f"{form}(pointer, val, mask=mask, sem='relaxed')" for form in forms}
    calls["atomic_cas"] = "_atomic_cas(pointer, 7, val, scope='gpu')"
    calls["atomic_load"] = "_atomic_load(pointer, mask=mask, scope='sys')"
    calls["atomic_poll"] = "_atomic_poll(pointer, val, timeout_ns=1000)"
    kernels = [ATOMIC.format(name=name, call=call) for name, call in calls.items()]
    return module([], path, [*kernels, ATOMIC_STORE, ATOMIC_SCALARS])


def _forms(name: str) -> list[str]:
    return [TABLE[name].triton, *(variant.triton for variant in TABLE[name].variants)]


ATOMIC = """@triton.jit
def run_{name}(memory_ptr, val_ptr, mask_ptr, old_ptr):
    lane = tl.arange(0, 16)
    pointer, val, mask = memory_ptr + lane, tl.load(val_ptr + lane), tl.load(mask_ptr + lane)
    tl.store(old_ptr + lane, {call}, mask=mask)
"""


ATOMIC_STORE = """@triton.jit
def run_atomic_store(memory_ptr, val_ptr, mask_ptr, old_ptr):
    lane = tl.arange(0, 16)
    _atomic_store(memory_ptr + lane, tl.load(val_ptr + lane), mask=tl.load(mask_ptr + lane))
"""
ATOMIC_SCALARS = """@triton.jit
def run_atomic_scalars(memory_ptr, val_ptr, mask_ptr, old_ptr):
    tl.store(old_ptr, _atomic_load(memory_ptr))
    _atomic_store(memory_ptr, 9)
    tl.store(old_ptr + 1, _atomic_poll(memory_ptr, 9).to(tl.int32))
    tl.store(old_ptr + 2, _atomic_poll(memory_ptr, 8, timeout_ns=1).to(tl.int32))
"""


@pytest.mark.parametrize(("name", "old", "val"), HALVES, ids=[f"{n}-{o.dtype}" for n, o, _ in HALVES])
def test_atomics_leave_the_result_and_give_what_was_there(
    atomics: ModuleType, name: str, old: Array, val: Array, device: str
) -> None:
    pointer = TensorType(Pointer(NUMPY[old.dtype.name]), (Extent.of(16),))
    form, _ = TABLE[name].form(Facts({"pointer": pointer}, {}))
    memory, seen = swapped(getattr(atomics, f"run_{form.rpartition('.')[2]}"), old, val, device)
    np.testing.assert_array_equal(memory, np.where(MASK, LEFT[name](old, val), old))
    np.testing.assert_array_equal(seen, np.where(MASK, old, 0))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_compare_and_swap_writes_where_the_element_is_equal(atomics: ModuleType, dtype: str, device: str) -> None:
    old = np.where(np.arange(16) % 3 == 0, 7, OLD).astype(dtype)
    memory, seen = swapped(atomics.run_atomic_cas, old, VAL.astype(dtype), device)
    np.testing.assert_array_equal(memory, np.where(old == 7, VAL, old))
    np.testing.assert_array_equal(seen, np.where(MASK, old, 0))


@pytest.mark.parametrize("dtype", ["int32", "uint64", "float32", "float64"])
def test_atomic_loads_and_stores(atomics: ModuleType, dtype: str, device: str) -> None:
    old, val = OLD.astype(dtype), VAL.astype(dtype)
    memory, seen = swapped(atomics.run_atomic_load, old, val, device)
    np.testing.assert_array_equal(memory, old)
    np.testing.assert_array_equal(seen, np.where(MASK, old, 0))
    memory, _ = swapped(atomics.run_atomic_store, old, val, device)
    np.testing.assert_array_equal(memory, np.where(MASK, val, old))


def test_polls_say_what_came(atomics: ModuleType, device: str) -> None:
    memory, seen = swapped(atomics.run_atomic_poll, OLD, np.where(X > 1, OLD, 99), device)
    np.testing.assert_array_equal(memory, OLD)
    np.testing.assert_array_equal(seen, MASK & (X > 1))
    memory, seen = swapped(atomics.run_atomic_scalars, OLD, VAL, device)
    assert memory.tolist() == [9, *OLD.tolist()[1:]]
    assert seen.tolist()[:3] == [OLD[0], 1, 0]


def swapped(kernel: Any, old: Array, val: Array, device: str) -> tuple[Array, Array]:
    """What an atomic leaves in memory, and what it gives in the lanes of the mask."""
    import torch

    memory, values, mask = (torch.from_numpy(np.array(a)).to(device) for a in (old, val, MASK))
    seen = torch.zeros_like(memory)
    kernel[(1,)](memory, values, mask, seen)
    return memory.cpu().numpy(), seen.cpu().numpy()
