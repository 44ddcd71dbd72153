"""Named axes: along what each value varies, and what is uniform although it has an extent."""

from __future__ import annotations

from textwrap import dedent

from ir_builder import B, D, N, constant, lit

from teenyc.ir.axes import Axis, AxisInfo, axes, print_axes
from teenyc.ir.nodes import Value
from teenyc.types import F32, I32, Extent, TensorType, scalar

ROW = TensorType(D, (N,))


def facts(b: B, *values: Value) -> list[AxisInfo]:
    known = axes(b.kernel())
    return [known[v.id] for v in values]


def zeros(b: B) -> Value:
    return b.call("zeros", ROW, at={"shape": (N,), "dtype": D})


def total(b: B, value: Value, *, keep: bool) -> Value:
    type = ROW if keep else scalar(D)
    kept = TensorType(D, (Extent.of(1),)) if keep else type
    return b.call("sum", kept, {"input": value}, at={"axis": 0, "keep_dims": keep})


def test_the_flagship_separates_uniform_state_from_lanes() -> None:
    """Online softmax: the maximum and the sum are uniform over the head, the accumulator is not."""
    b = B("attention")
    q, n = b.pointer("q_ptr", D), b.param("n", I32)
    row = b.program_id(0, "row")
    d = b.arange(N, "d")
    query = b.load(b.offset(q, b.binary("add", d, b.binary("mul", row, constant()))), "q")
    with b.loop(lit(0), n, "k", acc=zeros(b), m=zeros(b)) as loop:
        acc, m = loop.inside
        at = b.binary("add", d, b.binary("mul", loop.counter, constant()))
        key = b.load(b.offset(q, at), "key")
        score = b.binary("mul", total(b, b.binary("mul", query, key), keep=True), zeros(b), "score")
        m_new = b.call("maximum", ROW, {"x": m, "y": score}, name="m_new")
        p = b.call("exp", ROW, {"x": b.binary("sub", score, m_new)}, name="p")
        loop.next(b.binary("add", acc, b.binary("mul", p, key)), m_new)
    text = print_axes(b.kernel())
    assert "%q: [d] in program 0\n" in text
    assert "%acc: [d] in loop k, program 0\n" in text
    assert "%acc.2: [d] in program 0\n" in text
    assert "%m: [-] in loop k, program 0\n" in text
    assert "%m.2: [-] in program 0\n" in text
    assert "%key: [d] in loop k\n" in text
    assert "%score: [-] in loop k, program 0\n" in text


def test_printed_axes_in_order_of_definition() -> None:
    b = B()
    b.pointer("x")
    rows, columns = b.arange(N, "i"), b.arange(4, "j")
    b.binary("add", b.expand(rows, 1), b.expand(columns, 0), "at")
    assert print_axes(b.kernel()) == dedent("""\
        axes of k
            %x: []
            %i: [i]
            %j: [j]
            %1: [i, -]
            %2: [-, j]
            %at: [i, j]
        """)


def test_two_aranges_are_two_axes_and_one_used_twice_is_one() -> None:
    b = B()
    first, second = b.arange(), b.arange()
    both, twice = b.binary("add", first, second), b.binary("add", first, first)
    outer = b.binary("mul", b.expand(first, 1), b.expand(first, 0))
    info = facts(b, both, twice, outer)
    lane = frozenset({Axis("lane", first.id)})
    assert info[0].lanes == (lane | {Axis("lane", second.id)},)
    assert info[1].lanes == (lane,)
    assert info[2].lanes == (lane, lane)


def test_extent_one_has_no_axis() -> None:
    b = B()
    (info,) = facts(b, b.arange(1))
    assert info.lanes == (frozenset(),)


def test_reductions_drop_the_axis_and_keep_dims_leaves_it_uniform() -> None:
    b = B()
    square = b.binary("add", b.expand(b.arange(N, "i"), 1), b.expand(b.arange(4), 0), "s")
    column = b.call("sum", TensorType(I32, (N,)), {"input": square}, at={"axis": -1})
    kept = b.call("sum", TensorType(I32, (N, Extent.of(1))), {"input": square}, at={"axis": 1, "keep_dims": True})
    everything = b.call("sum", scalar(I32), {"input": square})
    infos = facts(b, column, kept, everything)
    assert [len(i.lanes) for i in infos] == [1, 2, 0]
    assert infos[0].lanes[0] == infos[1].lanes[0] != frozenset()
    assert infos[1].is_uniform(1)


