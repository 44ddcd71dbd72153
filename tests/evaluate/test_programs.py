"""Programs side by side do what each would do alone: branches, loops, returns, atomics, waiting, slabs of any size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from teenyc.driver import compile_source, run_passes
from teenyc.evaluate import LOWERED, Buffer, FaultError, launch
from teenyc.evaluate.launch import slabs
from teenyc.types import F32, I32, DType

ROOMS = (1, 5, 64, 1 << 16)
"""From one program at a time to all together."""


def run(text: str, name: str, grid: Any, arguments: Mapping[str, Any], constants: Any = None, **options: Any) -> None:
    """Runs a kernel before and after the passes: both must write the same."""
    compiled = compile_source(text, name="programs.tk")
    assert compiled.checked is not None, [d.message() for d in compiled.diagnostics]
    first = {n: a.copy() if isinstance(a, np.ndarray) else a for n, a in arguments.items()}
    for given, program, meaning in (
        (first, run_passes(compiled.checked), {"meaning": LOWERED}),
        (arguments, compiled.checked, {}),
    ):
        bound = {n: buffer(n, a) if isinstance(a, np.ndarray) else a for n, a in given.items()}
        launch(program, name, grid, bound, constants or {}, **options, **meaning)
    for given_name, array in arguments.items():
        np.testing.assert_array_equal(array, first[given_name])


def buffer(name: str, array: Any) -> Buffer:
    elements: dict[str, DType] = {"float32": F32, "int32": I32}
    return Buffer(name, elements[array.dtype.name], array.reshape(-1))


BRANCHES = """
fn steps(n: i32) -> i32 {
    if n < 0 { return -1; }
    let mut count = 0;
    let mut x = n;
    while x != 1 {
        x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
        count += 1;
        if count > 40 { break; }
    }
    count
}

#[kernel]
fn branches(x: Pointer<i32>, y: Pointer<i32>, z: Pointer<i32>) {
    let row = program_id(0);
    let v = load(x + row);
    store(y + row, steps(v));
    if v % 3 == 0 { return; }
    let mut total = 0;
    for i in v..10 {
        if i == 4 { continue; }
        total += i;
        for j in 0..i { total += j * v; if total > 60 { break; } }
        store(z + row, total);
    }
    if v > 5 { store(z + row, -v); return; }
    for i in (0..=v).rev() { atomic_add(z + row, i); }
}
"""


def steps(n: int) -> int:
    if n < 0:
        return -1
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
        if count > 40:
            break
    return count


def branches(v: int, z: int) -> int:
    if v % 3 == 0:
        return z
    total = 0
    for i in range(v, 10):
        if i == 4:
            continue
        total += i
        for j in range(i):
            total += j * v
            if total > 60:
                break
        z = total
    return -v if v > 5 else z + sum(range(v + 1))


@pytest.mark.parametrize("room", ROOMS)
def test_programs_take_branches_of_their_own(room: int) -> None:
    x = np.array([v for v in range(-3, 30) if v != 0], np.int32)
    y, z = np.zeros_like(x), np.full_like(x, 77)
    run(BRANCHES, "branches", (len(x), 1, 1), {"x": x, "y": y, "z": z}, room=room)
    assert y.tolist() == [steps(v) for v in x.tolist()]
    assert z.tolist() == [branches(v, 77) for v in x.tolist()]


ATOMICS = """
#[kernel]
fn tickets(counter: Pointer<i32>, seen: Pointer<i32>, sums: Pointer<f32>, x: Pointer<f32>) {
    let row = program_id(0) + num_programs(0) * program_id(1);
    store(seen + row, atomic_add(counter, 1));
    let lane = arange(0, 8);
    atomic_add(sums + lane % 2, load(x + row * 8 + lane));
    atomic_max(counter + 1, row);
    store(seen + num_programs(0) * num_programs(1) + row, atomic_xchg(counter + 2, row));
    atomic_cas(counter + 3, row, row + 1);
}

#[kernel]
fn in_turn(lock: Pointer<i32>, order: Pointer<i32>) {
    let row = program_id(0);
    while atomic_cas(lock, 0, 1) != 0 {}
    let place = load(order);
    store(order + 1 + place, row);
    store(order, place + 1);
    atomic_xchg(lock, 0);
}

