"""What the order of programs is worth: groups of blocks in products of matrices, the longest rows first in attention.

    python benchmarks/order.py [--only WORD] [--seconds S] [--cpu]

`--only` takes the cases whose name holds the word, such as `matmul` or `bh8`. The bundled product of matrices runs with
groups of 1, which is the order of the grid, 4, 8 and 16 blocks, each in the configuration that its launcher finds; the
bundled causal attention as it is, and with its programs in the order of the grid, in the same configurations.

The contenders of a case take turns (see `stopwatch.py`); results are compared before anything is timed. Prints a
section for RESULTS.md, and each row to standard error as soon as it is there; the exit status is 1 where one disagrees.
"""

from __future__ import annotations

import importlib.util
import itertools
import statistics
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import report
import torch
from contenders import inputs, ours
from stopwatch import Stopwatch, Times, ratio
from torch import Tensor

GROUPS = (1, 4, 8, 16)
MATRICES = [(size,) * 3 for size in (1024, 2048, 4096, 8192)] + [(4096, 16384, 4096)]
HEADS = [(4, 16), (1, 8)]
ROWS, WIDTHS = (4096, 16384), (64, 128)
GRID, LONGEST = "grid", "longest first"
FROM_LAST = "tl.num_programs(0) - 1 - tl.program_id(0)"
BOUND = 2e-2


@dataclass(frozen=True)
class Case:
    """What is computed, how many FLOPs it is, and by whom; the first contender runs in the order of the grid.

    `results` are what all contenders must agree on, by the same names.
    """

    name: str
    amount: float
    contenders: Mapping[str, Callable[[], object]]
    results: Mapping[str, Sequence[Tensor]]


def main() -> int:
    options = report.arguments(
        __doc__, only=("a word that the name of a case must hold", ""), seconds=("how long to time one case (1)", 1.0)
    )
    products, attention = report.bundled("matmul"), Attention()
    stopwatch, rows, faults = Stopwatch(options.device), [], []
    for case in itertools.chain(matrices(products, options), attention.cases(options)):
        faults += disagreements(case)
        rows.append(row(case, stopwatch.turns(case.contenders, options.seconds)))
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    print(report.section("Order of programs", options.device))
    print(report.table(["case", "TFLOP/s in the order of the grid", "beside that"], rows))
    for kernels in (products, *attention.modules.values()):
        print("".join(f"- {line}\n" for line in configurations(kernels)), end="")
    print("".join(f"- FAULT: {fault}\n" for fault in faults), end="")
    return 1 if faults else 0


def row(case: Case, times: Times) -> list[str]:
    """The speed of the first contender, and how fast the others are beside it."""
    first, *others = times
    speeds = {name: case.amount / statistics.median(t) / 1e9 for name, t in times.items()}
    beside = (f"{name} {ratio(times[name], times[first]):.3f} ({speeds[name]:.3g})" for name in others)
    return [case.name, f"{speeds[first]:.3g}", "; ".join(beside)]


def disagreements(case: Case) -> Iterator[str]:
    """What differs between the first contender and others by more than two roundings explain."""
    first, *others = case.results.values()
    for name, results in zip(list(case.results)[1:], others, strict=True):
        for n, (got, expected) in enumerate(zip(results, first, strict=True)):
            error = report.relative_error(got, expected.double())
            if not error <= BOUND:
                yield f"{case.name}, {name}: result {n} differs by {error:.1e}"


def configurations(kernels: ModuleType) -> Iterator[str]:
    """What the launchers of a module chose, by kernel, what the launch named, and sizes."""
    for name in kernels.TEENYC["kernels"]:
        for kind, config in getattr(kernels, name).chosen().items():
            words = ", ".join(f"{key} {value}" for key, value in (config or {}).items()) or "as written"
            yield f"`{name}`, {dict(kind[2])}, sizes {list(kind[3])}: {words}"


# ---- products of matrices -------------------------------------------------------------------------------------------


def matrices(kernels: ModuleType, options: Namespace) -> Iterator[Case]:
    """All sizes, made one after another."""
    dtype = torch.float32 if options.cpu else torch.bfloat16
    for sizes in [(40, 150, 20)] if options.cpu else MATRICES:
        name = f"matmul {'×'.join(map(str, sizes))}"
        if options.only in name:
            yield product(kernels, name, *sizes, dtype, options.device)


def product(kernels: ModuleType, name: str, m: int, n: int, k: int, dtype: torch.dtype, device: str) -> Case:
    a, b = torch.randn(m, k, device=device).to(dtype), torch.randn(k, n, device=device).to(dtype)
    contenders: dict[str, Callable[[], object]] = {}
    results: dict[str, list[Tensor]] = {}
    for group in GROUPS:
        c = report.poisoned((m, n), a)
        contenders[f"groups of {group}"] = lambda c=c, g=group: kernels.matmul[m, n](a, b, c, m, n, k, GROUP_N=g)
        results[f"groups of {group}"] = [c]
    c = a.new_empty(m, n)
    contenders["cuBLAS"], results["cuBLAS"] = lambda: torch.mm(a, b, out=c), [c]
    for run in contenders.values():
        run()
    return Case(name, 2 * m * n * k, contenders, results)


# ---- attention ------------------------------------------------------------------------------------------------------


class Attention:
    """The bundled causal attention, and the same with its programs in the order of the grid."""

    def __init__(self) -> None:
        self.modules = {GRID: in_the_order_of_the_grid(), LONGEST: report.bundled("flash_attn2_causal")}

    def cases(self, options: Namespace) -> Iterator[Case]:
        """Both passes of all shapes."""
        shapes = [(*heads, n, d) for heads in HEADS for n in ROWS for d in WIDTHS]
        for shape in [(1, 2, 40, 16)] if options.cpu else shapes:
            batch, heads, n, d = shape
            names = {p: f"causal {p} bh{batch * heads} {n}×{d}" for p in ("forward", "backward")}
            if any(options.only in name for name in names.values()):
                yield from self.passes(shape, names, options)

    def passes(self, shape: tuple[int, int, int, int], names: Mapping[str, str], options: Namespace) -> Iterator[Case]:
        batch, heads, n, d = shape
        given = inputs(shape, torch.float32 if options.cpu else torch.bfloat16, options.device)
        found = {name: ours(kernels, *given) for name, kernels in self.modules.items()}
        results = {name: each.results for name, each in found.items()}
        for direction, factor in (("forward", 2.0), ("backward", 5.0)):  # half of the products count
            if options.only in names[direction]:
                runs = {name: each.passes[direction] for name, each in found.items()}
                yield Case(names[direction], factor * batch * heads * n * n * d, runs, results)


def in_the_order_of_the_grid() -> ModuleType:
    """The causal kernels as they were generated, but for the index that counts from the last program."""
    import teenyc
    from teenyc.resources import kernels_directory
    from teenyc.runtime import tables

    path = kernels_directory() / "flash_attn2_causal.tk"
    text = teenyc.compile_source(path.read_text(encoding="utf-8"), name=path.name).source
    assert text is not None, "bundled kernels compile"
    assert FROM_LAST in text, "the longest rows come first"
    copy = Path(tempfile.mkdtemp()) / "in_the_order_of_the_grid.py"  # kept: Triton reads the source of a kernel
    copy.write_text(text.replace(FROM_LAST, "tl.program_id(0)"), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(copy.stem, copy)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tables.attach(module, path)
    return module


if __name__ == "__main__":
    sys.exit(main())
