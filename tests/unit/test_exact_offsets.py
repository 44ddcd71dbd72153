"""Random kernels before and after the passes: offsets and masks are exact, everything else wraps as before."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ir_builder import B, constant, lit, of_kernel
from ir_interpreter import Run, TooLargeError

from teenyc.ir.flow import flow_of, reached
from teenyc.ir.nodes import Function, Operand, Program
from teenyc.ir.ranges import ranges
from teenyc.ir.verify import verify
from teenyc.ir.walk import renumber
from teenyc.passes.drop_dead_code import drop_dead_code
from teenyc.passes.fold_constants import fold_constants
from teenyc.passes.widen_offsets import widen_offsets
from teenyc.types import I32, I64, scalar

EXTREMES = st.sampled_from([0, 1, -1, 3, 100, 46341, 65536, 2**31 - 1, -(2**31), -77777]) | st.integers(
    -(2**31), 2**31 - 1
)
OPERATORS = st.sampled_from(["add", "add", "add", "sub", "mul", "mul", "mul", "and", "or", "xor", "shl", "shr"])


def helper() -> Function:
    f = B("index")
    i, stride = f.param("i", I32), f.param("stride", I32)
    f.ret(f.binary("add", f.binary("mul", i, stride), i))
    return f.function(scalar(I32))


class Writer:
    """Draws statements into a builder."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.b = B()
        self.out = self.b.pointer("out", I32)
        self.function = helper()
        inputs: list[Operand] = [self.b.param("n", I32), self.b.param("m", I32), self.b.program_id(), constant()]
        self.known = inputs

    def operand(self) -> Operand:
        kind = self.draw(st.integers(0, 5))
        if kind == 0:
            return lit(self.draw(EXTREMES))
        return self.known[-1] if kind < 4 else self.draw(st.sampled_from(self.known))

    def condition(self) -> Operand:
        operator = self.draw(st.sampled_from(["lt", "ge", "eq"]))
        return self.b.compare(operator, self.operand(), self.operand())

    def arithmetic(self) -> None:
        b = self.b
        kind = self.draw(st.sampled_from(["binary", "binary", "binary", "divide", "neg", "where", "apply", "copy"]))
        if kind == "binary":
            value = b.binary(self.draw(OPERATORS), self.operand(), self.operand())
        elif kind == "divide":
            value = b.binary(
                self.draw(st.sampled_from(["div", "rem"])), self.operand(), lit(self.draw(st.integers(1, 99)))
            )
        elif kind == "neg":
            value = b.unary(self.draw(st.sampled_from(["neg", "not"])), self.operand())
        elif kind == "where":
            operands = {"condition": self.condition(), "x": self.operand(), "y": self.operand()}
            value = b.call("where", scalar(I32), operands)
        elif kind == "apply":
            value = b.apply(self.function, self.operand(), self.operand())
        else:
            value = b.copy(self.operand(), self.draw(st.sampled_from(["", "x"])))
        self.known.append(value)

    def store(self) -> None:
        b = self.b
        offset = self.operand()
        if self.draw(st.integers(0, 5)) == 0:
            offset = b.cast(offset, I64)
        mask = self.condition() if self.draw(st.booleans()) else None
        b.store(b.offset(self.out, offset), self.operand(), mask)

    def branch(self, depth: int) -> None:
        before = list(self.known)
        with self.b.branch(self.condition(), scalar(I32)) as fork:
            self.statements(depth + 1)
            fork.then(self.operand())
            self.known = list(before)
            self.statements(depth + 1)
            fork.otherwise(self.operand())
        self.known = [*before, *fork.results]

    def loop(self, depth: int) -> None:
        before = list(self.known)
        start = self.draw(st.sampled_from([0, 0, 5, 2**31 - 3]))
        stop = lit(start + self.draw(st.integers(0, 2)))
        with self.b.loop(lit(start), stop, x=self.operand(), y=self.operand()) as loop:
            self.known = [*before, loop.counter, *loop.inside]
            self.statements(depth + 1)
            loop.next(self.operand(), self.operand())
        self.known = [*before, *loop.results]

    def statements(self, depth: int) -> None:
        for _ in range(self.draw(st.integers(3, 9) if depth == 0 else st.integers(1, 3))):
            kind = self.draw(st.sampled_from(["arithmetic", "arithmetic", "arithmetic", "store", "branch", "loop"]))
            if kind == "branch" and depth < 2:
                self.branch(depth)
            elif kind == "loop" and depth < 2:
                self.loop(depth)
            elif kind == "store":
                self.store()
            else:
                self.arithmetic()


@st.composite
def programs(draw: st.DrawFn) -> Program:
    writer = Writer(draw)
    writer.statements(0)
    writer.store()
    return renumber(of_kernel(writer.b.kernel(), writer.function))


LAST = 2**31 - 2
"""The last program along an axis: no GPU runs more than 2³¹ − 1."""

INPUTS = st.fixed_dictionaries(
    {"n": EXTREMES, "m": EXTREMES, "N": EXTREMES, "pid": st.integers(0, LAST) | st.sampled_from([0, LAST])}
)


@given(program=programs(), inputs=INPUTS)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_passes_keep_what_programs_mean(program: Program, inputs: dict[str, int]) -> None:
    verify(program)
    wide = widen_offsets(program)
    verify(wide)
    folded = widen_offsets(drop_dead_code(fold_constants(program)))
    verify(folded)
    flow = flow_of(program)
    exact = reached(flow.addresses, flow.same)
    try:
        expected = Run(program, inputs, exact).kernel(program.kernels[0])
    except TooLargeError:
        return
    assert Run(wide, inputs).kernel(wide.kernels[0]) == expected


@given(program=programs(), inputs=INPUTS)
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_folding_and_dropping_keep_what_wrapping_programs_mean(program: Program, inputs: dict[str, int]) -> None:
    expected = Run(program, inputs).kernel(program.kernels[0])
    for run in (fold_constants, drop_dead_code):
        program = run(program)
        verify(program)
        assert Run(program, inputs).kernel(program.kernels[0]) == expected


@given(program=programs(), inputs=INPUTS)
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_ranges_hold_every_number(program: Program, inputs: dict[str, int]) -> None:
    flow = flow_of(program)
    known = ranges(program, flow)
    run = Run(program, inputs, flow.addresses)
    try:
        run.kernel(program.kernels[0])
    except TooLargeError:
        return
    for id, number in run.values.items():
        low, high = known.get(id, (number, number))
        assert low <= number <= high
