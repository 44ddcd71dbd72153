"""How long checks and choices of a launch take: nine tensors, two integers and a float, beside a launch without them.

    python benchmarks/launch_overhead.py [--repeat N]

Needs torch and triton, no GPU: the kernel at the end is one that does nothing. Prints nanoseconds a launch, of a kernel
as written and of one in blocks: what its launcher adds, what checks add to that, and what it is where the tensors are
others each time. The limit is 3,000 for all that is added to a launch of tensors seen before.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

os.environ["TRITON_INTERPRET"] = "1"  # CPU tensors are then right
LIMIT = 3000
SOURCE = """
#[kernel]
fn nine<D: Float>(
    a: Pointer<D>, b: Pointer<D>, c: Pointer<D>, d: Pointer<D>, e: Pointer<D>, f: Pointer<D>, g: Pointer<D>,
    h: Pointer<D>, i: Pointer<D>, n: i32, m: i32, scale: f32,
) {
    store(a, load(b) * scale);
}

#[kernel(tile)]
fn nine_in_blocks<D: Float, const N: i32>(
    a: Pointer<D>, b: Pointer<D>, c: Pointer<D>, d: Pointer<D>, e: Pointer<D>, f: Pointer<D>, g: Pointer<D>,
    h: Pointer<D>, i: Pointer<D>, n: i32, m: i32, scale: f32,
) {
    let row = program_id(0);
    let lane = arange(0, N);
    let x = load(a + row * N + lane);
    let mut total = 0.0;
    for k in 0..m {
        total += sum(x * load(b + k * N + lane), axis = 0);
    }
    store(c + row, total * scale);
    store(d + row, total);
}
"""


class Nothing:
    """A kernel whose launch does nothing."""

    def __getitem__(self, grid: object) -> object:
        return lambda *args, **named: None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=20_000, help="launches of each kind (20000)")
    found = measure(parser.parse_args().repeat)
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    for name, (time, floor) in found.items():
        print(f"{name:44}{time:8.0f} ns" + (f", {time - floor:.0f} more" if floor else ""))
    return 0 if max(t - floor for name, (t, floor) in found.items() if floor and "others" not in name) <= LIMIT else 1


def measure(repeat: int) -> dict[str, tuple[float, float]]:
    """Nanoseconds a launch, and those of the launch that it is compared with, if it is with one."""
    import torch

    module = loaded()
    tensors = [torch.zeros(64, 64) for _ in range(9)]
    arguments, launcher = (*tensors, 3, 5, 0.125), module.nine_in_blocks
    checked, unchecked = (module.Nine(check=check) for check in (True, False))
    blocks = module.NineInBlocks(64)
    checked[3, 2](*arguments)  # the first launch is checked in full
    module._INTERPRETED = False  # which has no quick way
    blocks._checked = lambda args, named: args  # a full check would ask for tensors on a GPU
    launcher._configuration = lambda *launch: (launcher._facts["configs"][0], True)

    def moved() -> None:
        launcher[3, 2](*arguments, N=64)
        launcher._plans.popitem()  # what is known of these addresses

    bare = nanoseconds(lambda: launcher.tiled[3, 2](*arguments, N=64), repeat)
    plain = nanoseconds(lambda: unchecked[3, 2](*arguments), repeat)
    return {
        "as written, unchecked": (plain, 0.0),
        "as written, checked": (nanoseconds(lambda: checked[3, 2](*arguments), repeat), plain),
        "`@triton.jit` function in blocks": (bare, 0.0),
        "in blocks": (nanoseconds(lambda: launcher[3, 2](*arguments, N=64), repeat), bare),
        "in blocks, checked": (nanoseconds(lambda: blocks[3, 2](*arguments), repeat), bare),
        "in blocks, tensors that are others each time": (nanoseconds(moved, repeat), bare),
    }


def nanoseconds(launch: Callable[[], object], repeat: int) -> float:
    """The time of a launch, the least of many short measurements: another process may take the CPU in the others."""
    launch()
    count = 100
    return min(timeit.repeat(launch, number=count, repeat=max(1, repeat // count))) / count * 1e9


def loaded() -> ModuleType:
    """The module of the kernels above, which launch nothing."""
    import teenyc

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nine.tk"
        path.write_text(SOURCE, encoding="utf-8")
        module: ModuleType = teenyc.load(path)
    names = vars(module)
    names["Nine"]._kernel = names["nine_in_blocks"].plain = names["nine_in_blocks"].tiled = Nothing()
    return module


if __name__ == "__main__":
    sys.exit(main())
