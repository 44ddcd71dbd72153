"""Times the configurations of the bundled attention, and writes the table of the fastest that is shipped with it.

    python benchmarks/tune.py [--seconds S] [--cpu]

Needs a GPU, of which the table then is; rows of other devices, and those for which time lacks, stay. The table is
written after each step, so that one that is ended loses nothing, and what Triton's cache has is not timed again.
`--cpu` tries the script and writes nothing.
"""

from __future__ import annotations

import itertools
import sys
import time
from types import ModuleType

import report
import torch
from contenders import operator

FILES = ("flash_attn2", "flash_attn2_causal")
DTYPES = (torch.bfloat16, torch.float16)
HEAD_DIMS = (64, 128, 80, 96)
ROWS = (4096, 16384, 1024, 256, 64)
"""How many rows a head has; configurations are kept by powers of four."""

HEADS = 64


def main() -> int:
    options = report.arguments(__doc__, seconds=("no step begins after so long (180)", 180.0))
    modules, started, done = {file: report.bundled(file) for file in FILES}, time.perf_counter(), 0
    for kernels in modules.values():
        for name in kernels.TEENYC["kernels"]:
            getattr(kernels, name).tables.clear()
    steps = list(itertools.product(HEAD_DIMS, DTYPES, ROWS if not options.cpu else (8,), FILES))
    for head_dim, dtype, rows, file in steps:
        if time.perf_counter() - started > options.seconds:
            break
        run(modules[file], dtype, options.device, HEADS if not options.cpu else 1, rows, head_dim)
        done += 1
        if not options.cpu:
            keep(file, modules[file])
        chosen = ", ".join(latest(modules[file], name) for name in modules[file].TEENYC["kernels"])
        words = (
            f"{time.perf_counter() - started:6.1f} s  {file} {report.name_of(dtype)} D {head_dim} N {rows}: {chosen}"
        )
        print(words, file=sys.stderr, flush=True)
    print(f"{done} of {len(steps)} steps in {time.perf_counter() - started:.0f} s")
    return 0


def run(kernels: ModuleType, dtype: torch.dtype, device: str, heads: int, rows: int, head_dim: int) -> None:
    """Launches each kernel once, which times its configurations."""
    q, k, v, o, do, dq, dk, dv = (torch.randn(heads, rows, head_dim, device=device).to(dtype) for _ in range(8))
    log_sum = torch.zeros(heads, rows, device=device)
    op, scale = operator(kernels)(head_dim=head_dim), head_dim**-0.5
    op.forward[(rows, heads)](q, k, v, o, log_sum, rows, rows, scale)
    op.backward_dq[(rows, heads)](q, k, v, o, do, log_sum, dq, rows, rows, scale)
    op.backward_dkv[(rows, heads)](q, k, v, o, do, log_sum, dk, dv, rows, rows, scale)


def latest(kernels: ModuleType, name: str) -> str:
    """What the last launch of a kernel took."""
    config = next(reversed(getattr(kernels, name).chosen().values()), None)
    return "×".join(map(str, config.values())) if config else "as written"


def keep(file: str, kernels: ModuleType) -> None:
    """Writes the table beside the source, with what is known so far."""
    from teenyc.resources import kernels_directory
    from teenyc.runtime.tables import read, rows_of, table_path, write

    path = table_path(kernels_directory() / f"{file}.tk")
    write(path, [*read(path), *rows_of(kernels, list(kernels.TEENYC["kernels"]))])


if __name__ == "__main__":
    sys.exit(main())
