"""The memory that a run takes does not grow with the grid: it is bounded by what runs side by side."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys
import numpy as np
from teenyc.driver import Options, compile_source
from teenyc.runtime.run import run_checked

text = '''
#[kernel]
fn around(x: Pointer<f32>, y: Pointer<f32>, n: i32) {
    let at = (program_id(0) * 1024 + arange(0, 1024)) % n;
    store(y + at, load(x + at) + 1.0);
}
'''
compiled = compile_source(text, options=Options(generate=False))
x, y = np.ones(1 << 16, "f"), np.zeros(1 << 16, "f")
run = lambda grid: run_checked(compiled, "around", grid, {"x": x, "y": y, "n": 1 << 16}, {}, sanitize=SANITIZE)
run(128)
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (32 << 20), -1))
assert not run(GRID).findings
assert (y == 2).all()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux how much memory there is")
@pytest.mark.parametrize(("grid", "sanitize"), [(65_536, False), (8_192, True)])
def test_memory_does_not_grow_with_the_grid(grid: int, sanitize: bool) -> None:
    """67 million lanes, of which each array would take 256 MiB, in 32 MiB more than a small grid takes."""
    script = SCRIPT.replace("SANITIZE", str(sanitize)).replace("GRID", str(grid))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
