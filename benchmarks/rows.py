"""How fast the bundled kernels of matrices and rows are, beside cuBLAS, torch.compile and a copy, in the same run.

    python benchmarks/rows.py [--only WORD] [--seconds S] [--cpu]

The contenders of a case take turns (see `stopwatch.py`); results are compared before anything is timed. Prints a
section for RESULTS.md, and each row to standard error as soon as it is there; the exit status is 1 where one disagrees.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import report
import torch
from stopwatch import Stopwatch, ratio, spread
from torch import Tensor
from torch.nn import functional

OURS = "teenyc"
MATRICES = [(4096, 4096, 4096), (8192, 8192, 8192), (1024, 1024, 1024), (4096, 4096, 1000)]
ROWS = [(16384, 1024), (8192, 4096), (8192, 781)]
CLASSES = [(8192, 32000), (4096, 128256)]
BOUND = 2e-2


@dataclass(frozen=True)
class Case:
    """What is computed, how much work it is, and by whom: each a function that returns its result."""

    name: str
    amount: float
    unit: str
    contenders: Mapping[str, Callable[[], Tensor]]


def main() -> int:
    options = report.arguments(
        __doc__, only=("a word that the name of a case must hold", ""), seconds=("how long to time one case (1)", 1.0)
    )
    stopwatch, rows, faults = Stopwatch(options.device), [], []
    for case in cases(options.device, is_tiny=options.cpu):
        if options.only not in case.name:
            continue
        results = {name: run() for name, run in case.contenders.items()}
        for name in results.keys() - {OURS, "copy"}:
            error = report.relative_error(results[OURS].float(), results[name].double())
            faults += [f"{case.name} differs from {name} by {error:.1e}"] if not error <= BOUND else []
        times = stopwatch.turns(case.contenders, options.seconds)
        speeds = {name: f"{case.amount / statistics.median(t) / 1e9:.3g} {case.unit}" for name, t in times.items()}
        ratios = [f"{ratio(times[OURS], times[n]):.3f} of {n} ({speeds[n]})" for n in times if n != OURS]
        rows.append(
            [
                case.name,
                f"{statistics.median(times[OURS]):.3g}",
                speeds[OURS],
                "; ".join(ratios),
                f"{spread(times[OURS]):.1%}",
            ]
        )
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    print(report.section("Speed of matrices and rows", options.device))
    print(report.table(["case", "ms", "speed", "beside", "spread"], rows))
    print("".join(f"- FAULT: {fault}\n" for fault in faults), end="")
    return 1 if faults else 0


def cases(device: str, *, is_tiny: bool) -> Iterator[Case]:
    """All that is measured, made one after another."""
    dtype = torch.float32 if is_tiny else torch.bfloat16
    for sizes in [(20, 30, 40)] if is_tiny else MATRICES:
        yield products(*sizes, dtype, device)
    yield products(*((20, 30, 40) if is_tiny else MATRICES[0]), torch.float16, device)
    for shape in [(3, 50)] if is_tiny else ROWS:
        yield softmaxes(*shape, dtype, device)
        yield norms(*shape, dtype, device)
    for shape in [(3, 50)] if is_tiny else CLASSES:
        yield entropies(*shape, dtype, device)


def products(m: int, n: int, k: int, dtype: torch.dtype, device: str) -> Case:
    a, b = torch.randn(m, k, device=device).to(dtype), torch.randn(k, n, device=device).to(dtype)
    c, expected = report.poisoned((m, n), a), a.new_empty(m, n)
    launch = report.bundled("matmul").Matmul()[(m, n)]

    def ours() -> Tensor:
        launch(a, b, c, m, n, k)
        return c

    name = f"matmul {report.name_of(dtype)} {m}×{n}×{k}"
    return Case(name, 2 * m * n * k, "TFLOP/s", {OURS: ours, "cuBLAS": lambda: torch.mm(a, b, out=expected)})


def softmaxes(rows: int, n: int, dtype: torch.dtype, device: str) -> Case:
    x = torch.randn(rows, n, device=device).to(dtype)
    y = report.poisoned(x.shape, x)
    launch = report.bundled("softmax").Softmax(n=n)[(rows,)]

    def ours() -> Tensor:
        launch(x, y, rows)
        return y

    peer = _compiled(lambda x: functional.softmax(x, 1), device)
    return _row_case(f"softmax {report.name_of(dtype)} {rows}×{n}", x, {OURS: ours, "torch.compile": lambda: peer(x)})


def norms(rows: int, n: int, dtype: torch.dtype, device: str) -> Case:
    x, weight, bias = (torch.randn(*shape, device=device).to(dtype) for shape in ((rows, n), (n,), (n,)))
    y = report.poisoned(x.shape, x)
    mean, rstd = (report.poisoned((rows,), x, torch.float32) for _ in range(2))
    launch = report.bundled("layer_norm").LayerNorm(n=n)[(rows,)]

    def ours() -> Tensor:
        launch(x, weight, bias, y, mean, rstd, rows, 1e-5)
        return y

    peer = _compiled(lambda x, w, b: functional.layer_norm(x, [n], w, b), device)
    name = f"layer norm {report.name_of(dtype)} {rows}×{n}"
    return _row_case(name, x, {OURS: ours, "torch.compile": lambda: peer(x, weight, bias)})


def entropies(rows: int, classes: int, dtype: torch.dtype, device: str) -> Case:
    x = torch.randn(rows, classes, device=device).to(dtype)
    target = torch.randint(classes, (rows,), device=device)
    loss, log_sum = (report.poisoned((rows,), x, torch.float32) for _ in range(2))
    launch = report.bundled("cross_entropy").CrossEntropy()[(rows,)]

    def ours() -> Tensor:
        launch(x, target, loss, log_sum, rows, classes)
        return loss

    peer = _compiled(lambda x, t: functional.cross_entropy(x.float(), t, reduction="none"), device)
    name = f"cross entropy {report.name_of(dtype)} {rows}×{classes}"
    contenders = {OURS: ours, "torch.compile": lambda: peer(x, target)}
    return Case(name, x.nbytes, "TB/s", contenders)


def _row_case(name: str, x: Tensor, contenders: Mapping[str, Callable[[], Tensor]]) -> Case:
    """A case that reads and writes a matrix once, beside a copy of it."""
    copy = torch.empty_like(x)
    return Case(name, 2 * x.nbytes, "TB/s", {**contenders, "copy": lambda: copy.copy_(x)})


def _compiled(function: Callable[..., Tensor], device: str) -> Callable[..., Tensor]:
    """The function by torch.compile, as it is on a CPU, where only the script is tried."""
    torch._dynamo.reset()
    return torch.compile(function, dynamic=False) if device == "cuda" else function


if __name__ == "__main__":
    sys.exit(main())
