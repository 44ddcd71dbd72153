"""How fast attention is, forward and backward, beside torch's flash and cuDNN back ends in the same run.

    python benchmarks/attention.py [--seconds S] [--reference FILE] [--cpu]

`--reference` names a file of kernels that were blocked by hand (see `by_hand.py`): one more contender.

The contenders of a case take turns, so that what happens to the machine happens to all of them; a row shows medians.
Each launch is timed by events on the GPU, after the L2 cache was overwritten, and behind a pause that lets the CPU run
ahead: the time to launch is not in it. Results are compared before anything is timed. Prints a section for RESULTS.md;
the exit status is 1 where a contender disagrees.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

import report
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

OURS = "teenyc"
BY_HAND = "by hand"
BACK_ENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}
DTYPES = (torch.bfloat16, torch.float16)
HEADS = (4, 16)
SIZES = [(n, d) for n in (4096, 16384) for d in (64, 128)]
TINY_HEADS = (1, 2)
TINY_SIZES = [(8, 16)]
FEWEST, MOST = 5, 50
"""How many rounds of a case are timed, whatever its budget of seconds says."""

DISAGREEMENT = 2e-2
PAUSE = 2_000_000
"""Cycles that the GPU waits before a timed launch, about a millisecond."""


@dataclass(frozen=True)
class Contender:
    """One attention on fixed inputs: what to time, and what it gave (`o`, `dq`, `dk`, `dv`) when it ran once."""

    passes: Mapping[str, Callable[[], object]]
    results: tuple[Tensor, ...]


def main() -> int:
    options = report.arguments(
        __doc__,
        seconds=("how long to time one pass of one case (3)", 3.0),
        reference=("a file of kernels that were blocked by hand, on a GPU", ""),
    )
    sizes, heads = (TINY_SIZES, TINY_HEADS) if options.cpu else (SIZES, HEADS)
    kernels, stopwatch = report.flash_attn2(), Stopwatch(options.device)
    reference = _reference(options.reference)
    peers = [*([BY_HAND] if reference else []), *BACK_ENDS]
    rows, faults, started = [], [], time.perf_counter()
    for dtype in DTYPES:
        for n, d in sizes:
            found = contenders(kernels, reference, (*heads, n, d), dtype, options.device)
            faults += [f"[{n}, {d}] {report.name_of(dtype)}: {words}" for words in disagreements(found)]
            for direction in ("forward", "backward"):
                times = measure(found, direction, stopwatch, options.seconds)
                flops = 4 * heads[0] * heads[1] * n * n * d * (1.0 if direction == "forward" else 2.5)
                rows.append([report.name_of(dtype), n, d, direction, *_cells(times, flops, peers)])
    print(report.section("Speed of attention", options.device))
    print(_explanation(heads, time.perf_counter() - started))
    print(report.table(_head(peers), rows))
    print("".join(f"- {line}\n" for line in _configurations(kernels)))
    print("".join(f"- FAULT: {fault}\n" for fault in faults), end="")
    return 1 if faults else 0


# ---- contenders -----------------------------------------------------------------------------------------------------


def _reference(path: str) -> ModuleType | None:
    """The kernels blocked by hand."""
    if not path:
        return None
    import by_hand

    return by_hand.load(path)


def contenders(
    kernels: ModuleType,
    reference: ModuleType | None,
    shape: tuple[int, int, int, int],
    dtype: torch.dtype,
    device: str,
) -> dict[str, Contender]:
    """Ours, those blocked by hand, and torch's back ends that take the case, on the same inputs; each ran once."""
    generator = torch.Generator(device).manual_seed(sum(shape))
    inputs = [report.normal(shape, dtype, generator) for _ in range(4)]
    found = {OURS: ours(kernels, *inputs)}
    if reference is not None:
        found[BY_HAND] = blocked_by_hand(reference, *inputs)
    for name, back_end in BACK_ENDS.items():
        contender = by_torch(back_end, *inputs)
        found.update({name: contender} if contender else {})
    return found


def ours(kernels: ModuleType, q: Tensor, k: Tensor, v: Tensor, do: Tensor) -> Contender:
    """The three bundled kernels."""
    shape = q.shape
    q, k, v, do = (x.flatten(0, 1) for x in (q, k, v, do))
    bh, n, d = q.shape
    op, scale = kernels.FlashAttention2Op(head_dim=d), d**-0.5
    o, dq, dk, dv = (report.poisoned(q.shape, q) for _ in range(4))
    log_sum = report.poisoned((bh, n), q, torch.float32)

    def forward() -> None:
        op.forward[(n, bh)](q, k, v, o, log_sum, n, n, scale)

    def backward() -> None:
        op.backward_dq[(n, bh)](q, k, v, o, do, log_sum, dq, n, n, scale)
        op.backward_dkv[(n, bh)](q, k, v, o, do, log_sum, dk, dv, n, n, scale)

    forward()
    backward()
    return Contender({"forward": forward, "backward": backward}, tuple(x.view(shape) for x in (o, dq, dk, dv)))


