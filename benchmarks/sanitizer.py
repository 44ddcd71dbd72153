"""What the sanitizer finds of the faults that are planted in `tests/evaluate/planted`, and what it costs.

    python benchmarks/sanitizer.py

Each file there has a kernel with one fault and its twin without. A fault is found if it is reported at its line with
its code; any other report, and any of a twin, is a false alarm. Times are of the processor.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "evaluate"))

import numpy as np
from planting import PLANTS, Plant
from runner import ATTENTION, BH, BLOCK, COUNT, ELEMENTWISE, ROWS, D, timed

from teenyc.driver import Compiled
from teenyc.runtime.files import decode
from teenyc.runtime.run import checked, run_checked


def main() -> None:
    print(
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({platform.machine()}), Python "
        f"{platform.python_version()}, NumPy {np.__version__}"
    )
    print()
    faults()
    print()
    costs()


# ---- faults ---------------------------------------------------------------------------------------------------------


def faults() -> None:
    """The table of all topics."""
    print("| faults | planted | found | false alarms |")
    print("|---|---|---|---|")
    total: Counter[str] = Counter()
    for topic, plants in topics().items():
        counts = Counter(planted=len(plants))
        for plant in plants:
            counts += judged(plant)
        print(f"| {topic.replace('_', ' ')} | {counts['planted']} | {counts['found']} | {counts['false']} |")
        total += counts
    print(f"| all | {total['planted']} | {total['found']} | {total['false']} |")


def topics() -> dict[str, list[Plant]]:
    found: dict[str, list[Plant]] = defaultdict(list)
    for plant in PLANTS:
        found[plant.topic].append(plant)
    return dict(found)


def judged(plant: Plant) -> Counter[str]:
    found, of_twin = plant.found("planted"), plant.found("right")
    others = found - plant.due
    return Counter(found=int(not plant.due - found), false=sum(others.values()) + sum(of_twin.values()))


# ---- costs ----------------------------------------------------------------------------------------------------------


def costs() -> None:
    print("| kernel in f32 | run | with `sanitize` | times slower |")
    print("|---|---|---|---|")
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((BH, ROWS, D), np.float32) for _ in range(3))
    given = {"q_ptr": q, "k_ptr": k, "v_ptr": v, "o_ptr": np.zeros_like(q), "l_ptr": np.zeros((BH, ROWS), "f")}
    attention = checked(decode(ATTENTION.read_bytes(), ATTENTION.name), {"HEAD_DIM": D}, {})
    arguments = {**given, "softmax_scale": D**-0.5}
    cost("flash_attn2 forward [8, 256, 64]", attention, "flash_attention2_forward", None, arguments, {"HEAD_DIM": D})
    x, y = (random.standard_normal(COUNT, np.float32) for _ in range(2))
    text = checked(decode(ELEMENTWISE.encode(), "elementwise.tk"), {"BLOCK": BLOCK}, {})
    arguments = {"x": x, "y": y, "out": np.zeros_like(x), "n": COUNT}
    cost(f"element-wise, {COUNT:,} elements", text, "elementwise", COUNT // BLOCK, arguments, {"BLOCK": BLOCK})


def cost(name: str, compiled: Compiled, kernel: str, grid: Any, arguments: Any, constants: dict[str, int]) -> None:
    """The fastest of three runs each."""

    def run(*, sanitize: bool) -> None:
        assert not run_checked(compiled, kernel, grid, arguments, constants, sanitize=sanitize).findings

    plain = min(timed(lambda: run(sanitize=False)) for _ in range(3))
    watched = min(timed(lambda: run(sanitize=True)) for _ in range(3))
    print(f"| {name} | {plain * 1e3:,.0f} ms | {watched * 1e3:,.0f} ms | {watched / plain:.1f} |")


if __name__ == "__main__":
    main()
