"""A launch: a kernel, its arguments and a grid go in; the tensors that it is given are changed.

Programs run together in slabs, so many at a time that their values stay in the processor's cache. What one slab does
is done before the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod

import numpy as np

from teenyc.evaluate.machine import Frame, Held, World
from teenyc.evaluate.memory import Buffer, Memory
from teenyc.evaluate.numbers import Array, held_dtype, is_narrow, rounded
from teenyc.evaluate.scope import CHECKED, Meaning, Scope, padded
from teenyc.evaluate.watch import Watcher
from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.flow import flow_of, reached
from teenyc.ir.nodes import Apply, Call, Function, Kernel, Let, Program, While
from teenyc.ir.walk import blocks_of, bodies_of, statements_of, uses, values_of, with_unique_ids
from teenyc.types import DType, Element, Pointer, TensorType, Type, TypeVar

ROOM = 1 << 16
"""The most elements of one value for all programs of a slab together."""

Grid = tuple[int, int, int]


def launch(
    program: Program,
    name: str,
    grid: Grid,
    arguments: Mapping[str, Buffer | int | float | bool],
    constants: Mapping[str, int],
    *,
    elements: Mapping[str, DType] | None = None,
    meaning: Meaning = CHECKED,
    watcher: Watcher | None = None,
    say: Callable[[str], None] = print,
    room: int = ROOM,
) -> None:
    """Runs the kernel of that name. Pointers are given buffers; `elements` are dtypes that no buffer binds."""
    program = with_unique_ids(program)
    kernel = next(k for k in program.kernels if k.name == name)
    scope = scope_of(kernel, arguments, constants, elements or {})
    memory = Memory(watcher or Watcher())
    values: dict[int, Held] = {**_parameters(kernel, arguments, scope, memory)}
    functions = {f.name: f for f in program.functions}
    used = used_values(program) if memory.watcher.is_curious else frozenset()
    world = World(functions, memory, meaning, exact_values(program, meaning), grid, say, used)
    memory.watcher.began(program, kernel, grid, memory)
    count = 1 if waits(kernel, world.functions) else max(1, room // _most_lanes(kernel, scope))
    with np.errstate(all="ignore"):
        for indices in slabs(grid, count):
            values = Frame(world, scope, indices, values).run(kernel.body)
        memory.watcher.ended(memory)


def exact_values(program: Program, meaning: Meaning) -> frozenset[int]:
    """The integers of a program, by id, that do not wrap: those that reach an address, and what has their type."""
    if not meaning.offsets_are_exact:
        return frozenset()
    flow = flow_of(program)
    return reached(flow.addresses, flow.same)


def used_values(program: Program) -> frozenset[int]:
    """The values of a program, by id, that something is made of."""
    return frozenset().union(*(uses(body.body) for body in bodies_of(program)))


def scope_of(
    kernel: Kernel,
    arguments: Mapping[str, Buffer | int | float | bool],
    constants: Mapping[str, int],
    elements: Mapping[str, DType],
) -> Scope:
    """The dtype parameters that the arguments bind, each by the first pointer over it, and the constants."""
    found = {**elements, **dict(_known_elements(kernel))}
    for parameter in kernel.parameters:
        given = arguments.get(parameter.name)
        variable = pointed(parameter.value.type)
        if isinstance(given, Buffer) and isinstance(variable, TypeVar):
            found.setdefault(variable.name, given.element)
    known = {c.name: int(c.known) for c in kernel.constants if c.known is not None}
    return Scope(found, padded(kernel, {**known, **{n: int(v) for n, v in constants.items()}}))


def pointed(type: Type) -> Element | None:
    """What a pointer of this type points to; None for what is no pointer."""
    element = type.element if isinstance(type, TensorType) else None
    return element.to if isinstance(element, Pointer) else None


def _known_elements(kernel: Kernel) -> Iterator[tuple[str, DType]]:
    for name, element in kernel.elements:
        if isinstance(element, DType):
            yield name, element


def _parameters(
    kernel: Kernel, arguments: Mapping[str, Buffer | int | float | bool], scope: Scope, memory: Memory
) -> dict[int, Array]:
    """The value of each parameter; scalars are rounded to their types."""
    values: dict[int, Array] = {}
    for parameter in kernel.parameters:
        given = arguments[parameter.name]
        if isinstance(given, Buffer):
            values[parameter.value.id] = np.array([memory.add(given)])
            continue
        type = parameter.value.type
        assert isinstance(type, TensorType), "what is no pointer is a number"
        element = scope.dtype(type.element)
        number = np.array([given])
        values[parameter.value.id] = (
            rounded(number, element) if is_narrow(element) else number.astype(held_dtype(element))
        )
    return values


# ---- slabs ----------------------------------------------------------------------------------------------------------


def slabs(grid: Grid, count: int) -> Iterator[Array]:
    """The programs of a grid, x first, `count` at a time or fewer, so that a slab holds whole rows if it can."""
    if prod(grid) == 0:
        return
    first, *others = grid
    step = count if count < first else count // first * first
    starts = range(0, prod(grid), step) if step >= first else _within_rows(first, prod(others), step)
    ends = (*list(starts)[1:], prod(grid))
    for start, end in zip(starts, ends, strict=True):
        number = np.arange(start, end)
        yield np.stack([number % first, number // first % grid[1], number // first // grid[1]], axis=1)


def _within_rows(first: int, rows: int, step: int) -> list[int]:
    """Starts of slabs that do not go from one row into the next."""
    return [row * first + start for row in range(rows) for start in range(0, first, step)]


def _most_lanes(kernel: Kernel, scope: Scope) -> int:
    """The most elements that a value of the kernel has."""
    most = 1
    for value in values_of(kernel):
        if isinstance(value.type, TensorType):
            most = max(most, prod(scope.shape(value.type.shape)))
    return most


def waits(body: Kernel | Function, functions: Mapping[str, Function]) -> bool:
    """Whether a program may wait for another one: then each must end before the next begins."""
    return any(
        _has_atomic(inner, functions)
        for _, statement in statements_of(body.body)
        if isinstance(statement, While)
        for block in blocks_of(statement)
        for _, inner in statements_of(block)
    ) or any(waits(f, functions) for f in _called(body, functions))


def _has_atomic(statement: object, functions: Mapping[str, Function]) -> bool:
    operation = statement.operation if isinstance(statement, Let) else None
    if isinstance(operation, Call):
        return Effect.ATOMIC in TABLE[operation.intrinsic].effects
    if isinstance(operation, Apply):
        return any(_has_atomic(s, functions) for _, s in statements_of(functions[operation.function].body))
    return False


def _called(body: Kernel | Function, functions: Mapping[str, Function]) -> Iterator[Function]:
    for _, statement in statements_of(body.body):
        if isinstance(statement, Let) and isinstance(statement.operation, Apply):
            yield functions[statement.operation.function]