def test_scans_and_unknown_functions_make_axes_of_their_own() -> None:
    b = B()
    uniform = zeros(b)
    scanned = b.call("cumsum", ROW, {"input": uniform}, at={"axis": 0})
    turned = b.call("reshape", TensorType(D, (Extent.of(2), Extent.of(4))), {"input": b.copy(uniform)})
    lanes = b.arange(8)
    folded = b.call("reshape", TensorType(I32, (Extent.of(2), Extent.of(4))), {"input": lanes})
    infos = facts(b, scanned, turned, folded)
    assert not infos[0].is_uniform(0)
    assert infos[1].lanes == (frozenset(), frozenset())
    assert infos[2].lanes == (frozenset({Axis("lane", folded.id)}), frozenset({Axis("lane", folded.id, 1)}))


def test_a_select_under_a_varying_mask_varies() -> None:
    b = B()
    mask = b.compare("lt", b.arange(), lit(3))
    picked = b.call("where", ROW, {"condition": mask, "x": zeros(b), "y": lit(1.0, D)})
    (info,) = facts(b, picked)
    assert not info.is_uniform(0)


def test_dots_have_the_rows_of_one_and_the_columns_of_the_other() -> None:
    b = B()
    rows, inner, columns = b.arange(N), b.arange(16), b.arange(32)
    left = b.binary("add", b.expand(rows, 1), b.expand(inner, 0))
    right = b.binary("add", b.expand(inner, 1), b.expand(columns, 0))
    turned = b.call("trans", TensorType(I32, (Extent.of(32), Extent.of(16))), {"input": right})
    type = TensorType(I32, (N, Extent.of(32)))
    infos = facts(b, b.call("dot", type, {"input": left, "other": right}), turned)
    assert infos[0].lanes == (frozenset({Axis("lane", rows.id)}), frozenset({Axis("lane", columns.id)}))
    assert infos[1].lanes == (frozenset({Axis("lane", columns.id)}), frozenset({Axis("lane", inner.id)}))


def test_a_result_varies_with_what_decides_how_often_the_loop_runs() -> None:
    b = B()
    with b.loop(lit(0), b.program_id(1), x=lit(0)) as loop:
        loop.next(b.binary("add", loop.inside[0], lit(1)))
    with b.loop(lit(0), lit(4), x=lit(0)) as idle:
        pass
    infos = facts(b, loop.inside[0], loop.results[0], idle.inside[0])
    assert infos[0].outer == {Axis("loop", loop.counter.id)}
    assert infos[1].outer == {Axis("program", 1)}
    assert infos[2].outer == frozenset()


def test_a_while_loop_is_an_axis_and_its_condition_counts() -> None:
    b = B()
    limit = b.program_id(2)
    with b.loop_while(i=lit(0)) as loop:
        loop.until(b.compare("lt", loop.inside[0], limit))
        loop.next(b.binary("add", loop.inside[0], lit(1)))
    infos = facts(b, loop.inside[0], loop.results[0])
    assert infos[0].outer == {Axis("loop", loop.inside[0].id)}
    assert infos[1].outer == {Axis("program", 2)}


def test_branches_take_on_their_condition() -> None:
    b = B()
    with b.branch(b.compare("lt", b.program_id(), lit(3)), scalar(I32)) as fork:
        fork.then(lit(1))
        fork.otherwise(lit(2))
    (info,) = facts(b, fork.results[0])
    assert info.all == {Axis("program", 0)}


def test_memory_varies_with_the_loops_that_write_and_atomics_with_everything() -> None:
    b = B()
    x = b.pointer("x", F32)
    with b.loop(lit(0), lit(4)) as reading:
        quiet = b.load(x)
    with b.loop(lit(0), lit(4)) as writing:
        changed = b.load(x)
        b.store(x, changed)
    before = b.call("atomic_add", scalar(F32), {"pointer": x, "val": lit(1.0)})
    infos = facts(b, quiet, changed, before)
    assert Axis("loop", reading.counter.id) not in infos[0].outer
    assert infos[1].outer == {Axis("loop", writing.counter.id)}
    assert len(infos[2].outer) == 3