def blocked_by_hand(reference: ModuleType, *inputs: Tensor) -> Contender:
    """The kernels of `--reference`."""
    import by_hand

    passes, results = by_hand.passes(reference, *(x.flatten(0, 1) for x in inputs))
    passes["forward"]()
    passes["backward"]()
    return Contender(passes, tuple(x.view(inputs[0].shape) for x in results))


def by_torch(back_end: SDPBackend, q: Tensor, k: Tensor, v: Tensor, do: Tensor) -> Contender | None:
    """One back end of `scaled_dot_product_attention`; None where it refuses the case."""
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]

    def forward() -> Tensor:
        with sdpa_kernel(back_end):
            return torch.nn.functional.scaled_dot_product_attention(*leaves)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the reasons why each back end refuses
            o = forward()
            gradients = torch.autograd.grad(o, leaves, do, retain_graph=True)
    except RuntimeError as error:
        print(f"{back_end.name}: {str(error).splitlines()[0]}", file=sys.stderr)
        return None
    passes = {"forward": forward, "backward": lambda: torch.autograd.grad(o, leaves, do, retain_graph=True)}
    return Contender(passes, (o.detach(), *gradients))


def disagreements(found: Mapping[str, Contender]) -> list[str]:
    """What differs between our results and those of each back end by more than two roundings explain."""
    words = []
    for name in found.keys() - {OURS}:
        parts = zip(("o", "dq", "dk", "dv"), found[OURS].results, found[name].results, strict=True)
        for part, got, expected in parts:
            error = report.relative_error(got, expected.double())
            if not error <= DISAGREEMENT:
                words.append(f"{part} differs from that of {name} by {error:.1e}")
    return words


# ---- times ----------------------------------------------------------------------------------------------------------


class Stopwatch:
    """Milliseconds of one call: on the GPU between two events, on the CPU by the clock."""

    def __init__(self, device: str) -> None:
        self._events = [torch.cuda.Event(enable_timing=True) for _ in range(2)] if device == "cuda" else []
        self._cache = torch.empty(2**28 if self._events else 0, dtype=torch.int8, device=device)

    def __call__(self, run: Callable[[], object]) -> float:
        if not self._events:
            started = time.perf_counter()
            run()
            return (time.perf_counter() - started) * 1e3
        start, end = self._events
        self._cache.zero_()
        torch.cuda._sleep(PAUSE)
        start.record()
        run()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end))


def measure(
    found: Mapping[str, Contender], direction: str, stopwatch: Stopwatch, seconds: float
) -> dict[str, list[float]]:
    """Milliseconds of every contender in every round, for about so many seconds; a first round does not count."""
    first = sum(stopwatch(contender.passes[direction]) for contender in found.values())
    rounds = min(MOST, max(FEWEST, int(seconds * 1e3 / first)))
    times: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(rounds):
        for name, contender in found.items():
            times[name].append(stopwatch(contender.passes[direction]))
    return times


# ---- the table ------------------------------------------------------------------------------------------------------


def _head(peers: Sequence[str]) -> list[str]:
    speeds = [f"{name} TFLOP/s" for name in (OURS, *peers)]
    return ["dtype", "N", "D", "pass", f"{OURS} ms", *speeds, *(f"of {name}" for name in peers), "spread", "rounds"]


def _cells(times: Mapping[str, list[float]], flops: float, peers: Sequence[str]) -> list[str]:
    """Our median, the speed of everybody, and the median over rounds of how fast we are beside each peer."""
    mine = times[OURS]
    speeds = [
        f"{flops / statistics.median(times[name]) / 1e9:.3g}" if name in times else "n/a" for name in (OURS, *peers)
    ]
    ratios = [_ratio(mine, times[name]) if name in times else "n/a" for name in peers]
    spread = (max(mine) - min(mine)) / statistics.median(mine)
    return [f"{statistics.median(mine):.3g}", *speeds, *ratios, f"{spread:.1%}", str(len(mine))]


def _ratio(mine: list[float], theirs: list[float]) -> str:
    return f"{statistics.median(b / a for a, b in zip(mine, theirs, strict=True)):.4f}"


def _configurations(kernels: ModuleType) -> Iterator[str]:
    """What our launchers chose, by kernel, dtype, constants and sizes."""
    for name in kernels.TEENYC["kernels"]:
        for (_, dtypes, named, sizes), config in getattr(kernels, name).chosen().items():
            words = ", ".join(f"{key} {value}" for key, value in (config or {}).items()) or "as written"
            yield f"`{name}`, {report.name_of(dtypes[0])}, {dict(named)}, sizes {list(sizes)}: {words}"


def _explanation(heads: tuple[int, int], seconds: float) -> str:
    return (
        f"B × H = {heads[0]} × {heads[1]}, as many keys as queries, no mask. FLOPs are 4·BH·N²·D forward and 2.5 times"
        " that backward;\nbackward is both kernels, dQ and dK/dV. Medians of rounds in which the contenders took turns,"
        f" {seconds:.0f} s in all;\n“spread” is that of our times, (slowest − fastest) / median.\n"
    )


if __name__ == "__main__":
    sys.exit(main())
