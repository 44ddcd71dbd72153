"""Dropping dead code, and the pipeline as a whole."""

from __future__ import annotations

from importlib import import_module

from ir_builder import B, D, constant, lit, of_kernel
from pass_texts import after, expect, index_function, shallow

from teenyc.ir.nodes import Let, Operand
from teenyc.ir.verify import verify
from teenyc.passes import PIPELINE
from teenyc.passes.drop_dead_code import drop_dead_code
from teenyc.types import F32, I32, scalar


def test_unread_operations_go_and_effects_stay() -> None:
    b = B()
    x = b.pointer("x")
    b.binary("add", b.binary("mul", b.param("n", I32), lit(2)), lit(1), "unused")
    b.load(x, "unread")
    b.call("load", scalar(F32), {"pointer": x}, at={"volatile": True})
    b.call("atomic_add", scalar(F32), {"pointer": x, "val": lit(1.0)})
    expect(
        after(drop_dead_code, b),
        "%1: f32 = load(pointer = %x, volatile = true)\n%2: f32 = atomic_add(pointer = %x, val = 1.0)\n",
    )


def test_carried_values_that_nobody_reads_go() -> None:
    b = B()
    x = b.pointer("x")
    with b.loop(lit(0), lit(4), used=lit(0.0), unused=lit(0), cycle=lit(1)) as loop:
        used, unused, cycle = loop.inside
        more = b.binary("add", used, lit(1.0))
        loop.next(more, b.binary("add", unused, cycle), b.binary("mul", cycle, lit(2)))
    b.store(x, loop.results[0])
    expect(
        after(drop_dead_code, b),
        """
        for %i: i32 in 0..4 step 1 carry (%used: f32 = 0.0) -> (%used.2)
            %1: f32 = add %used, 1.0
            yield %1
        store(pointer = %x, value = %used.2)
        """,
    )


def test_idle_loops_and_branches_go_but_a_while_stays() -> None:
    b = B()
    n = b.param("n", I32)
    with b.loop(lit(0), n):
        b.binary("add", n, lit(1))
    with b.branch(b.compare("lt", n, lit(0)), scalar(I32)) as fork:
        fork.then(lit(1))
        fork.otherwise(lit(2))
    with b.loop_while(i=lit(0), j=lit(0)) as loop:
        loop.until(b.compare("lt", loop.inside[0], n))
        loop.next(b.binary("add", loop.inside[0], lit(1)), loop.inside[0])
    expect(
        after(drop_dead_code, b),
        """
        while carry (%i: i32 = 0) -> (%i.2)
            %1: bool = lt %i, %n
            yield %1
        do
            %2: i32 = add %i, 1
            yield %2
        """,
    )


def test_what_decides_about_an_effect_stays() -> None:
    b = B()
    x, n = b.pointer("x"), b.param("n", I32)
    with b.branch(b.compare("lt", n, lit(0)), scalar(I32), scalar(I32), name="y") as fork:
        b.store(x, lit(1.0))
        fork.then(lit(1), lit(2))
        fork.otherwise(lit(3), lit(4))
    with b.loop(lit(0), fork.results[1]), b.branch(b.compare("eq", n, lit(5))):
        b.store(x, lit(2.0))
    expect(
        after(drop_dead_code, b),
        """
        %1: bool = lt %n, 0
        if %1 -> (%y: i32)
            store(pointer = %x, value = 1.0)
            yield 2
        else
            yield 4
        for %i: i32 in 0..%y step 1
            %2: bool = eq %n, 5
            if %2
                store(pointer = %x, value = 2.0)
        """,
    )


def test_calls_of_functions_are_judged_by_what_is_in_them() -> None:
    pure, loud = index_function(), B("loud")
    loud.store(loud.pointer("p"), lit(1.0))
    loud.ret()
    noisy = loud.function()
    b = B()
    x = b.pointer("x")
    b.apply(pure, lit(1), lit(2))
    b.apply(noisy, x)
    text = after(drop_dead_code, b, pure, noisy)
    assert "apply index" not in text
    assert "apply loud" in text


def test_early_returns_stay() -> None:
    b = B()
    with b.branch(b.compare("lt", b.param("n", I32), lit(0))):
        b.ret()
    b.store(b.pointer("x"), lit(1.0))
    assert "return" in after(drop_dead_code, b)


def test_the_pipeline_has_the_documented_names() -> None:
    assert [p.name for p in PIPELINE] == [
        "lower-descriptors",
        "widen-counters",
        "widen-offsets",
        "fold-constants",
        "pad-extents",
        "widen-floats",
        "tile",
        "simplify-tiles",
        "split-offsets",
        "describe-blocks",
        "split-extents",
        "postpone-factors",
        "accumulate-products",
        "fold-exponentials",
        "advance-products",
        "branch-rests",
        "advance-offsets",
        "drop-dead-code",
        "keep-late-values",
        "keep-reductions",
        "read-sums-once",
    ]
    for one in PIPELINE:
        name = one.name.replace("-", "_")
        function = getattr(import_module(f"teenyc.passes.{name}"), name)
        assert function.__name__ == name
        assert function.__module__ == f"teenyc.passes.{name}"


def test_long_kernels_take_no_recursion_and_names_survive() -> None:
    b = B()
    x = b.pointer("x", D)
    at: Operand = b.param("n", I32)
    value: Operand = b.load(x, "v")
    for index in range(2500):
        at = b.binary("add", at, constant(), f"at{index}")
        value = b.binary("add", value, lit(1.0, D))
    b.store(b.offset(x, at), value)
    program = of_kernel(b.kernel())
    with shallow(250):
        for one in PIPELINE:
            program = one.run(program)
            verify(program)
    body = program.kernels[0].body.statements
    names = {v.name for s in body if isinstance(s, Let) for v in s.results}
    assert {"v", "at0", "at2499"} <= names
