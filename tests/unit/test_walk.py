"""The walker: it finds every operand, definition and block, keeps the order, and takes long and deep IR."""

from __future__ import annotations

import sys

import pytest
from ir_builder import HERE, B, lit, of_kernel

from teenyc.ir import walk
from teenyc.ir.nodes import Binary, Block, Copy, For, If, Kernel, Let, Literal, Return, Statement, Value, While
from teenyc.ir.printer import print_program
from teenyc.record import replace
from teenyc.types import BOOL, I32, scalar


def nested() -> Kernel:
    """A loop with a branch in it, and a while behind it."""
    b = B()
    n = b.param("n", I32)
    with b.loop(lit(0), n, total=lit(0)) as loop:
        is_odd = b.compare("eq", loop.counter, lit(1))
        with b.branch(is_odd, scalar(I32)) as fork:
            more = b.binary("add", loop.inside[0], loop.counter)
            fork.then(more)
            fork.otherwise(loop.inside[0])
        loop.next(fork.results[0])
    with b.loop_while(i=loop.results[0]) as second:
        second.until(b.compare("lt", second.inside[0], n))
        second.next(b.binary("add", second.inside[0], lit(1)))
    b.copy(second.results[0], "last")
    return b.kernel()


def test_statements_come_in_order_with_their_depth() -> None:
    kinds = [(depth, type(s).__name__) for depth, s in walk.statements_of(nested().body)]
    assert kinds == [
        (0, "For"),
        (1, "Let"),
        (1, "If"),
        (2, "Let"),
        (0, "While"),
        (1, "Let"),
        (1, "Let"),
        (0, "Let"),
    ]


def test_every_value_is_defined_once_and_parameters_first() -> None:
    kernel = nested()
    ids = [v.id for v in walk.values_of(kernel)]
    assert ids[0] == kernel.parameters[0].value.id
    assert len(ids) == len(set(ids)) == 12
    assert walk.next_id(of_kernel(kernel)) == max(ids) + 1


def test_uses_count_operands_and_yields() -> None:
    kernel = nested()
    loop = kernel.body.statements[0]
    assert isinstance(loop, For)
    counts = walk.uses(kernel.body)
    assert counts[kernel.parameters[0].value.id] == 2  # the bound of the loop, and the comparison of the while
    assert counts[loop.counter.id] == 2
    assert counts[loop.carried[0].inside.id] == 2  # the sum, and the yield of the other branch


def test_mapping_operands_reaches_each_kind_of_statement() -> None:
    for _, statement in walk.statements_of(nested().body):
        assert walk.map_operands(statement, lambda o: o) == statement
        replaced = walk.map_operands(statement, lambda o: lit(9))
        assert walk.operands_of(replaced) == (lit(9),) * len(walk.operands_of(statement))


def test_map_statements_drops_and_doubles_from_the_inside_out() -> None:
    order: list[str] = []

    def drop_lets(statement: Statement) -> tuple[Statement, ...]:
        order.append(type(statement).__name__)
        return () if isinstance(statement, Let) else (statement, statement)

    block = walk.map_statements(nested().body, drop_lets)
    assert order == ["Let", "Let", "If", "For", "Let", "Let", "While", "Let"]
    assert [type(s) for s in block.statements] == [For, For, While, While]


def test_map_definitions_renames_counters_carried_values_and_results() -> None:
    def shout(statement: Statement) -> tuple[Statement, ...]:
        return (walk.map_definitions(statement, lambda v: replace(v, name=v.name.upper())),)

    names = {v.name for v in walk.values_of(replace(nested(), body=walk.map_statements(nested().body, shout)))}
    assert names == {"n", "I", "TOTAL", "LAST", ""}


def test_substitute_replaces_everywhere_inside() -> None:
    kernel = nested()
    n = kernel.parameters[0].value
    block = walk.substitute(kernel.body, {n.id: lit(7)})
    assert n.id not in walk.uses(block)
    assert sum(o == lit(7) for o in walk.all_operands(block)) == 2


def test_renumbered_ids_are_unique_over_the_program_and_keep_the_text() -> None:
    program = replace(of_kernel(nested()), kernels=(nested(), nested()))
    new = walk.renumber(program)
    ids = [v.id for kernel in new.kernels for v in walk.values_of(kernel)]
    assert ids == list(range(1, 25))
    assert print_program(new) == print_program(program)
    assert walk.renumber(new) == new


@pytest.mark.parametrize("count", [5000])
def test_long_blocks_take_no_recursion(count: int) -> None:
    b = B()
    value: Value | Literal = b.param("x", I32)
    for _ in range(count):
        value = b.binary("add", value, lit(1))
    kernel = b.kernel()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        assert len(list(walk.statements_of(kernel.body))) == count
        assert walk.uses(kernel.body).total() == count
        assert walk.map_statements(kernel.body, lambda s: (s,)) == kernel.body
        assert len(walk.substitute(kernel.body, {1: lit(0)}).statements) == count
        assert walk.next_id(walk.renumber(of_kernel(kernel))) == count + 2
    finally:
        sys.setrecursionlimit(limit)


def test_statements_nest_without_recursion() -> None:
    block = Block(statements=(Return(span=HERE),))
    for _ in range(2000):
        block = Block(statements=(If(condition=lit(True), then=block, otherwise=Block(), results=(), span=HERE),))
    assert max(depth for depth, _ in walk.statements_of(block)) == 2000


def test_operands_of_operations_are_in_order() -> None:
    a, b = Value(1, scalar(I32)), Value(2, scalar(BOOL))
    assert walk.operands_of(Binary(operator="add", left=a, right=lit(1))) == (a, lit(1))
    assert walk.map_operation(Copy(operand=a), lambda o: b) == Copy(operand=b)


def test_what_does_not_change_is_the_very_same() -> None:
    kernel = nested()
    for _, statement in walk.statements_of(kernel.body):
        assert walk.map_operands(statement, lambda operand: operand) is statement
        assert walk.map_definitions(statement, lambda value: value) is statement
        assert walk.map_blocks(statement, lambda block: block) is statement
    assert walk.map_statements(kernel.body, lambda statement: (statement,)) is kernel.body
    assert walk.substitute(kernel.body, {}) is kernel.body
