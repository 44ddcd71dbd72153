"""Tensors of more than 2³¹ elements, and grids over the hardware's limits: right values, or an exception.

    python benchmarks/large_offsets.py [--cpu]

Runs the three bundled kernels in f16 on 65,000 heads of 520 rows of 64 numbers and compares heads on both sides of
every power of two with float64; then launches grids that no GPU takes. Prints a section for RESULTS.md; the exit status
is 1 where a value is wrong, an element stays unwritten, or a grid that is too large raises nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType

import report
import torch
from reference import attention
from torch import Tensor

SHAPE = (65_000, 520, 64)
TINY_SHAPE = (5, 6, 16)
BOUND = 2e-3
MOST_HEADS = 65_535
"""The hardware's limit for the second and third axis of a grid."""

LIMITED = ((1, MOST_HEADS + 1), (1, 1, MOST_HEADS + 1), (2**31, 1))
"""Grids over a limit: along y, along z and along x."""


def main() -> int:
    options = report.arguments(__doc__)
    kernels = report.flash_attn2()
    shape = TINY_SHAPE if options.cpu else SHAPE
    run = run_all(kernels, shape, options.device)
    heads = compared_heads(shape)
    errors = {head: run.errors(head) for head in heads}
    missing = report.unwritten(*run.results.values())
    used = torch.cuda.max_memory_allocated() / 2**30 if options.device == "cuda" else 0.0
    del run
    grids = list(grid_rows(kernels, options.device))
    faults = _faults(errors, missing, grids)
    print(report.section("Large offsets and grids", options.device))
    print(_explanation(shape, used, missing))
    print(report.table(["head", "first element", *next(iter(errors.values()))], _error_rows(errors, shape)))
    print(report.table(["grid", "Op class", "plain kernel"], grids))
    print(_functional_line(options.device, faults))
    print("".join(f"- FAULT: {fault}\n" for fault in faults), end="")
    return 1 if faults else 0


# ---- offsets --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """The inputs and the results of the three kernels, `[BH, N, D]`, and `log_sum`, `[BH, N]`."""

    inputs: tuple[Tensor, ...]
    results: dict[str, Tensor]
    scale: float

    def errors(self, head: int) -> dict[str, float]:
        """The relative L2 error of each result in one head."""
        q, k, v, do = (x[head : head + 1] for x in self.inputs)
        expected = attention(q, k, v, do, self.scale)
        return {
            part: report.relative_error(x[head : head + 1], getattr(expected, part)) for part, x in self.results.items()
        }


def run_all(kernels: ModuleType, shape: tuple[int, int, int], device: str) -> Run:
    """The three kernels through the Op class in f16, into outputs full of NaN."""
    generator = torch.Generator(device).manual_seed(1)
    q, k, v, do = (report.normal(shape, torch.float16, generator) for _ in range(4))
    o, dq, dk, dv = (report.poisoned(shape, q) for _ in range(4))
    log_sum = report.poisoned(shape[:2], q, torch.float32)
    bh, n, d = shape
    op, scale = kernels.FlashAttention2Op(head_dim=d), d**-0.5
    op.forward[(n, bh)](q, k, v, o, log_sum, n, n, scale)
    op.backward_dq[(n, bh)](q, k, v, o, do, log_sum, dq, n, n, scale)
    op.backward_dkv[(n, bh)](q, k, v, o, do, log_sum, dk, dv, n, n, scale)
    return Run((q, k, v, do), {"o": o, "log_sum": log_sum, "dq": dq, "dk": dk, "dv": dv}, scale)


def compared_heads(shape: tuple[int, int, int]) -> list[int]:
    """The first heads, the middle, the last, and those around 2³⁰ and 2³¹ elements: 2³¹ and 2³² bytes."""
    bh, size = shape[0], shape[1] * shape[2]
    around = {2**power // size + step for power in (30, 31) for step in (-1, 0, 1)}
    return sorted(head for head in around | {0, 1, bh // 2, bh - 2, bh - 1} if 0 <= head < bh)


def _error_rows(errors: dict[int, dict[str, float]], shape: tuple[int, int, int]) -> list[list[str]]:
    size = shape[1] * shape[2]
    return [[f"{head:,}", f"{head * size:,}", *(f"{e:.1e}" for e in row.values())] for head, row in errors.items()]


def _explanation(shape: tuple[int, int, int], used: float, missing: int) -> str:
    elements = shape[0] * shape[1] * shape[2]
    return (
        f"q, k and v of shape {list(shape)} in f16: {elements:,} elements each, {elements / 2**31:.3f} · 2³¹."
        f" All three kernels ran; at most {used:.1f} GiB\nof GPU memory were in use. {missing} of all elements of the"
        " outputs, which were full of NaN before, were unwritten.\nRelative L2 error of all rows of a head against"
        f" float64, bound {BOUND:.0e}:\n"
    )


# ---- grids ----------------------------------------------------------------------------------------------------------


def grid_rows(kernels: ModuleType, device: str) -> list[list[str]]:
    """What launches on each grid over a limit raise, through the Op class and by the plain kernel."""
    q, k, v = (torch.ones((MOST_HEADS + 1, 1, 16), dtype=torch.float16, device=device) for _ in range(3))
    o, log_sum = report.poisoned(q.shape, q), report.poisoned(q.shape[:2], q, torch.float32)
    arguments = (q, k, v, o, log_sum, 1, 1, 0.25)
    bound, plain = kernels.FlashAttention2Op(head_dim=16).forward, kernels.flash_attention2_forward
    rows = []
    for grid in LIMITED:
        words = [raised(partial(bound[grid], *arguments))]
        if device == "cpu":
            words.append("n/a (the interpreter has no limit)")
        else:
            words.append(raised(partial(plain[(*grid, 1, 1)[:3]], *arguments, HEAD_DIM=16)))
        rows.append([f"`{grid}`", *words])
    return rows


def raised(launch: Callable[[], object]) -> str:
    """The exception of a launch as a cell of a table, or NOTHING."""
    try:
        launch()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    except Exception as error:
        text = " ".join(str(error).split()).replace("|", "\\|")
        return f"`{type(error).__name__}`: {text}"
    return NOTHING


NOTHING = "NOTHING"


def _functional_line(device: str, faults: list[str]) -> str:
    """The torch operator takes more heads than a grid, in several launches; its error on 70,000 of them."""
    if device == "cpu":
        return "`functional.flash_attention2` on more heads than a grid takes: not run on the CPU.\n"
    from teenyc.functional import flash_attention2

    generator = torch.Generator(device).manual_seed(2)
    q, k, v = (report.normal((70_000, n, 16), torch.float16, generator) for n in (2, 3, 3))
    expected = torch.softmax(q.double() @ k.double().mT * 16**-0.5, dim=-1) @ v.double()
    error = report.relative_error(flash_attention2(q, k, v), expected)
    if not error <= BOUND:
        faults.append(f"flash_attention2 on 70,000 heads is wrong by {error:.1e}")
    return f"`functional.flash_attention2` takes 70,000 heads in two launches: error {error:.1e}.\n"


def _faults(errors: dict[int, dict[str, float]], missing: int, grids: list[list[str]]) -> list[str]:
    faults = [f"{missing} elements unwritten"] if missing else []
    for head, row in errors.items():
        faults += [f"head {head}: {part} is wrong by {error:.1e}" for part, error in row.items() if not error <= BOUND]
    return faults + [f"grid {grid} raises nothing" for grid, *words in grids if NOTHING in words]


if __name__ == "__main__":
    sys.exit(main())
