"""Every way of writing one thing gives one result; arguments of every type; effects in order; shadowing."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from meaning import FLOATS, empty, gpu_failures, module_of, numbers_of, samples, tensor_of, wrapped

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns where integers wrap

# ---- both columns ---------------------------------------------------------------------------------------------------

RUST = """
#[kernel]
pub fn form<T: Triton, D: Float, const N: i32>(
    x_ptr: T::Pointer<D>, y_ptr: T::Pointer<D>, out_ptr: T::Pointer<D>, flag_ptr: T::Pointer<i32>, n: i32, s: f32,
) where T::I32Tensor: Tensor<i32>, D: Copy {
    let pid = T::program_id(Axis::X);
    let off = T::arange(0, N);
    let m = off.lt(n);
    let half = T::full(&[N], D::from_f64(0.5));
    let x = T::load(x_ptr.add_offsets(off), Some(m), Some(half), &[], None, None, None, false);
    let y = T::load(y_ptr.add_offsets(off), None, None, &[], None, None, None, false);
    let scaled = T::full(&[N], D::from_f64(s as f64)) * x;
    let mut acc = T::zeros::<D>(&[N]);
    acc = acc + scaled;
    acc = acc + y;
    T::store(out_ptr.add_offsets(off), acc, Some(m), &[], None, None);
    let total = T::sum(x, Some(0), true);
    T::store(out_ptr.add_offsets(off + N), total + y, None, &[], None, None);
    let outer = T::expand_dims(x, 1) * T::expand_dims(y, 0);
    let wide = T::arange(0, N);
    let at = T::expand_dims(wide, 1) * N + T::expand_dims(wide, 0);
    T::store(out_ptr.add_offsets(at + 2 * N), outer, None, &[], None, None);
    T::store(flag_ptr.add_offsets(off), T::cast::<bool, i32>(T::lt(x, y)), None, &[], None, None);
    T::store(flag_ptr.add_offsets(off + N), T::lt_scalar(x, D::from_f64(0.25)) as i32 + pid, None, &[], None, None);
}
"""
SHORT = """
#[kernel]
fn form<D: Float, const N: i32>(
    x_ptr: Pointer<D>, y_ptr: Pointer<D>, out_ptr: Pointer<D>, flag_ptr: Pointer<i32>, n: i32, s: f32,
) {
    let off = arange(0, N);
    let x = load(x_ptr + off, mask = off < n, other = 0.5);
    let y = load(y_ptr + off);
    let mut acc = zeros::<D>(&[N]);
    acc += s * x;
    acc += y;
    store(out_ptr + off, acc, mask = off < n);
    store(out_ptr + off + N, sum(x, axis = 0, keep_dims = true) + y);
    let at = off[(.., None)] * N + off[(None, ..)];
    store(out_ptr + at + 2 * N, x[(.., None)] * y[(None, ..)]);
    store(flag_ptr + off, (x < y) as i32);
    store(flag_ptr + off + N, (x < 0.25) as i32 + program_id(0));
}
"""
MIXED = """
#[kernel]
fn form<Tr: Triton, E: Float, const N: i32>(
    x_ptr: Tr::Pointer<E>, y_ptr: Pointer<E>, out_ptr: Tr::Pointer<E>, flag_ptr: Pointer<i32>, n: i32, s: f32,
) {
    let off = Tr::arange(0, N);
    let m = off < n;
    let x = load(x_ptr.add_offsets(off), Some(m), other = 0.5);
    let y = Tr::load(off + y_ptr, None, None, &[], None, None, None, false);
    let acc = zeros::<E>(&[N]) + x * s + y;
    Tr::store(out_ptr + off, acc, Some(m), &[], None, None);
    store(out_ptr.add_offsets(off + N), Tr::sum(x, Some(-1), true) + y);
    let at = expand_dims(off, axis = -1) * N + off[(None, ..)];
    store(out_ptr + at + N * 2, expand_dims(x, 1) * y[(None, ..)]);
    store(flag_ptr - (-1 * off), cast::<bool, i32>(x.lt(y)));
    store(flag_ptr + (N + off), (x.lt(0.25)) as i32 + program_id(axis = 0));
}
"""


@pytest.mark.parametrize("text", [RUST, SHORT, MIXED], ids=["rust", "short", "mixed"])
@pytest.mark.parametrize("dtype", [*FLOATS, "bf16"])
def test_both_forms_mean_the_same(text: str, dtype: str, tmp_path: Path, device: str) -> None:
    size, n, s = 8, 5, 0.75
    rng = np.random.default_rng(4)
    x, y = (tensor_of((rng.integers(-16, 16, size) / 8).tolist(), dtype, device) for _ in range(2))
    out, flags = empty((2 + size) * size, dtype, device), empty(2 * size, "i32", device)
    module_of(text, tmp_path).Form(size)[(1,)](x, y, out, flags, n, s)
    a, b = np.array(numbers_of(x)), np.array(numbers_of(y))
    a[n:] = 0.5
    found = numbers_of(out)
    assert found[:n] == (a * s + b)[:n].tolist()
    assert np.isnan(found[n:size]).all()
    assert found[size : 2 * size] == (a.sum() + b).tolist()
    assert found[2 * size :] == np.outer(a, b).ravel().tolist()
    assert numbers_of(flags) == [*(a < b).astype(int).tolist(), *(a < 0.25).astype(int).tolist()]


# ---- dtype parameters -----------------------------------------------------------------------------------------------

GENERIC = """
fn half<E: Num>(x: Tensor<E>) -> Tensor<E> { x }

