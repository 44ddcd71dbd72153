"""Undefined lanes, by chance: where a random kernel is accepted, no undefined lane makes a difference when it runs.

The kernels are run on NumPy with a flag for each lane that says whether it is defined.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

from teenyc import compile_source
from teenyc.driver import Options
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Cast,
    Compare,
    Copy,
    ExpandDims,
    For,
    If,
    Kernel,
    Let,
    Literal,
    Offset,
    Operand,
    Unary,
    Value,
)

N = 4
COUNT = 150


class Lanes(NamedTuple):
    """Numbers, and which of them are defined."""

    numbers: Any
    defined: Any


class UndefinedError(Exception):
    """An undefined lane made a difference."""


# ---- kernels --------------------------------------------------------------------------------------------------------


class Writer:
    """Writes one kernel of rows and columns of `N` lanes; variables by kind: masks, values, and their rank."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names = {(kind, rank): [] for kind in "mv" for rank in (0, 1, 2)}  # type: dict[tuple[str, int], list[str]]
        self.count = 0

    def source(self) -> str:
        self.names["m", 0], self.names["v", 0] = ["flag"], ["n", "k"]
        self.names["m", 1], self.names["v", 1] = ["(off < n)", "(off < k)"], ["off"]
        for _ in range(self.random.randrange(3, 10)):
            self.statement("    ", 0)
        for rank in (0, 1, 2):
            self.store("    ", rank)
        body = "\n".join(self.lines)
        return (
            "#[kernel]\nfn random(x: Pointer<i32>, out: Pointer<i32>, n: i32, k: i32) {\n"
            f"    let off = arange(0, {N});\n    let flag = n > k;\n{body}\n}}\n"
        )

    def pick(self, kind: str, rank: int) -> str:
        return self.random.choice(self.names[kind, rank])

    def fresh(self, kind: str, rank: int, indent: str, text: str, *, mutable: bool = False) -> str:
        self.count += 1
        name = f"{kind}{self.count}"
        self.lines.append(f"{indent}let {'mut ' if mutable else ''}{name} = {text};")
        self.names[kind, rank].append(name)
        return name

    def statement(self, indent: str, depth: int) -> None:
        makers: list[Callable[[str, int], None]] = [self.load, self.load, self.value, self.value, self.mask, self.store]
        makers += [self.loop, self.branch] if depth < 2 else []
        maker = self.random.choice(makers)
        if maker in (self.loop, self.branch):
            maker(indent, depth)
        else:
            maker(indent, self.random.choice((0, 1, 1, 2)))

    def at(self, rank: int) -> str:
        return ("k", "off", f"(off[(.., None)] * {N} + off[(None, ..)])")[rank]

    def some_mask(self, rank: int) -> str:
        if rank == 2 and (not self.names["m", 2] or self.random.random() < 0.6):
            return f"{self.pick('m', 1)}{self.random.choice(('[(.., None)]', '[(None, ..)]'))}"
        return self.pick("m", rank)

    def some_value(self, rank: int) -> str:
        if rank == 2 and (not self.names["v", 2] or self.random.random() < 0.5):
            return f"{self.pick('v', 1)}{self.random.choice(('[(.., None)]', '[(None, ..)]'))}"
        return self.pick("v", rank)

    def load(self, indent: str, rank: int) -> None:
        other = self.random.choice(("", "", ", other = 7"))
        self.fresh("v", rank, indent, f"load(x + {self.at(rank)}, mask = {self.some_mask(rank)}{other})")

    def value(self, indent: str, rank: int) -> None:
        a, b, m = self.some_value(rank), self.some_value(rank), self.some_mask(rank)
        texts = [
            f"{a} + {b}",
            f"{a} * 2 - {b}",
            f"where_({m}, {a}, {b})",
            f"where_({m}, {a}, 3)",
            f"where_(!{m}, 3, {a})",
        ]
        if rank == 2:
            texts = [f"zeros::<i32>(&[{N}, {N}]) + {t}" for t in texts]
        if rank == 0:
            texts += [f"sum({self.pick('v', 1)})"] * 2
        self.fresh("v", rank, indent, self.random.choice(texts))

    def mask(self, indent: str, rank: int) -> None:
        a, b, v = self.some_mask(rank), self.some_mask(rank), self.some_value(rank)
        texts = [f"{a} & {b}", f"{a} | {b}", f"!{a}", f"{a} & ({v} > 1)", f"({v} < 2) | {a}", f"{v} > 3"]
        text = self.random.choice(texts)
        self.fresh("m", rank, indent, f"full(&[{N}, {N}], true) & ({text})" if rank == 2 else text)

    def store(self, indent: str, rank: int) -> None:
        mask = self.random.choice(("", f", mask = {self.some_mask(rank)}", f", mask = {self.some_mask(rank)}"))
        self.lines.append(f"{indent}store(out + {self.at(rank)}, {self.some_value(rank)}{mask});")

    def loop(self, indent: str, depth: int) -> None:
        rank = self.random.choice((0, 1))
        kept = self.fresh("v", rank, indent, self.pick("v", rank), mutable=True)
        flags = self.fresh("m", rank, indent, self.pick("m", rank), mutable=True)
        self.lines.append(f"{indent}for i{self.count} in 0..2 {{")
        self.inside(indent, depth, f"i{self.count}", [(kept, "v", rank), (flags, "m", rank)])

    def branch(self, indent: str, depth: int) -> None:
        rank = self.random.choice((0, 1))
        kept = self.fresh("v", rank, indent, self.pick("v", rank), mutable=True)
        self.lines.append(f"{indent}if {self.pick('m', 0)} {{")
        self.inside(indent, depth, "k", [(kept, "v", rank)])

    def inside(self, indent: str, depth: int, counter: str, kept: list[tuple[str, str, int]]) -> None:
        outer = {key: list(names) for key, names in self.names.items()}
        self.names["m", 1].append(f"(off != {counter})")
        for name, kind, rank in kept:
            if kind == "v" and rank == 1 and self.random.random() < 0.3:
                self.lines.append(f"{indent}    store(out + off, {name}, mask = {self.near(counter, rank)});")
        for _ in range(self.random.randrange(1, 4)):
            self.statement(indent + "    ", depth + 1)
        for name, kind, rank in kept:
            if self.random.random() < 0.7:
                load = f"load(x + {self.at(rank)}, mask = {self.near(counter, rank)})"
                text = load if kind == "v" and self.random.random() < 0.5 else self.pick(kind, rank)
                self.lines.append(f"{indent}    {name} = {text};")
        self.lines.append(f"{indent}}}")
        self.names = outer

    def near(self, counter: str, rank: int) -> str:
        """A mask that often differs between iterations."""
        varies = rank == 1 and self.random.random() < 0.7
        return f"(off != {counter})" if varies else self.pick("m", rank)


