"""How fast attention of few queries over many keys is, with loops that programs share and without, beside torch's.

    python benchmarks/decode.py [--only WORDS] [--seconds S] [--cpu]

`--only` takes the cases whose name, such as `rows 1 keys 16384 BH 64 D 128`, holds one of the words, separated by
commas. Ours runs twice: “shared” may let several programs share the loop over the keys of one (`SPLIT`), “whole” may
not. Both are tuned in the same run, for which their configurations are compiled side by side; no shipped table is read.

The contenders of a case take turns; a row shows medians. Each launch is timed by events on the GPU, after the L2 cache
was overwritten, and behind a pause that lets the CPU run ahead: the time to launch is not in it. Errors are relative,
against float64. Prints a section for RESULTS.md, and each row to standard error as soon as it is there; the exit
status is 1 where somebody's error is greater than rounding explains.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType

import report
import torch
from contenders import BACK_ENDS
from stopwatch import Stopwatch, Times, ratio, spread
from torch import Tensor
from torch.nn.attention import sdpa_kernel

SHARED, WHOLE = "shared", "whole"
ROWS, KEYS, HEADS, HEAD_DIMS = (1, 4, 16), (1024, 16384, 131072), (1, 8, 64), (64, 128)
LIMIT = 1e-2
"""A greater error than this is no rounding to bf16."""


@dataclass(frozen=True)
class Case:
    """So many queries and keys in each head, of `d` numbers."""

    rows: int
    keys: int
    heads: int
    d: int

    @property
    def name(self) -> str:
        return f"rows {self.rows} keys {self.keys} BH {self.heads} D {self.d}"

    @property
    def bytes(self) -> int:
        """How many bytes of keys and values are read."""
        return 2 * 2 * self.heads * self.keys * self.d


def main() -> int:
    options = report.arguments(
        __doc__,
        only=("words, separated by commas, of which a case's name must hold one", ""),
        seconds=("how long to time one case (0.5)", 0.5),
    )
    words = [word.strip() for word in options.only.split(",")]
    every = [Case(*sizes) for sizes in itertools.product(ROWS, KEYS, HEADS, HEAD_DIMS)]
    chosen = [Case(3, 100, 2, 16)] if options.cpu else [c for c in every if any(word in c.name for word in words)]
    kernels, stopwatch = report.flash_attn2(), Stopwatch(options.device)
    kernels.flash_attention2_forward.tables.clear()
    rows, faults, started = [], [], time.perf_counter()
    for case in chosen:
        given = inputs(case, torch.float32 if options.cpu else torch.bfloat16, options.device)
        runs = dict(contenders(kernels, case, given))
        errors = {name: report.relative_error(run(), expected(*given)) for name, run in runs.items()}
        faults += [f"{case.name}: {name} is wrong by {e:.1e}" for name, e in errors.items() if not e <= LIMIT]
        times = stopwatch.turns(runs, options.seconds)
        rows.append([*_cells(case, times, errors), _configuration(kernels)])
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    print(report.section("Speed of attention of few queries", options.device))
    print(_explanation(time.perf_counter() - started))
    print(report.table(_head(), rows))
    print("".join(f"- FAULT: {fault}\n" for fault in faults), end="")
    return 1 if faults else 0


# ---- contenders -----------------------------------------------------------------------------------------------------


def inputs(case: Case, dtype: torch.dtype, device: str) -> tuple[Tensor, Tensor, Tensor]:
    """Random q, k and v, each `[1, BH, N, D]`."""
    generator = torch.Generator(device).manual_seed(case.keys)
    q = report.normal((1, case.heads, case.rows, case.d), dtype, generator)
    k, v = (report.normal((1, case.heads, case.keys, case.d), dtype, generator) for _ in range(2))
    return q, k, v


def expected(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The attention in float64, head by head."""
    heads = zip(*(x[0] for x in (q, k, v)), strict=True)
    found = [(a.double() @ b.double().mT * a.shape[-1] ** -0.5).softmax(-1) @ c.double() for a, b, c in heads]
    return torch.stack(found)[None]


