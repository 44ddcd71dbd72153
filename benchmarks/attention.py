"""How fast attention is, forward and backward, beside torch's flash and cuDNN back ends in the same run.

    python benchmarks/attention.py [--only WORDS] [--seconds S] [--reference FILE] [--seed FILE] [--cpu]

`--only` takes the cases whose name holds one of the words, such as `full,bf16 causal`; all without it. `--reference`
names a file of kernels that were blocked by hand (see `by_hand.py`): one more contender. `--seed` names the Rust file
of the three kernels as first written: it is compared with itself, in blocks and as written.

The contenders of a case take turns, so that what happens to the machine happens to all of them; a row shows medians.
Each launch is timed by events on the GPU, after the L2 cache was overwritten, and behind a pause that lets the CPU run
ahead: the time to launch is not in it. Results are compared before anything is timed. Prints a section for RESULTS.md,
and each row to standard error as soon as it is there; the exit status is 1 where a contender disagrees.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

import report
import torch
from contenders import BACK_ENDS, Contender, blocked_by_hand, by_torch, inputs, ours, seed
from stopwatch import Stopwatch, Times, ratio, spread

OURS, BY_HAND, WRITTEN = "teenyc", "by hand", "as written"
HEADS, TINY_HEADS = (4, 16), (1, 2)
DISAGREEMENT = 2e-2
PASSES = {"forward": 1.0, "backward": 2.5}
"""How many times the FLOPs of two products of matrices each pass is said to need."""


@dataclass(frozen=True)
class Case:
    """As many queries as keys, `n` of them in each head, of `d` numbers; `kind` is full, causal, odd or seed."""

    kind: str
    dtype: torch.dtype
    n: int
    d: int

    @property
    def name(self) -> str:
        return f"{report.name_of(self.dtype)} {self.kind} {self.n} {self.d}"

    @property
    def is_causal(self) -> bool:
        return self.kind == "causal"


def cases() -> Iterator[Case]:
    """What is measured, in order."""
    for dtype in (torch.bfloat16, torch.float16):
        for kind in ("full", "causal"):
            for n in (4096, 16384):
                yield from (Case(kind, dtype, n, d) for d in (64, 128))
    for n in (64, 77, 1000, 1024, 4097):
        yield Case("odd", torch.bfloat16, n, 64)
    for d in (80, 96):
        yield Case("odd", torch.bfloat16, 4096, d)
    yield Case("seed", torch.bfloat16, 4096, 64)


def main() -> int:
    options = report.arguments(
        __doc__,
        only=("words, separated by commas, of which a case's name must hold one", ""),
        seconds=("how long to time one pass of one case (1)", 1.0),
        reference=("a file of kernels that were blocked by hand, on a GPU", ""),
        seed=("the Rust file of the kernels as first written", ""),
    )
    words = [word.strip() for word in options.only.split(",")]
    chosen = [Case("full", torch.float32, 8, 16)] if options.cpu else list(cases())
    chosen = [case for case in chosen if any(word in case.name for word in words)]
    field, stopwatch = Field(options.reference, options.seed, options.device), Stopwatch(options.device)
    rows, faults, started = [], [], time.perf_counter()
    for case in chosen:
        found = field.contenders(case, TINY_HEADS if options.cpu else HEADS)
        faults += [f"{case.name}: {words}" for words in disagreements(found)]
        for direction in PASSES if found else ():
            times = stopwatch.turns({n: c.passes[direction] for n, c in found.items()}, options.seconds)
            rows.append(
                [report.name_of(case.dtype), case.kind, case.n, case.d, direction, *_cells(case, direction, times)]
            )
            print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    print(report.section("Speed of attention", options.device))
    print(_explanation(time.perf_counter() - started))
    print(report.table(_head(), rows))
    print("".join(f"- {line}\n" for line in field.configurations()))
    print("".join(f"- FAULT: {fault}\n" for fault in faults), end="")
    return 1 if faults else 0


# ---- contenders -----------------------------------------------------------------------------------------------------


class Field:
    """The modules of kernels, each loaded once."""

    def __init__(self, reference: str, seed: str, device: str) -> None:
        import by_hand

        self.device = device
        self.reference = by_hand.load(reference) if reference else None
        self.full, self.causal = report.bundled("flash_attn2"), report.bundled("flash_attn2_causal")
        self.seed = [_loaded(seed, tile=tile) for tile in (True, False)] if seed else []

    def contenders(self, case: Case, heads: tuple[int, int]) -> dict[str, Contender]:
        """Ours and the others that take the case, on the same inputs; each ran once."""
        given = inputs((*heads, case.n, case.d), case.dtype, self.device)
        if case.kind == "seed":
            names = (OURS, WRITTEN)
            return {name: seed(kernels, *given) for name, kernels in zip(names, self.seed, strict=False)}
        found = {OURS: ours(self.causal if case.is_causal else self.full, *given)}
        if self.reference is not None and case.kind == "full":
            found[BY_HAND] = blocked_by_hand(self.reference, *given)
        by_torchs = {name: by_torch(name, case.is_causal, *given) for name in BACK_ENDS}
        return {**found, **{name: contender for name, contender in by_torchs.items() if contender is not None}}

    def configurations(self) -> Iterator[str]:
        """What our launchers chose, by kernel, dtype, constants and sizes."""
        for kernels in (self.full, self.causal):
            for name in kernels.TEENYC["kernels"]:
                for kind, config in getattr(kernels, name).chosen().items():
                    words = ", ".join(f"{key} {value}" for key, value in (config or {}).items()) or "as written"
                    yield f"`{name}`, {report.name_of(kind[1][0])}, {dict(kind[2])}, sizes {list(kind[3])}: {words}"


def _loaded(path: str, *, tile: bool) -> ModuleType:
    import teenyc

    return teenyc.load(path, tile=tile)


def disagreements(found: Mapping[str, Contender]) -> list[str]:
    """What differs between our results and those of the others by more than two roundings explain."""
    words = []
    for name in found.keys() - {OURS}:
        parts = zip(("o", "dq", "dk", "dv"), found[OURS].results, found[name].results, strict=True)
        for part, got, expected in parts:
            error = report.relative_error(got, expected.double())
            if not error <= DISAGREEMENT:
                words.append(f"{part} differs from that of {name} by {error:.1e}")
    return words


# ---- the table ------------------------------------------------------------------------------------------------------


def _head() -> list[str]:
    peers = [BY_HAND, *BACK_ENDS]
    speeds = [f"{name} TFLOP/s" for name in (OURS, *peers)]
    ratios = [f"of {name}" for name in (*peers, WRITTEN)]
    return ["dtype", "kind", "N", "D", "pass", f"{OURS} ms", *speeds, *ratios, "spread", "rounds"]


def _cells(case: Case, direction: str, times: Times) -> list[str]:
    """Our median, the speed of everybody, and how fast we are beside each peer."""
    mine, peers = times[OURS], (BY_HAND, *BACK_ENDS)
    heads = HEADS[0] * HEADS[1]
    flops = 4 * heads * case.n**2 * case.d * PASSES[direction] / (2 if case.is_causal else 1)
    speeds = [_speed(flops, times[name]) if name in times else "–" for name in (OURS, *peers)]
    ratios = [f"{ratio(mine, times[name]):.3f}" if name in times else "–" for name in (*peers, WRITTEN)]
    return [f"{statistics.median(mine):.3g}", *speeds, *ratios, f"{spread(mine):.1%}", str(len(mine))]


def _speed(flops: float, times: Sequence[float]) -> str:
    return f"{flops / statistics.median(times) / 1e9:.3g}"


def _explanation(seconds: float) -> str:
    return (
        f"B × H = {HEADS[0]} × {HEADS[1]}, as many keys as queries. FLOPs are 4·BH·N²·D forward, half of that where"
        " causal, and 2.5 times that backward;\nbackward is both kernels, dQ and dK/dV. Medians of rounds in which the"
        f" contenders took turns, {seconds:.0f} s in all;\n“spread” is that of our times, (slowest − fastest) / median."
        " “seed” is the Rust file of the kernels as first written, in blocks.\n"
    )


if __name__ == "__main__":
    sys.exit(main())