# ---- runs -----------------------------------------------------------------------------------------------------------


class Run:
    """One run of a kernel on lanes that know whether they are defined."""

    def __init__(self, inputs: Mapping[str, int], memory: np.ndarray) -> None:
        self.inputs = inputs
        self.memory = memory
        self.lanes: dict[int, Lanes] = {}

    def kernel(self, kernel: Kernel) -> None:
        for parameter in kernel.parameters:
            self.lanes[parameter.value.id] = known(self.inputs.get(parameter.name, 0))
        self.block(kernel.body)

    def of(self, operand: Operand | None) -> Lanes:
        if isinstance(operand, Value):
            return self.lanes[operand.id]
        assert isinstance(operand, Literal)
        return known(operand.value)

    def block(self, block: Block) -> list[Lanes]:
        for statement in block.statements:
            match statement:
                case Let(results=(), operation=Call() as call):
                    self.store(call)
                case Let(results=(value,), operation=operation):
                    self.lanes[value.id] = self.operation(operation)
                case If():
                    taken = statement.then if sound(self.of(statement.condition)) else statement.otherwise
                    for value, lanes in zip(statement.results, self.block(taken), strict=True):
                        self.lanes[value.id] = lanes
                case For():
                    self.loop(statement)
                case _:
                    raise NotImplementedError(statement)
        return [self.of(o) for o in block.yields]

    def loop(self, loop: For) -> None:
        lanes = [self.of(c.initial) for c in loop.carried]
        for count in range(int(sound(self.of(loop.start))), int(sound(self.of(loop.stop)))):
            self.lanes[loop.counter.id] = known(count)
            self.lanes.update(zip((c.inside.id for c in loop.carried), lanes, strict=True))
            lanes = self.block(loop.body)
        self.lanes.update(zip((c.result.id for c in loop.carried), lanes, strict=True))

    def store(self, call: Call) -> None:
        at, value = sound(self.of(call.operand("pointer"))), self.of(call.operand("value"))
        mask = call.operand("mask")
        flags = np.ones((), bool) if mask is None else sound(self.of(mask))
        if not np.all(value.defined | ~np.broadcast_arrays(flags, at)[0]):
            raise UndefinedError

    def operation(self, operation: Any) -> Lanes:
        match operation:
            case Copy() | Cast():
                return self.of(operation.operand)
            case ExpandDims():
                lanes = self.of(operation.operand)
                return Lanes(*(np.expand_dims(a, operation.axes) for a in lanes))
            case Unary():
                x = self.of(operation.operand)
                return Lanes(~x.numbers if x.numbers.dtype == bool else -x.numbers, x.defined)
            case Offset():
                offset = self.of(operation.offset)
                return Lanes(self.of(operation.pointer).numbers + sound(offset), np.ones(offset.defined.shape, bool))
            case Binary() | Compare():
                return both(operation.operator, self.of(operation.left), self.of(operation.right))
            case Call():
                return self.call(operation)
        raise NotImplementedError(operation)

    def call(self, call: Call) -> Lanes:
        lanes = {name: self.of(operand) for name, operand in call.operands}
        match call.intrinsic:
            case "arange":
                return known(np.arange(N))
            case "zeros":
                return known(np.zeros((N, N), int))
            case "full":
                return Lanes(*(np.broadcast_to(a, (N, N)) for a in lanes["value"]))
            case "sum":
                return known(np.sum(sound(lanes["input"])))
            case "where":
                c, x, y = lanes["condition"], lanes["x"], lanes["y"]
                numbers = np.where(c.numbers, x.numbers, y.numbers)
                return Lanes(numbers, c.defined & np.where(c.numbers, x.defined, y.defined))
            case "load":
                at, flags = np.broadcast_arrays(sound(lanes["pointer"]), sound(lanes["mask"]))
                other = lanes.get("other")
                numbers = np.where(flags, self.memory[np.where(flags, at, 0)], -99 if other is None else other.numbers)
                return Lanes(numbers, flags if other is None else flags | other.defined)
        raise NotImplementedError(call.intrinsic)