def contenders(
    kernels: ModuleType, case: Case, given: tuple[Tensor, Tensor, Tensor]
) -> Iterator[tuple[str, Callable[[], Tensor]]]:
    """Functions that give the attention, each of which ran once."""
    yield WHOLE, ours(kernels, case, given, SPLIT=1)
    yield SHARED, ours(kernels, case, given, **({"SPLIT": 3} if given[0].device.type == "cpu" else {}))
    for name in BACK_ENDS:
        run = by_torch(name, given)
        if run is not None:
            yield name, run


def ours(kernels: ModuleType, case: Case, given: tuple[Tensor, Tensor, Tensor], **named: int) -> Callable[[], Tensor]:
    """The bundled forward kernel, with a grid of the source and what a launch says by name."""
    q, k, v = given
    o, log_sum = report.poisoned(q.shape, q), report.poisoned(q.shape[:3], q, torch.float32)
    launch = kernels.flash_attention2_forward[(case.rows, case.heads)]

    def run() -> Tensor:
        launch(q, k, v, o, log_sum, case.rows, case.keys, case.d**-0.5, HEAD_DIM=case.d, **named)
        return o

    run()
    return run


def by_torch(name: str, given: tuple[Tensor, Tensor, Tensor]) -> Callable[[], Tensor] | None:
    """One back end of `scaled_dot_product_attention`; None where it refuses the case."""

    def run() -> Tensor:
        with sdpa_kernel(BACK_ENDS[name]):
            return torch.nn.functional.scaled_dot_product_attention(*given)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the reasons why each back end refuses
            run()
    except RuntimeError as error:
        print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
        return None
    return run


# ---- the table ------------------------------------------------------------------------------------------------------


def _head() -> list[str]:
    names = (SHARED, WHOLE, *BACK_ENDS)
    ratios = [f"of {name}" for name in (WHOLE, *BACK_ENDS)]
    errors = [f"error of {name}" for name in names]
    return ["rows", "keys", "BH", "D", *[f"{n} µs" for n in names], "TB/s", *ratios, "spread", *errors, "shared in"]


def _cells(case: Case, times: Times, errors: Mapping[str, float]) -> list[str]:
    """Medians of all, and how fast we are beside each."""
    names, mine = (SHARED, WHOLE, *BACK_ENDS), times[SHARED]
    medians = [f"{statistics.median(times[n]) * 1e3:.4g}" if n in times else "–" for n in names]
    ratios = [f"{ratio(mine, times[n]):.3f}" if n in times else "–" for n in names[1:]]
    speed = case.bytes / statistics.median(mine) / 1e9
    sizes = [str(size) for size in (case.rows, case.keys, case.heads, case.d)]
    wrong = [f"{errors[n]:.1e}" if n in errors else "–" for n in names]
    return [*sizes, *medians, f"{speed:.3g}", *ratios, f"{spread(mine):.1%}", *wrong]


def _configuration(kernels: ModuleType) -> str:
    """What the last launch that may share a loop took."""
    chosen = kernels.flash_attention2_forward.chosen()
    last = [config for kind, config in chosen.items() if "SPLIT" not in dict(kind[2])]
    return ", ".join(f"{name} {value}" for name, value in ((last or [None])[-1] or {}).items()) or "as written"


def _explanation(seconds: float) -> str:
    return (
        "Attention forward, not causal, bf16. “shared” is ours with what the tuner took, “whole” ours without parts of"
        " loops; “of” a contender is its time over that of “shared”.\nTB/s are of keys and values, read once. Medians"
        f" of rounds in which the contenders took turns, {seconds:.0f} s in all; “spread” is that of “shared”.\n"
    )


if __name__ == "__main__":
    sys.exit(main())
