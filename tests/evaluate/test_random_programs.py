"""Random kernels: programs that run together do what they do one after the other."""

from __future__ import annotations

import pytest
from random_ir import CELLS, OUTPUTS, random_kernel, run

PROGRAMS = 7


@pytest.mark.parametrize("seed", range(120))
def test_programs_together_and_one_after_the_other(seed: int) -> None:
    kernel = random_kernel(seed, "random", differs=True)
    written = []
    for room in (1, 3, PROGRAMS):
        memory = {"mem": [*range(PROGRAMS * CELLS)], "out": [-9] * (PROGRAMS * OUTPUTS)}
        run(kernel, {"n": 4, "w": 2**35 - 1}, memory, 8, PROGRAMS, room)
        written.append(memory)
    assert written[0] == written[1] == written[2]