#[kernel]
fn last_one_adds(parts: Pointer<f32>, count: Pointer<i32>, out: Pointer<f32>, x: Pointer<f32>) {
    let row = program_id(0);
    store(parts + row, load(x + row) * 2.0);
    let ticket = atomic_add(count, 1);
    if ticket == num_programs(0) - 1 {
        store(out, sum(load(parts + arange(0, 16))));
    }
}
"""


@pytest.mark.parametrize("room", ROOMS)
def test_atomics_go_in_the_order_of_programs(room: int) -> None:
    x = np.random.default_rng(3).standard_normal(12 * 8).astype("float32")
    counter, seen, sums = np.zeros(4, np.int32), np.zeros(24, np.int32), np.zeros(2, np.float32)
    run(ATOMICS, "tickets", (4, 3, 1), {"counter": counter, "seen": seen, "sums": sums, "x": x}, room=room)
    assert counter.tolist() == [12, 11, 11, 12]
    assert seen.tolist() == [*range(12), 0, *range(11)]
    for parity in (0, 1):
        total = np.float32(0)
        for number in x[parity::2]:
            total += number
        assert sums[parity] == total


def test_a_program_that_waits_lets_others_go_on() -> None:
    lock, order = np.zeros(1, np.int32), np.zeros(9, np.int32)
    run(ATOMICS, "in_turn", (8, 1, 1), {"lock": lock, "order": order})
    assert order.tolist() == [8, *range(8)]


@pytest.mark.parametrize("room", ROOMS)
def test_the_last_program_sees_what_all_have_written(room: int) -> None:
    x = np.arange(16, dtype="float32")
    arguments = {"parts": np.zeros(16, "f"), "count": np.zeros(1, "i"), "out": np.zeros(1, "f"), "x": x}
    run(ATOMICS, "last_one_adds", (16, 1, 1), arguments, room=room)
    assert arguments["out"].tolist() == [240.0]


SAYS = """
#[kernel]
fn says(x: Pointer<i32>) {
    let row = program_id(1);
    if row != 1 { device_print("x", load(x + row)); }
}
"""


def test_prints_come_from_each_program() -> None:
    said: list[str] = []
    compiled = compile_source(SAYS)
    assert compiled.checked is not None
    launch(compiled.checked, "says", (1, 3, 1), {"x": buffer("x", np.arange(3, dtype="int32"))}, {}, say=said.append)
    assert said == ["program (0, 0, 0): x 0", "program (0, 2, 0): x 2"]


POINTERS = """
#[kernel]
fn pointers(a: Pointer<f32>, b: Pointer<f32>, out: Pointer<f32>, n: i32) {
    let row = program_id(0);
    let lane = arange(0, 4);
    let from = where_(lane % 2 == row % 2, a + lane, b + lane);
    let mut at = if row > 1 { a } else { b };
    for i in 0..row { at = at + 1; }
    store(out + row * 4 + lane, load(from) + load(at), mask = lane < n);
}
"""


@pytest.mark.parametrize("room", ROOMS)
def test_pointers_are_chosen_and_carried(room: int) -> None:
    a, b, out = np.arange(4, dtype="float32"), 10 * np.arange(4, dtype="float32"), np.zeros(16, np.float32)
    run(POINTERS, "pointers", (4, 1, 1), {"a": a, "b": b, "out": out, "n": 3}, room=room)
    expected = [
        (a if lane % 2 == row % 2 else b)[lane] + (a if row > 1 else b)[row] if lane < 3 else 0
        for row in range(4)
        for lane in range(4)
    ]
    assert out.tolist() == expected


FAULT = """
#[kernel]
fn late(x: Pointer<f32>, n: i32) {
    let row = program_id(0);
    if row > 2 { store(x + row * 4 + arange(0, 4), 1.0, mask = arange(0, 4) < n); }
}
"""


@pytest.mark.parametrize("room", ROOMS)
def test_a_fault_names_the_first_program_and_lane(room: int) -> None:
    compiled = compile_source(FAULT)
    assert compiled.checked is not None
    x = buffer("x", np.zeros(18, "float32"))
    with pytest.raises(FaultError) as raised:
        launch(compiled.checked, "late", (8, 1, 1), {"x": x, "n": 3}, {}, room=room)
    what = raised.value.what
    assert what.lanes.first == ((4, 0, 0), (2,))  # type: ignore[union-attr]
    assert (what.name, what.index, what.size) == ("x", 18, 18)  # type: ignore[union-attr]


@pytest.mark.parametrize("grid", [(1, 1, 1), (7, 1, 1), (5, 3, 2), (100, 2, 1), (0, 4, 1)])
@pytest.mark.parametrize("count", [1, 2, 5, 7, 12, 1000])
def test_slabs_hold_every_program_once_in_order(grid: tuple[int, int, int], count: int) -> None:
    parts = list(slabs(grid, count))
    assert all(len(part) <= count for part in parts)
    every = [tuple(row) for part in parts for row in part.tolist()]
    x, y, z = grid
    assert every == [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]