def known(number: Any) -> Lanes:
    numbers = np.asarray(number)
    return Lanes(numbers, np.ones(numbers.shape, bool))


def sound(lanes: Lanes) -> Any:
    """The numbers, all of which are used."""
    if not np.all(lanes.defined):
        raise UndefinedError
    return lanes.numbers


def both(operator: str, x: Lanes, y: Lanes) -> Lanes:
    numbers = OPERATORS[operator](x.numbers, y.numbers)
    defined = x.defined & y.defined
    if operator in ("and", "or") and numbers.dtype == bool:
        decides = operator == "or"
        defined = defined | (x.defined & (x.numbers == decides)) | (y.defined & (y.numbers == decides))
    return Lanes(numbers, defined)


OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}


@pytest.mark.parametrize("start", range(0, 4 * COUNT, COUNT))
def test_no_undefined_lane_makes_a_difference_in_a_kernel_that_is_accepted(start: int) -> None:
    accepted = rejected = 0
    for seed in range(start, start + COUNT):
        source = Writer(seed).source()
        compiled = compile_source(source, options=Options(generate=False))
        codes = {d.code for d in compiled.diagnostics if d.code.startswith("E")}
        assert codes <= {"E0410", "E0411"}, (source, [d.message() for d in compiled.diagnostics])
        rejected += bool(codes)
        if compiled.checked is None:
            continue
        accepted += 1
        memory = np.random.default_rng(seed).integers(-5, 6, 64)
        for n, k in ((0, 0), (2, 1), (1, 3), (3, 2), (4, 0)):
            try:
                Run({"n": n, "k": k}, memory).kernel(compiled.checked.kernels[0])
            except UndefinedError:
                pytest.fail(f"seed {seed}, n {n}, k {k}: an undefined lane makes a difference in\n{source}")
    assert accepted > COUNT // 20
    assert rejected > COUNT // 10
