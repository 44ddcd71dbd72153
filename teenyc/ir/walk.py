"""Children of IR nodes: the one place that knows where operands, definitions and inner blocks are.

Everything here takes time linear in the IR and recurses only where blocks nest, never along a list of statements.
What maps gives back the very object that it was given where nothing changes.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import TypeVar, assert_never

from teenyc.ir.nodes import (
    Apply,
    Binary,
    Block,
    Call,
    Carried,
    Cast,
    Compare,
    Copy,
    ExpandDims,
    For,
    Function,
    If,
    Kernel,
    Let,
    Offset,
    Operand,
    Operation,
    Program,
    Return,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.record import replace
from teenyc.types import Extent

Body = TypeVar("Body", Kernel, Function)
T = TypeVar("T")


# ---- operands -------------------------------------------------------------------------------------------------------


def operands_of(node: Operation | Statement) -> tuple[Operand, ...]:
    """What an operation or statement itself reads; what is inside the blocks of a statement is not included."""
    match node:
        case Let():
            return operands_of(node.operation)
        case Binary() | Compare():
            return (node.left, node.right)
        case Call():
            return tuple([operand for _, operand in node.operands])
        case Copy() | Cast() | Unary() | ExpandDims():
            return (node.operand,)
        case Offset():
            return (node.pointer, node.offset)
        case Apply():
            return (*node.operands, *(o for _, o in node.constants if not isinstance(o, Extent)))
        case For():
            return (node.start, node.stop, node.step, *(c.initial for c in node.carried))
        case While():
            return tuple(c.initial for c in node.carried)
        case If():
            return (node.condition,)
        case Return():
            return node.values
        case _:
            assert_never(node)


def map_operation(operation: Operation, fn: Callable[[Operand], Operand]) -> Operation:
    """The operation with each operand replaced by `fn` of it; the same object where none changes."""
    match operation:
        case Copy() | Unary() | Cast() | ExpandDims():
            operand = fn(operation.operand)
            return operation if operand is operation.operand else replace(operation, operand=operand)
        case Binary() | Compare():
            left, right = fn(operation.left), fn(operation.right)
            is_kept = left is operation.left and right is operation.right
            return operation if is_kept else replace(operation, left=left, right=right)
        case Offset():
            pointer, offset = fn(operation.pointer), fn(operation.offset)
            is_kept = pointer is operation.pointer and offset is operation.offset
            return operation if is_kept else replace(operation, pointer=pointer, offset=offset)
        case Call():
            new = tuple((name, fn(operand)) for name, operand in operation.operands)
            is_kept = all(a[1] is b[1] for a, b in zip(new, operation.operands, strict=True))
            return operation if is_kept else replace(operation, operands=new)
        case Apply():
            constants = tuple((n, o if isinstance(o, Extent) else fn(o)) for n, o in operation.constants)
            return replace(operation, operands=tuple(map(fn, operation.operands)), constants=constants)
        case _:
            assert_never(operation)


def map_operands(statement: Statement, fn: Callable[[Operand], Operand]) -> Statement:
    """The statement with each operand of its own replaced by `fn` of it; inner blocks stay."""
    match statement:
        case Let():
            operation = map_operation(statement.operation, fn)
            return statement if operation is statement.operation else replace(statement, operation=operation)
        case For():
            bounds = (statement.start, statement.stop, statement.step)
            start, stop, step = new = tuple(map(fn, bounds))
            carried = _mapped(statement.carried, lambda c: _beginning(c, fn))
            if carried is statement.carried and is_same(new, bounds):
                return statement
            return replace(statement, start=start, stop=stop, step=step, carried=carried)
        case While():
            carried = _mapped(statement.carried, lambda c: _beginning(c, fn))
            return statement if carried is statement.carried else replace(statement, carried=carried)
        case If():
            condition = fn(statement.condition)
            return statement if condition is statement.condition else replace(statement, condition=condition)
        case Return():
            values = _mapped(statement.values, fn)
            return statement if values is statement.values else replace(statement, values=values)
        case _:
            assert_never(statement)


def is_same(items: Sequence[object], others: Sequence[object]) -> bool:
    """Whether two sequences hold the very same objects."""
    return len(items) == len(others) and all(map(operator.is_, items, others))


def _mapped(items: tuple[T, ...], fn: Callable[[T], T]) -> tuple[T, ...]:
    """The items with `fn` of each in its place; the same tuple where none changes."""
    new = tuple(map(fn, items))
    return items if is_same(new, items) else new


def _beginning(carried: Carried, fn: Callable[[Operand], Operand]) -> Carried:
    initial = fn(carried.initial)
    return carried if initial is carried.initial else replace(carried, initial=initial)


def substitute(block: Block, operands: Mapping[int, Operand]) -> Block:
    """The block with values replaced by other operands, by id, everywhere inside."""

    def new(operand: Operand) -> Operand:
        return operands.get(operand.id, operand) if isinstance(operand, Value) else operand

    def inside(block: Block) -> Block:
        statements = _mapped(block.statements, lambda s: map_blocks(map_operands(s, new), inside))
        yields = _mapped(block.yields, new)
        if statements is block.statements and yields is block.yields:
            return block
        return Block(statements=statements, yields=yields)

    return inside(block)


# ---- definitions ----------------------------------------------------------------------------------------------------


def results_of(statement: Statement) -> tuple[Value, ...]:
    """The values that the statements after this one can read."""
    match statement:
        case Let() | If():
            return statement.results
        case For() | While():
            return tuple(c.result for c in statement.carried)
        case Return():
            return ()
        case _:
            assert_never(statement)


def definitions(statement: Statement) -> tuple[Value, ...]:
    """All values that the statement itself defines: those of its inner blocks' scope first, then its results."""
    match statement:
        case For():
            return (statement.counter, *(c.inside for c in statement.carried), *results_of(statement))
        case While():
            return (*(c.inside for c in statement.carried), *results_of(statement))
        case Let() | If() | Return():
            return results_of(statement)
        case _:
            assert_never(statement)


