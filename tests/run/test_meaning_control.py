"""Control flow means what Rust says: each kernel against the same statements in Python, on several arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from meaning import empty, gpu_failures, module_of, numbers_of, quotient, remainder, wrapped

ROOM = 32
Log = Iterator[int]

RECORD = """
fn record(out_ptr: Pointer<i32>, at: i32, value: i32) -> i32 {
    store(out_ptr + at, value);
    at + 1
}
"""


def case(body: str) -> Callable[[Callable[[int, int], Log]], Callable[[int, int], Log]]:
    """A kernel that appends numbers to its output by `put!`-like lines `k = record(out_ptr, k, value);`."""

    def decorate(expected: Callable[[int, int], Log]) -> Callable[[int, int], Log]:
        CASES[expected.__name__] = (body, expected)
        return expected

    return decorate


CASES: dict[str, tuple[str, Callable[[int, int], Log]]] = {}


def text_of(name: str) -> str:
    lines = CASES[name][0].replace("put(", "k = record(out_ptr, k, ")
    head = f"#[kernel]\nfn {name}(out_ptr: Pointer<i32>, n: i32, m: i32)"
    return f"{head} {{\n    let mut k = 0;\n{lines}\n    store(out_ptr + {ROOM - 1}, k);\n}}\n"


# ---- loops ----------------------------------------------------------------------------------------------------------


@case("for i in n..m { put(i); }")
def exclusive(n: int, m: int) -> Log:
    yield from range(n, m)


@case("for i in n..=m { put(i); }")
def inclusive(n: int, m: int) -> Log:
    yield from range(n, m + 1)


@case("for i in (n..m).step_by(3) { put(i); } for i in (n..=m).step_by(2) { put(i); }")
def steps(n: int, m: int) -> Log:
    yield from range(n, m, 3)
    yield from range(n, m + 1, 2)


@case("""
for i in (n..m).rev() { put(i); }
for i in (0..=3).rev() { put(i); }
for i in (0..8).rev().step_by(3) { put(i); }
""")
def backwards(n: int, m: int) -> Log:
    yield from reversed(range(n, m))
    yield from (3, 2, 1, 0, 7, 4, 1)


@case("""
for i in (0..8).step_by(3).rev() { put(i); }
for i in range(5, -1, -2) { put(i); }
for i in range(n, m, 2) { put(i); }
""")
def ranges(n: int, m: int) -> Log:
    yield from (6, 3, 0, 5, 3, 1)
    yield from range(n, m, 2)


@case("""
for i in 2147483645..=2147483647 { put(i); }
for i in (i32::MAX - 1)..=i32::MAX { put(i); }
for i in m..=m { put(i); }
""")
def greatest(n: int, m: int) -> Log:
    yield from range(2**31 - 3, 2**31)
    yield from range(2**31 - 2, 2**31)
    yield m


@case("""
for i in 253u8..=255 { put(i as i32); }
for i in -128i8..=-126 { put(i as i32); }
for i in 126i8..=127 { put(i as i32); }
for i in 4294967294u32..=4294967295 { put((i - 4294967290) as i32); }
for i in 2147483647u32..2147483650 { put((i - 2147483640) as i32); }
""")
def other_types(n: int, m: int) -> Log:
    yield from (253, 254, 255, -128, -127, -126, 126, 127, 4, 5, 7, 8, 9)


@case("""
for i in (n as i64 + 5_000_000_000)..(m as i64 + 5_000_000_000) { put((i - 5_000_000_000) as i32); }
""")
def long_counters(n: int, m: int) -> Log:
    yield from range(n, m)


@case("""
let mut i = n;
while i < m && i != 4 { put(i); i += 2; }
while false { put(99); }
let mut j = 10;
while j > 0 { j /= 2; if j == 2 { continue; } put(j); }
put(i); put(j);
""")
def whiles(n: int, m: int) -> Log:
    i = n
    while i < m and i != 4:
        yield i
        i += 2
    yield from (5, 1, 0, i, 0)


@case("""
let mut i = n;
loop { if i >= m { break; } i += 1; if i % 2 == 0 { continue; } put(i); }
let mut total = 0;
'outer: for a in 0..5 {
    for b in 0..5 {
        if a * b == 6 { break 'outer; }
        if b > a { continue 'outer; }
        total += a * 10 + b;
    }
}
put(total);
for i in (n..=m).rev() { if i == 3 { continue; } if i < 0 { break; } put(i); }
for i in (120i8..=127).step_by(3) { if i == 7 { break; } put(i as i32); }
for i in (250u8..255).step_by(3) { if i == 7 { break; } put(i as i32); }
""")
def jumps(n: int, m: int) -> Log:
    i = n
    while i < m:
        i += 1
        if remainder(i, 2) != 0:
            yield i
    total, done = 0, False
    for a in range(5):
        for b in range(5):
            if a * b == 6:
                done = True
                break
            if b > a:
                break
            total += a * 10 + b
        if done:
            break
    yield total
    for i in reversed(range(n, m + 1)):
        if i < 0:
            break
        if i != 3:
            yield i
    yield from (120, 123, 126, 250, 253)


@case("""
let mut s = 0; for i in static_range(0, 5) { s += i * n; }
for i in static_range(3) { put(i); }
put(s);
for i in static_range(6, 0, -2) { put(i); }
""")
def unrolled(n: int, m: int) -> Log:
    yield from (0, 1, 2, wrapped(10 * n, "i32"), 6, 4, 2)


@case("""
let mut a = 0; let mut b = 1;
for _ in 0..7 { let c = a + b; a = b; b = c; }
put(a); put(b);
let mut i = 5; for i in 0..2 { put(i); }
put(i); i += 1; put(i);
""")
def carried(n: int, m: int) -> Log:
    yield from (13, 21, 0, 1, 5, 6)


# ---- branches -------------------------------------------------------------------------------------------------------


@case("""
let x = if n < 0 { -n } else if n == 0 { 100 } else { n * 2 };
put(x);
let mut y = 1;
if n > m { y = 7; }
put(y);
if n > 0 { y += 1; if m > 0 { y *= 10; } } else { y -= 5; }
put(y);
let (lo, hi) = if n < m { (n, m) } else { (m, n) };
put(lo); put(hi);
let z = { let t = n + 1; t * t };
put(z);
let w = if n > 1 && m > 1 || n == -1 { 1 } else { 0 };
put(w);
put(if !(n > 1) { 5 } else { 6 });
""")
def branches(n: int, m: int) -> Log:
    yield -n if n < 0 else 100 if n == 0 else wrapped(n * 2, "i32")
    y = 7 if n > m else 1
    yield y
    y = (y + 1) * (10 if m > 0 else 1) if n > 0 else y - 5
    yield y
    yield from sorted((n, m))
    yield wrapped((n + 1) ** 2, "i32")
    yield int((n > 1 and m > 1) or n == -1)
    yield 5 if n <= 1 else 6


@case("""
const LIMIT: i32 = 3;
let a = match n { 0 => 10, 1 | 2 => 20, LIMIT => 30, -5..=-1 => 40,
    4..=9 if m > 2 => 50, x if x > 100 => x - 100, _ => 60 };
put(a);
match m { 1 => { put(1); } 2..=5 => { put(2); put(22); } _ => {} }
let b = match n > 0 { true => 7, false => 8 };
put(b);
let (p, q) = match n { 0 => (1, 2), v => (v, v + 1) };
put(p); put(q);
put(match n { i32::MIN..=-1 => -1, 0 => 0, 1.. => 1 });
put(match n { ..0 => -1, 0..5 => 0, _ => 1 });
put(match (n, m) { (0, _) => 1, (1, 5) => 2, (a, b) if a > b => 3, _ => 4 });
""")
def matches(n: int, m: int) -> Log:
    if n == 0:
        yield 10
    elif n in (1, 2):
        yield 20
    elif n == 3:
        yield 30
    elif -5 <= n <= -1:
        yield 40
    elif 4 <= n <= 9 and m > 2:
        yield 50
    else:
        yield n - 100 if n > 100 else 60
    yield from {1: [1], 2: [2, 22], 5: [2, 22]}.get(m, [2, 22] if 2 <= m <= 5 else [])
    yield 7 if n > 0 else 8
    yield from (1, 2) if n == 0 else (n, wrapped(n + 1, "i32"))
    yield (n > 0) - (n < 0)
    yield -1 if n < 0 else 0 if n < 5 else 1
    yield 1 if n == 0 else 2 if (n, m) == (1, 5) else 3 if n > m else 4


# ---- assignments and scopes -----------------------------------------------------------------------------------------


@case("""
let mut x = n;
x += 3; put(x); x -= 5; put(x); x *= 3; put(x); x /= 2; put(x); x %= 7; put(x);
x &= 6; put(x); x |= 9; put(x); x ^= 5; put(x); x <<= 3; put(x); x >>= 1; put(x);
x = -x; x >>= 2; put(x); x /= -2; put(x); x <<= 33; put(x);
let mut b = true; b &= n > 0; b |= m > 100; b ^= true; put(b as i32);
""")
def compound(n: int, m: int) -> Log:
    def w(value: int) -> int:
        return wrapped(value, "i32")

    yield (x := w(n + 3))
    yield (x := w(x - 5))
    yield (x := w(x * 3))
    yield (x := quotient(x, 2))
    yield (x := remainder(x, 7))
    yield (x := x & 6)
    yield (x := x | 9)
    yield (x := x ^ 5)
    yield (x := w(x << 3))
    yield (x := x >> 1)
    yield (x := w(-x) >> 2)
    yield (x := quotient(x, -2))
    yield w(x << 1)
    yield int(not (n > 0 or m > 100))


@case("""
let x = n; let x = x + 1; let x = x * 2; put(x);
{ let x = 100; put(x); { let x = x + n; put(x); } put(x); }
put(x);
let y = x as i64; let y = y * 3_000_000_000; put((y / 3_000_000_000) as i32);
let x = x > 0; put(x as i32);
let z = n as f32; let z = z * 0.5; let z = z as i32; put(z);
for i in 0..2 { let y = i + 40; put(y); }
put((y / 3_000_000_000) as i32);
if n > 0 { let n = 5; put(n); }
put(n);
""")
def shadows(n: int, m: int) -> Log:
    x = wrapped((n + 1) * 2, "i32")
    yield from (x, 100, 100 + n, 100, x, x, int(x > 0), quotient(n, 2), 40, 41, x)
    if n > 0:
        yield 5
    yield n


@case("""
let lambda = n; let def = lambda + 1; let is = def * 2; let None_ = 3; put(lambda + def + is + None_);
let tl = n; put(tl); let triton = m; put(triton); let range = 4; put(range); let float = 5; put(float);
let print = 6; put(print);
let ﬁ = 1; let fi = 2; put(ﬁ); put(fi); let ｎ = 9; put(n); put(ｎ); let é = 3; put(é);
let from = 1; let global = 2; let pass = 3; let not = 4; let and = 5; put(from + global + pass + not + and);
let sum = 7; let load = 8; put(sum + load); let k_ = 1; put(k_); let tl_ = 2; put(tl_); let r#match = 4; put(r#match);
""")
def names(n: int, m: int) -> Log:
    yield from (n + n + 1 + 2 * (n + 1) + 3, n, m, 4, 5, 6, 1, 2, n, 9, 3, 15, 15, 1, 2, 4)


@case("""
fn twice(x: i32) -> i32 { fn once(x: i32) -> i32 { x + 1 } once(once(x)) }
const TEN: i32 = 10;
fn pair(a: i32, b: i32) -> (i32, i32) { (b, a) }
fn early(x: i32) -> i32 { return x * TEN; }
put(twice(n)); let (a, b) = pair(n, m); put(a); put(b); put(early(2)); put(pair(1, 2).1);
""")
def functions(n: int, m: int) -> Log:
    yield from (n + 2, m, n, 20, 1)


@case("for i in 0..minimum(n, 4) { let j = i; let far = j as i64 + 1; put(far as i32); put(j * 2); }")
def a_copy_of_a_counter(n: int, m: int) -> Log:
    for i in range(min(n, 4)):
        yield from (i + 1, 2 * i)


ARGUMENTS = [(0, 5), (1, 1), (5, 1), (-5, -1), (-3, 4), (1, 5), (2, 2), (3, 9), (7, 3), (105, 104)]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of(RECORD + "".join(map(text_of, CASES)), tmp_path_factory.mktemp("control"))


@pytest.mark.parametrize("name", CASES)
def test_control_flow(name: str, kernels: ModuleType, device: str) -> None:
    launch = getattr(kernels, name.title().replace("_", ""))()
    for n, m in ARGUMENTS:
        out = empty(ROOM, "i32", device)
        launch[(1,)](out, n, m)
        wanted = list(CASES[name][1](n, m))
        found = numbers_of(out)
        assert found[: found[-1]] == wanted, (n, m)


def test_kernels_compile_for_a_gpu(tmp_path: Path) -> None:
    assert gpu_failures({"control": RECORD + "".join(map(text_of, CASES))}, tmp_path, {}, {}) == ""
