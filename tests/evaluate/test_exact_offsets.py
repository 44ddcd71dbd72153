"""Offsets of random kernels: the runner computes exactly what reaches an address, as an interpreter on integers does.

Before the passes that follows from where numbers go, and after them it is written out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from by_runner import home
from cases import TESTS
from hypothesis import HealthCheck, given, settings
from ir_interpreter import Run, TooLargeError

from teenyc.evaluate import CHECKED, LOWERED, Meaning
from teenyc.evaluate.launch import exact_values
from teenyc.evaluate.machine import Frame, World
from teenyc.evaluate.memory import SPACING, Memory
from teenyc.evaluate.scope import Scope
from teenyc.evaluate.watch import Place, Watcher
from teenyc.ir.flow import flow_of, reached
from teenyc.ir.nodes import Program
from teenyc.passes.widen_offsets import widen_offsets

OFFSETS = home(TESTS / "unit" / "test_exact_offsets.py")


class Recorder(Memory):
    """Writes down each store: its offset, its mask, and what is stored."""

    def __init__(self) -> None:
        super().__init__(Watcher())
        self.trace: list[tuple[int, bool, int]] = []

    def store(self, address: Any, numbers: Any, mask: Any, place: Place) -> None:
        offset = int((address - (1 << SPACING))[0])  # an array, which wraps where adding the tensor's own address did
        self.trace.append((offset, mask is None or bool(mask[0]), int(numbers.astype(np.int32)[0])))


def trace(program: Program, inputs: Mapping[str, int], meaning: Meaning) -> list[tuple[int, bool, int]]:
    """The stores of one program."""
    memory, kernel = Recorder(), program.kernels[0]
    functions = {f.name: f for f in program.functions}
    world = World(functions, memory, meaning, exact_values(program, meaning), (1, 1, 1), print)
    values: dict[int, Any] = {p.value.id: np.array([inputs.get(p.name, 1 << SPACING)]) for p in kernel.parameters}
    for parameter in kernel.parameters:
        if parameter.name in inputs:
            values[parameter.value.id] = values[parameter.value.id].astype(np.int32)
    frame = Frame(world, Scope({}, {"N": inputs["N"]}), np.array([[inputs["pid"], 0, 0]]), values)
    with np.errstate(all="ignore"):
        frame.run(kernel.body)
    return memory.trace


@given(program=OFFSETS.programs(), inputs=OFFSETS.INPUTS)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_reaches_an_address_does_not_wrap(program: Program, inputs: dict[str, int]) -> None:
    flow = flow_of(program)
    try:
        expected = Run(program, inputs, reached(flow.addresses, flow.same)).kernel(program.kernels[0])
    except TooLargeError:
        return
    assert trace(program, inputs, CHECKED) == expected
    assert trace(widen_offsets(program), inputs, LOWERED) == expected