def map_definitions(statement: Statement, fn: Callable[[Value], Value]) -> Statement:
    """The statement with each value that it defines itself replaced by `fn` of it."""
    match statement:
        case Let() | If():
            results = _mapped(statement.results, fn)
            return statement if results is statement.results else replace(statement, results=results)
        case For():
            carried = _mapped(statement.carried, lambda c: _defining(c, fn))
            counter = fn(statement.counter)
            if carried is statement.carried and counter is statement.counter:
                return statement
            return replace(statement, counter=counter, carried=carried)
        case While():
            carried = _mapped(statement.carried, lambda c: _defining(c, fn))
            return statement if carried is statement.carried else replace(statement, carried=carried)
        case Return():
            return statement
        case _:
            assert_never(statement)


def _defining(carried: Carried, fn: Callable[[Value], Value]) -> Carried:
    inside, result = fn(carried.inside), fn(carried.result)
    if inside is carried.inside and result is carried.result:
        return carried
    return replace(carried, inside=inside, result=result)


def values_of(body: Kernel | Function) -> list[Value]:
    """Every value that a kernel or function defines, in order of definition, parameters first."""
    values = [parameter.value for parameter in body.parameters]
    for _, statement in statements_of(body.body):
        values += statement.results if isinstance(statement, Let) else definitions(statement)
    return values


def uses(block: Block) -> Counter[int]:
    """How often each value is read in a block and inside it, by id; yields count."""
    return Counter([operand.id for operand in all_operands(block) if isinstance(operand, Value)])


def all_operands(block: Block) -> list[Operand]:
    """Every operand read in a block and inside it, yields included."""
    operands = [*block.yields]
    for _, statement in statements_of(block):
        if isinstance(statement, Let):
            operands += operands_of(statement.operation)
            continue
        operands += operands_of(statement)
        for inner in blocks_of(statement):
            operands += inner.yields
    return operands


