"""Programs that wait for one another by the means there are have no races, and compute what they should."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from teenyc.driver import Options, compile_source
from teenyc.runtime.run import run_checked

SOURCE = """
/// Running sums, each program after the one before.
#[kernel]
fn handed_on(x: Pointer<f32>, y: Pointer<f32>, flags: Pointer<i32>) {
    let row = program_id(0);
    let mut before = 0.0;
    if row > 0 {
        while atomic_load(flags + row - 1) == 0 {}
        before = load(y + row - 1);
    }
    store(y + row, before + load(x + row));
    atomic_store(flags + row, 1);
}

/// Sums of columns by several programs each; the last of a column adds the parts and sets the counter back.
#[kernel]
fn by_the_last(x: Pointer<f32>, parts: Pointer<f32>, y: Pointer<f32>, counts: Pointer<i32>) {
    let (row, column) = (program_id(0), program_id(1));
    let rows = num_programs(0);
    store(parts + column * 8 + row, load(x + column * 8 + row));
    let ticket = atomic_add(counts + column, 1, sem = "acq_rel");
    if ticket == rows - 1 {
        let at = arange(0, 8);
        store(y + column, sum(load(parts + column * 8 + at, mask = at < rows, other = 0.0)));
        store(parts + column * 8 + at, zeros::<f32>(&[8]), mask = at < rows);
        atomic_xchg(counts + column, 0);
    }
}

/// Work that programs draw from one counter, into memory that only who drew it writes.
#[kernel]
fn drawn(x: Pointer<f32>, y: Pointer<f32>, queue: Pointer<i32>, n: i32) {
    let mut tile = atomic_add(queue, 1, sem = "relaxed");
    while tile < n {
        store(y + tile, load(x + tile) * 2.0);
        tile = atomic_add(queue, 1, sem = "relaxed");
    }
}

/// Two rounds under one lock: what the one leaves, the next one finds.
#[kernel]
fn locked(x: Pointer<f32>, y: Pointer<f32>, lock: Pointer<i32>) {
    let at = arange(0, 4);
    for round in 0..2 {
        while atomic_cas(lock, 0, 1) != 0 {}
        let own = load(x + program_id(0) * 4 + at);
        store(y + at, load(y + at) + own);
        debug_barrier();
        if round == 1 { store(y + 4, max(load(y + 3 - at))); }
        atomic_xchg(lock, 0, sem = "release");
    }
}

/// The first program releases, all others acquire by an atomic that changes nothing.
#[kernel]
fn published(x: Pointer<f32>, y: Pointer<f32>, flag: Pointer<i32>) {
    let row = program_id(0);
    if row == 0 {
        store(x, 3.0);
        atomic_xchg(flag, 1, sem = "release");
    }
    let seen = atomic_cas(flag, 7, 7, sem = "acquire");
    store(y + row, if seen == 1 { load(x) } else { -1.0 });
}
"""


def run(kernel: str, grid: Any, **arguments: Any) -> None:
    compiled = compile_source(SOURCE, options=Options(generate=False))
    assert compiled.checked is not None, [d.message() for d in compiled.diagnostics]
    finished = run_checked(compiled, kernel, grid, arguments, {}, sanitize=True)
    assert not finished.findings, [d.message() for d in finished.findings]


def zeros(size: int, dtype: str = "float32") -> Any:
    return np.zeros(size, dtype)


@pytest.mark.parametrize("count", [1, 2, 40])
def test_results_are_handed_on(count: int) -> None:
    x, y = np.arange(count, dtype="float32"), zeros(count)
    run("handed_on", count, x=x, y=y, flags=zeros(count, "int32"))
    np.testing.assert_array_equal(y, np.cumsum(x))


def test_the_last_adds_the_parts() -> None:
    x, y, counts = np.arange(24, dtype="float32"), zeros(3), zeros(3, "int32")
    run("by_the_last", (8, 3), x=x, parts=zeros(24), y=y, counts=counts)
    np.testing.assert_array_equal(y, x.reshape(3, 8).sum(1))
    assert not counts.any()


def test_work_is_drawn() -> None:
    x, y = np.arange(50, dtype="float32"), zeros(50)
    run("drawn", 7, x=x, y=y, queue=zeros(1, "int32"), n=50)
    np.testing.assert_array_equal(y, 2 * x)


def test_a_lock_orders_rounds() -> None:
    x, y = np.arange(20, dtype="float32"), zeros(5)
    run("locked", 5, x=x, y=y, lock=zeros(1, "int32"))
    np.testing.assert_array_equal(y[:4], 2 * x.reshape(5, 4).sum(0))


def test_a_flag_publishes() -> None:
    y = zeros(4)
    run("published", 4, x=zeros(1), y=y, flag=zeros(1, "int32"))
    assert y.tolist() == [3.0] * 4
