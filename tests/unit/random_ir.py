"""Random integer kernels, and what they mean: a seed goes in, a kernel comes out that `Meaning` can run.

The kernels have nested loops and branches, carried values that swap, few names that hide each other, and loads, stores
and atomics whose order shows. They take `mem: Pointer<i64>`, `out: Pointer<i64>`, `n: i32`, `w: i64` and `N`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

import numpy as np
from ir_builder import B, constant, lit

from teenyc.evaluate import LOWERED, Buffer, launch
from teenyc.ir.nodes import Kernel, Operand, Program, Value
from teenyc.types import BOOL, I8, I16, I32, I64, U8, U32, DType, TensorType, scalar

NAMES = ("a", "b", "c", "x", "i", "lambda", "N", "tl", "D", "")
INTEGERS = (I32, I32, I32, I64, I64, U32, U8, I8, I16)
CELLS = 4
OUTPUTS = 32


def random_kernel(seed: int, name: str, *, differs: bool = False) -> Kernel:
    """A kernel that stores some of its values to `out`; if it `differs`, programs have their own numbers and cells."""
    return _Maker(Random(seed), B(name), differs=differs).kernel()


@dataclass(slots=True)
class _Maker:
    random: Random
    b: B
    scopes: list[list[Value]] = field(default_factory=lambda: [[]])
    mem: Value | None = None
    loops: int = 0
    stored: int = 0
    out: Value | None = None
    differs: bool = False

    def kernel(self) -> Kernel:
        self.mem, self.out = self.b.pointer("mem", I64), self.b.pointer("out", I64)
        self.scopes[0] += [self.b.param("n", I32), self.b.param("w", I64)]
        if self.differs:
            self.part()
        self.statements(self.random.randint(6, 16), 0)
        self.report(self.random.randint(2, 6))
        if self.random.random() < 0.3:
            with self.b.branch(self.bool()) as fork:
                self.report(1)
                self.b.ret()
                fork.then()
                if self.random.random() < 0.5:
                    self.report(1)
            self.report(2)
        return self.b.kernel(variables=())

    def part(self) -> None:
        """Takes the numbers and the cells of this program in the place of those of all."""
        assert self.mem is not None
        assert self.out is not None
        program = self.b.program_id()
        n, w = self.scopes[0]
        wide = self.b.cast(program, I64)
        self.scopes[0] = [self.b.binary("sub", n, program), self.b.binary("mul", w, wide)]
        self.mem = self.b.offset(self.mem, self.b.binary("mul", program, lit(CELLS)))
        self.out = self.b.offset(self.out, self.b.binary("mul", program, lit(OUTPUTS)))

    def report(self, count: int) -> None:
        for value in self.random.sample(self.visible(), min(count, len(self.visible()))):
            element = _dtype(value)
            wide = value if element == I64 else self.b.cast(value, I64)
            self.put(self.out, self.stored, wide)
            self.stored += 1

    def put(self, pointer: Value | None, cell: int, value: Operand) -> None:
        assert pointer is not None
        self.b.store(self.b.offset(pointer, lit(cell)), value)

    # ---- operands ---------------------------------------------------------------------------------------------------

    def visible(self) -> list[Value]:
        return [value for scope in self.scopes for value in scope]

    def operand(self, element: DType) -> Operand:
        candidates: list[Operand] = [v for v in self.visible() if _dtype(v) == element]
        roll = self.random.random()
        if element == I32 and roll < 0.1:
            return constant("N")
        if candidates and roll < 0.85:
            return self.random.choice(candidates)
        if element == BOOL:
            return lit(self.random.random() < 0.5)
        return lit(self.random.choice((0, 1, 2, 3, 7, 100, -1, -5) if element.minimum else (0, 1, 2, 200)), element)

    def bool(self) -> Operand:
        if self.random.random() < 0.3:
            return self.operand(BOOL)
        element = self.random.choice(INTEGERS)
        left, right = self.operand(element), self.operand(element)
        return self.b.compare(self.random.choice(("eq", "ne", "lt", "le", "gt", "ge")), left, right)

    def name(self) -> str:
        return self.random.choice(NAMES)

    def define(self, value: Value) -> None:
        self.scopes[-1].append(value)

    # ---- statements -------------------------------------------------------------------------------------------------

    def statements(self, count: int, depth: int) -> None:
        for _ in range(count):
            kinds: list[Callable[[int], None]] = [self.arithmetic] * 6 + [self.convert, self.copy, self.memory]
            if depth < 3:
                kinds += [self.loop_for, self.loop_while, self.choice, self.loop_for, self.choice]
            self.random.choice(kinds)(depth)

    def arithmetic(self, depth: int) -> None:
        element = self.random.choice((*INTEGERS, BOOL))
        if element == BOOL:
            operator = self.random.choice(("and", "or", "xor", "not"))
            if operator == "not":
                self.define(self.b.unary("not", self.bool(), name=self.name()))
            else:
                self.define(self.b.binary(operator, self.bool(), self.bool(), name=self.name()))
            return
        operators = ("add", "sub", "mul", "add", "sub", "and", "or", "xor", "shl", "shr", "div", "rem", "neg", "not")
        operator = self.random.choice(operators)
        left, right = self.operand(element), self.operand(element)
        if operator in ("neg", "not"):
            self.define(self.b.unary("not" if operator == "not" else "neg", left, name=self.name()))
            return
        if operator in ("div", "rem"):
            right = lit(self.random.choice((1, 2, 3, 7)), element)
        value = self.b.binary(operator, left, right)
        if self.random.random() < 0.5:
            value = self.b.binary(self.random.choice(("add", "mul")), value, self.operand(element), name=self.name())
        self.define(value)

    def convert(self, depth: int) -> None:
        source, target = self.random.choice((*INTEGERS, BOOL)), self.random.choice(INTEGERS)
        self.define(self.b.cast(self.operand(source), target, name=self.name()))

    def copy(self, depth: int) -> None:
        self.define(self.b.copy(self.operand(self.random.choice((*INTEGERS, BOOL))), name=self.name()))

    def memory(self, depth: int) -> None:
        assert self.mem is not None
        cell = self.random.randrange(CELLS)
        pointer = self.b.offset(self.mem, lit(cell))
        match self.random.randrange(3):
            case 0:
                self.define(self.b.load(pointer, name=self.name()))
            case 1:
                self.b.store(pointer, self.operand(I64))
            case _:
                value = self.operand(I64)
                operands = {"pointer": pointer, "val": value}
                self.define(self.b.call("atomic_add", scalar(I64), operands, name=self.name()))

    def initials(self) -> dict[str, Operand]:
        names = self.random.sample([n for n in NAMES if n], self.random.randint(0, 4))
        return {name: self.operand(self.random.choice((I32, I32, I64, BOOL, U8))) for name in names}

    def following(self, inside: tuple[Value, ...]) -> tuple[Operand, ...]:
        """What is carried on: other carried values among them, so that they swap."""
        following: list[Operand] = []
        for value in inside:
            element = _dtype(value)
            others = [v for v in inside if v.type == value.type]
            fresh = [v for v in self.scopes[-1] if v.type == value.type]
            is_fresh = bool(fresh) and self.random.random() < 0.6
            following.append(
                self.random.choice(fresh if is_fresh else others)
                if self.random.random() < 0.9
                else self.operand(element)
            )
        return tuple(following)

    def loop_for(self, depth: int) -> None:
        element = self.random.choice((I32, I32, I64))
        start, stop = lit(self.random.choice((0, 0, 1, -2)), element), lit(self.random.choice((0, 1, 2, 3)), element)
        if element == I32 and self.random.random() < 0.3:
            stop = self.visible()[0]
        with self.b.loop(start, stop, self.name(), **self.initials()) as loop:
            self.scopes.append([loop.counter, *loop.inside])
            self.statements(self.random.randint(0, 5), depth + 1)
            loop.next(*self.following(loop.inside))
            self.scopes.pop()
        self.scopes[-1] += loop.results

    def loop_while(self, depth: int) -> None:
        initials = {"left": lit(self.random.choice((0, 1, 2, 3))), **self.initials()}
        with self.b.loop_while(**initials) as loop:
            left, *others = loop.inside
            self.scopes.append([left, *others])
            test: Operand = self.b.compare("gt", left, lit(0), name=self.random.choice(("", "", "more")))
            if self.random.random() < 0.3:
                test = self.b.binary("and", test, self.bool())
            loop.until(test)
            self.scopes[-1] = [left, *others]
            rest = self.b.binary("sub", left, lit(1), name="left")
            self.statements(self.random.randint(0, 4), depth + 1)
            loop.next(rest, *self.following(tuple(others)))
            self.scopes.pop()
        self.scopes[-1] += loop.results

    def choice(self, depth: int) -> None:
        types = [self.random.choice((I32, I64, BOOL)) for _ in range(self.random.randint(0, 3))]
        name = self.random.choice(NAMES)
        with self.b.branch(self.bool(), *map(scalar, types), name=name) as fork:
            self.scopes.append([])
            self.statements(self.random.randint(0, 3), depth + 1)
            fork.then(*map(self.operand, types))
            self.scopes[-1] = []
            self.statements(self.random.randint(0, 2), depth + 1)
            fork.otherwise(*map(self.operand, types))
            self.scopes.pop()
        self.scopes[-1] += fork.results


# ---- meaning --------------------------------------------------------------------------------------------------------


def run(
    kernel: Kernel,
    arguments: Mapping[str, int],
    memory: Mapping[str, list[int]],
    extent: int,
    programs: int = 1,
    room: int = 1,
) -> None:
    """Runs a kernel by the CPU runner; `memory` has the elements of its pointers, and `N` is `extent`."""
    buffers = {name: Buffer(name, I64, np.array(cells, np.int64)) for name, cells in memory.items()}
    program = Program(doc="", kernels=(kernel,))
    launch(program, kernel.name, (programs, 1, 1), {**buffers, **arguments}, {"N": extent}, meaning=LOWERED, room=room)
    for name, cells in memory.items():
        cells[:] = buffers[name].data.tolist()


def _dtype(operand: Operand) -> DType:
    assert isinstance(operand.type, TensorType)
    assert isinstance(operand.type.element, DType)
    return operand.type.element