# ---- blocks ---------------------------------------------------------------------------------------------------------


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The inner blocks of a statement, in the order in which they run."""
    match statement:
        case Let() | Return():
            return ()
        case For():
            return (statement.body,)
        case While():
            return (statement.condition, statement.body)
        case If():
            return (statement.then, statement.otherwise)
        case _:
            assert_never(statement)


def map_blocks(statement: Statement, fn: Callable[[Block], Block]) -> Statement:
    """The statement with each inner block replaced by `fn` of it, in the order in which they run."""
    match statement:
        case For():
            body = fn(statement.body)
            return statement if body is statement.body else replace(statement, body=body)
        case While():
            condition, body = fn(statement.condition), fn(statement.body)
            if condition is statement.condition and body is statement.body:
                return statement
            return replace(statement, condition=condition, body=body)
        case If():
            then, otherwise = fn(statement.then), fn(statement.otherwise)
            if then is statement.then and otherwise is statement.otherwise:
                return statement
            return replace(statement, then=then, otherwise=otherwise)
        case Let() | Return():
            return statement
        case _:
            assert_never(statement)


def map_statements(block: Block, fn: Callable[[Statement], tuple[Statement, ...]]) -> Block:
    """The block with each statement replaced by `fn` of it, from the inside out and in order."""

    def inside(block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            statements.extend(fn(map_blocks(statement, inside)))
        if is_same(statements, block.statements):
            return block
        return Block(statements=tuple(statements), yields=block.yields)

    return inside(block)


def statements_of(block: Block, depth: int = 0) -> Iterator[tuple[int, Statement]]:
    """Every statement in a block and inside it, with its depth, each before what is inside it."""
    pending = [(depth, iter(block.statements))]
    while pending:
        level, statements = pending[-1]
        for statement in statements:
            yield level, statement
            if not isinstance(statement, Let) and (inner := blocks_of(statement)):
                pending.extend((level + 1, iter(each.statements)) for each in reversed(inner))
                break
        else:
            pending.pop()


# ---- programs -------------------------------------------------------------------------------------------------------


def map_program(program: Program, kernel: Callable[[Kernel], Kernel], fn: Callable[[Function], Function]) -> Program:
    """The program with every kernel and every device function replaced."""
    return replace(program, kernels=tuple(map(kernel, program.kernels)), functions=tuple(map(fn, program.functions)))


def map_bodies(program: Program, fn: Callable[[Block], Block]) -> Program:
    """The program with the statements of every kernel and every device function replaced."""

    def kernel(body: Kernel) -> Kernel:
        return replace(body, body=fn(body.body))

    def function(body: Function) -> Function:
        return replace(body, body=fn(body.body))

    return map_program(program, kernel, function)


def bodies_of(program: Program) -> tuple[Kernel | Function, ...]:
    """The device functions of a program and its kernels."""
    return (*program.functions, *program.kernels)


def next_id(program: Program) -> int:
    """The least id that is above every id of the program."""
    return max([value.id for body in bodies_of(program) for value in values_of(body)], default=0) + 1


def fresh_ids(program: Program) -> Iterator[int]:
    """Ids that no value of the program has; they are looked for when the first is taken."""
    yield from count(next_id(program))


def applied_names(program: Program) -> frozenset[str]:
    """The device functions that are called as such."""
    found: set[str] = set()
    for body in bodies_of(program):
        for _, statement in statements_of(body.body):
            if isinstance(statement, Let) and isinstance(statement.operation, Apply):
                found.add(statement.operation.function)
    return frozenset(found)


def combine_names(program: Program) -> frozenset[str]:
    """The device functions that calls of intrinsics name, such as the combine function of `reduce`.

    Such a function is called with the types that the intrinsic decides, so its signature is not for a pass to change.
    """
    names = {f.name for f in program.functions}
    found: set[str] = set()
    for body in bodies_of(program) if names else ():
        for _, statement in statements_of(body.body):
            if isinstance(statement, Let) and isinstance(statement.operation, Call):
                found.update(a for a in _names_given(statement.operation) if a in names)
    return frozenset(found)


def functions_of(body: Kernel | Function) -> Iterator[str]:
    """The device functions that a body calls, or gives to an intrinsic."""
    for _, statement in statements_of(body.body):
        operation = statement.operation if isinstance(statement, Let) else None
        if isinstance(operation, Apply):
            yield operation.function
        elif isinstance(operation, Call):
            yield from _names_given(operation)


def _names_given(call: Call) -> Iterator[str]:
    """The functions that a call is given; strings too, where there is no such intrinsic."""
    from teenyc.intrinsics import TABLE
    from teenyc.intrinsics.spec import Role

    record = TABLE.get(call.intrinsic)
    for name, attribute in call.attributes:
        param = record.param(name) if record is not None else None
        if isinstance(attribute, str) and (param is None or param.role is Role.FUNCTION):
            yield attribute


def with_unique_ids(program: Program) -> Program:
    """The program itself if no id occurs in two kernels or functions, otherwise renumbered."""
    ids = [value.id for body in bodies_of(program) for value in values_of(body)]
    return program if len(ids) == len(set(ids)) else renumber(program)


def renumber(program: Program) -> Program:
    """The program with ids from 1 in order of definition, unique over all its kernels and functions."""
    numbers = count(1)

    def one(body: Body) -> Body:
        return _renumbered(body, numbers)

    return map_program(program, one, one)


def _renumbered(body: Body, numbers: Iterator[int]) -> Body:
    new = {value.id: replace(value, id=next(numbers)) for value in values_of(body)}

    def use(operand: Operand) -> Operand:
        return new[operand.id] if isinstance(operand, Value) else operand

    def define(value: Value) -> Value:
        return new[value.id]

    def inside(block: Block) -> Block:
        statements = tuple(map_blocks(map_definitions(map_operands(s, use), define), inside) for s in block.statements)
        return Block(statements=statements, yields=tuple(map(use, block.yields)))

    parameters = tuple(replace(p, value=new[p.value.id]) for p in body.parameters)
    return replace(body, parameters=parameters, body=inside(body.body))