#[kernel]
fn number<D: Num, const N: i32>(x_ptr: Pointer<D>, y_ptr: Pointer<D>, out_ptr: Pointer<D>) {
    let i = arange(0, N);
    let x = load(x_ptr + i);
    let y = load(y_ptr + i);
    store(out_ptr + i, x + y * x - y);
    store(out_ptr + N + i, x / y);
    store(out_ptr + 2 * N + i, where_(x < y, x, half(y)));
    store(out_ptr + 3 * N + i, maximum(x, y) + zeros::<D>(&[N]));
    store(out_ptr + 4 * N + i, full::<D>(&[N], 3) * x);
}

#[kernel]
fn two<A: Float, Elem: Num>(a_ptr: Pointer<A>, b_ptr: Pointer<Elem>, out_ptr: Pointer<A>) {
    let i = arange(0, 16);
    let a = load(a_ptr + i);
    let b = load(b_ptr + i);
    store(out_ptr + i, a * (b as A) + (b as A));
    store(b_ptr + i, b + b);
}

#[kernel]
fn bare() {
}

#[kernel]
fn plain(out_ptr: Pointer<i32>, n: i32) {
    store(out_ptr + program_id(0), n + program_id(0) * num_programs(0));
}
"""


@pytest.fixture(scope="module")
def generic(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of(GENERIC, tmp_path_factory.mktemp("generic"))


@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "i32", "u32", "i64", "u64"])
def test_one_kernel_for_all_integers(generic: ModuleType, dtype: str, device: str) -> None:
    size = 16
    x, y = samples(dtype, size, 1), [v or 3 for v in samples(dtype, size, 2)]
    out = empty(5 * size, dtype, device)
    generic.Number(size)[(1,)](tensor_of(x, dtype, device), tensor_of(y, dtype, device), out)
    rows = [
        [wrapped(a + b * a - b, dtype) for a, b in zip(x, y, strict=True)],
        [wrapped(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1), dtype) for a, b in zip(x, y, strict=True)],
        list(map(min, x, y)),
        list(map(max, x, y)),
        [wrapped(3 * a, dtype) for a in x],
    ]
    assert numbers_of(out) == [v for row in rows for v in row]


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16"])
def test_one_kernel_for_floats_too(generic: ModuleType, dtype: str, device: str) -> None:
    x, y = [float(v) for v in range(-8, 8)], [0.5, 2.0, -4.0, 8.0] * 4
    out = empty(80, dtype, device)
    generic.Number(16)[(1,)](tensor_of(x, dtype, device), tensor_of(y, dtype, device), out)
    a, b = np.array(x), np.array(y)
    rows = [a + b * a - b, a / b, np.minimum(a, b), np.maximum(a, b), 3 * a]
    assert numbers_of(out) == np.concatenate(rows).tolist()


@pytest.mark.parametrize(("first", "second"), [("f32", "i32"), ("f16", "i64"), ("f64", "u8"), ("f32", "f16")])
def test_two_dtype_parameters(generic: ModuleType, first: str, second: str, device: str) -> None:
    a, b = [k / 4 for k in range(16)], list(range(16))
    x, y, out = tensor_of(a, first, device), tensor_of(b, second, device), empty(16, first, device)
    generic.Two()[(1,)](x, y, out)
    assert numbers_of(out) == [p * q + q for p, q in zip(a, b, strict=True)]
    assert numbers_of(y) == [2 * q for q in b]


def test_kernels_without_generics(generic: ModuleType, device: str) -> None:
    generic.Bare()[(2,)]()
    out = empty(3, "i32", device)
    generic.Plain()[(3,)](out, 1)
    assert numbers_of(out) == [1, 4, 7]


# ---- scalars of every type ------------------------------------------------------------------------------------------

ARGUMENTS = """
#[kernel]
fn arguments(
    a: i8, b: i16, c: i32, d: i64, e: u8, f: u16, g: u32, h: u64, p: f16, q: bf16, r: f32, s: f64, t: bool,
    int_ptr: Pointer<i64>, float_ptr: Pointer<f64>,
) {
    store(int_ptr, a as i64); store(int_ptr + 1, b as i64); store(int_ptr + 2, c as i64); store(int_ptr + 3, d);
    store(int_ptr + 4, e as i64); store(int_ptr + 5, f as i64);
    store(int_ptr + 6, g as i64); store(int_ptr + 7, h as i64);
    store(int_ptr + 8, t as i64); store(int_ptr + 9, (!t) as i64);
    store(int_ptr + 10, (a + a) as i64); store(int_ptr + 11, (g + g) as i64); store(int_ptr + 12, (c * c) as i64);
    store(int_ptr + 13, (h > 5) as i64); store(int_ptr + 14, (g / 3) as i64); store(int_ptr + 15, (-c) as i64);
    let mut total = 0;
    for i in 0..e { total += i as i64; }
    store(int_ptr + 16, total);
    let mut left = g;
    while left > 4_294_967_290 { left -= 1; total += 1; }
    store(int_ptr + 17, total);
    store(int_ptr + 18, if t { d } else { -d });
    store(float_ptr, p as f64); store(float_ptr + 1, q as f64); store(float_ptr + 2, r as f64); store(float_ptr + 3, s);
    store(float_ptr + 4, (r * r) as f64); store(float_ptr + 5, s * s); store(float_ptr + 6, (p as f32 * r) as f64);
    store(float_ptr + 7, (c as f32 / 3.0) as f64); store(float_ptr + 8, h as f64);
}
"""


@pytest.mark.parametrize(
    "numbers",
    [
        (1, 1, 1, 1, 1, 1, 1, 1, 1.0, 1.0, 1.0, 1.0, True),
        (0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, False),
        (-1, -1, -1, -1, 2, 3, 4, 5, -0.1, -0.1, -0.1, -0.1, True),
        (127, 2**15 - 1, 2**31 - 1, 2**63 - 1, 255, 2**16 - 1, 2**32 - 1, 2**63 + 5, 0.3, 0.3, 0.3, 0.3, True),
        (-128, -(2**15), -(2**31), -(2**63), 16, 16, 16, 16, 1e-5, 1e-5, 1e-20, 1e-200, False),
    ],
)
def test_arguments_arrive_as_declared(numbers: tuple[float, ...], tmp_path: Path, device: str) -> None:
    integers, floats = empty(19, "i64", device), empty(9, "f64", device)
    module_of(ARGUMENTS, tmp_path).Arguments()[(1,)](*numbers, integers, floats)
    a, b, c, d, e, f, g, h, p, q, r, s, t = numbers
    loops = sum(range(int(e)))
    assert numbers_of(integers) == [
        a, b, c, d, e, f, g, wrapped(int(h), "i64"), int(t), int(not t), wrapped(int(2 * a), "i8"),
        wrapped(int(2 * g), "u32"), wrapped(int(c * c), "i32"), int(h > 5), g // 3, wrapped(int(-c), "i32"),
        loops, loops + max(g - 4294967290, 0), d if t else wrapped(int(-d), "i64"),
    ]  # fmt: skip
    half, brain = (torch.tensor(v, dtype=torch.float64).float() for v in (p, q))
    half, brain, single = half.half().float().item(), brain.bfloat16().float().item(), np.float32(r)
    assert numbers_of(floats) == [
        half, brain, float(single), s, float(single * single), s * s, float(np.float32(half) * single),
        float(np.float32(c) / np.float32(3)), float(h),
    ]  # fmt: skip


# ---- effects --------------------------------------------------------------------------------------------------------

SHORT_CIRCUIT = """
#[kernel]
fn guarded(x_ptr: Pointer<i32>, out_ptr: Pointer<i32>, n: i32, m: i32) {
    let a = n > 0 && load(x_ptr + n) > 0;
    let b = n <= 0 || load(x_ptr + n) > 0;
    store(out_ptr, a as i32);
    store(out_ptr + 1, b as i32);
    if n > 0 && m > 0 && load(x_ptr + n - m) == 7 || m < 0 {
        store(out_ptr + 2, 1);
    }
    let mut i = 0;
    while i < 4 && load(x_ptr + i) != 7 { i += 1; }
    store(out_ptr + 3, i);
    let c = n > 0 && atomic_add(out_ptr + 4, 1) == 0;
    let d = n > 0 || atomic_add(out_ptr + 4, 10) == 0;
    store(out_ptr + 5, c as i32 * 2 + d as i32);
    store(out_ptr + 6, load(x_ptr + n, mask = n > 0, other = -5));
    store(out_ptr + 7, n, mask = m > 0);
}
"""


@pytest.mark.parametrize(("n", "m"), [(-(2**20), 1), (1, 1), (2, 1), (3, 0), (0, -1), (4, 3)])
def test_the_right_side_waits_for_the_left(n: int, m: int, tmp_path: Path, device: str) -> None:
    """An index of -2²⁰ would fault."""
    x = [3, 7, -1, 7, 0]
    out = tensor_of([0] * 8, "i32", device)
    module_of(SHORT_CIRCUIT, tmp_path).Guarded()[(1,)](tensor_of(x, "i32", device), out, n, m)
    taken = (n > 0 and m > 0 and x[n - m] == 7) or m < 0
    first = [int(n > 0 and x[n] > 0), int(n <= 0 or x[n] > 0), int(taken), 1]
    count = 1 if n > 0 else 10
    flags = 3 if n > 0 else 1
    assert numbers_of(out) == [*first, count, flags, x[n] if n > 0 else -5, n if m > 0 else 0]


# ---- shadowing ------------------------------------------------------------------------------------------------------

SHADOWS = """
#[kernel]
fn shadows(x_ptr: Pointer<f32>, out_ptr: Pointer<f32>, x: i32) {
    let x = x as f32 + 0.5;
    let x = load(x_ptr + arange(0, 8)) * x;
    let x = sum(x, axis = 0);
    let x = x > 3.0;
    let x = if x { 1 } else { 2 };
    let mut x = x as i64;
    for x_ in 0..3 {
        let y = x + x_ as i64;
        x = y;
        let x = 0.25;
        store(out_ptr + x_, x + y as f32);
    }

    store(out_ptr + 3, x as f32);
    let x = full::<f32>(&[8, 2], x as f32);
    let x = sum(x, axis = 1)[(None, ..)];
    store(out_ptr + 4 + arange(0, 8)[(None, ..)], x);
}
"""


def test_a_name_takes_any_type_and_rank(tmp_path: Path, device: str) -> None:
    out = empty(12, "f32", device)
    module_of(SHADOWS, tmp_path).Shadows()[(1,)](tensor_of(range(8), "f32", device), out, 1)
    assert numbers_of(out) == [1.25, 2.25, 4.25, 4.0, *[8.0] * 8]


def test_kernels_compile_for_a_gpu(tmp_path: Path) -> None:
    texts = {"generic": GENERIC, "arguments": ARGUMENTS, "short": SHORT_CIRCUIT, "rust": RUST, "mixed": MIXED}
    dtypes = {"D": "bf16", "E": "f16", "A": "f64", "Elem": "i8"}
    assert gpu_failures(texts, tmp_path, {"N": 16}, dtypes) == ""
