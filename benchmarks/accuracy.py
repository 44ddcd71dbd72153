"""The error of attention against float64: output, gradients and log-sum-exp, beside torch's own on the same inputs.

    python benchmarks/accuracy.py [--only WORDS] [--cpu]

Prints a section for RESULTS.md. The exit status is 1 where an error is over its bound or, in 16 bits on a GPU, over
that of torch's FlashAttention-2, an element stays unwritten, or the gradients in f64 are not those of finite
differences.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import ModuleType

import report
import torch
from reference import attention
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

BOUNDS = {torch.float32: 1e-5, torch.float64: 1e-12, torch.float16: 2e-3, torch.bfloat16: 1e-2}
"""The greatest relative L2 error of the output and of each gradient, by storage type."""

MARGIN = 1.05
"""An error of 16-bit types is within that of FlashAttention-2 up to this factor: both are sums of random roundings."""

SHAPES = [(2, 16, 1000, 64), (1, 8, 1024, 128), (1, 4, 777, 80)]
TINY_SHAPES = [(1, 2, 9, 16), (1, 1, 6, 32)]
PARTS = ("o", "dq", "dk", "dv")


def main() -> int:
    options = report.arguments(__doc__, only=("dtypes, separated by commas, such as bf16,f16; all without it", ""))
    dtypes = [t for t in BOUNDS if report.name_of(t) in options.only.split(",") or not options.only]
    kernels = report.flash_attn2()
    faults: list[str] = []
    rows = [
        row
        for shape in (TINY_SHAPES if options.cpu else SHAPES)
        for dtype in dtypes
        for row in measure(kernels, shape, dtype, options.device, faults)
    ]
    if not gradients_are_right(options.device):
        faults.append("gradcheck in f64 failed")
    print(report.section("Error against float64 attention", options.device))
    print("Relative L2 norms. Outputs were full of NaN before each run.\n")
    print(report.table(["shape", "dtype", "bound", "computed by", *PARTS, "log-sum-exp"], rows))
    print("".join(f"- FAULT: {fault}\n" for fault in faults) or _ALL_WELL)
    return 1 if faults else 0


_ALL_WELL = "All within the bounds, no element unwritten; `torch.autograd.gradcheck` in f64 passes.\n"


def measure(
    kernels: ModuleType, shape: tuple[int, int, int, int], dtype: torch.dtype, device: str, faults: list[str]
) -> list[list[str]]:
    """The rows of the table for one shape and dtype; what breaks a bound is added to `faults`."""
    generator = torch.Generator(device).manual_seed(math.prod(shape) + list(BOUNDS).index(dtype))
    q, k, v, do = [report.normal(shape, dtype, generator) for _ in range(4)]
    scale = shape[-1] ** -0.5
    expected = attention(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), do.flatten(0, 1), scale)
    ways: dict[str, Callable[..., dict[str, Tensor]]] = {
        "torch": by_torch,
        "Op class": lambda *arguments: by_op(kernels, *arguments),
        "`functional`": by_functional,
    }
    rows, theirs = [], {}
    for way, run in ways.items():
        got = run(q, k, v, do, scale)
        errors = {part: report.relative_error(x, getattr(expected, part)) for part, x in got.items()}
        place = f"{list(shape)} {report.name_of(dtype)} by {way}"
        if run is by_torch:
            theirs = errors
        else:
            faults += [f"{place}: {fault}" for fault in _faults(got, errors, theirs, dtype)]
        cells = [f"{errors[part]:.1e}" if part in errors else "–" for part in (*PARTS, "log_sum")]
        rows.append([str(list(shape)), report.name_of(dtype), f"{BOUNDS[dtype]:.0e}", way, *cells])
    return rows


def _faults(
    got: dict[str, Tensor], errors: dict[str, float], theirs: dict[str, float], dtype: torch.dtype
) -> list[str]:
    """What is wrong with a result. The log-sum-exp is kept in f32 or f64 and has the bound of that type."""
    faults = [f"{report.unwritten(x)} elements of {part} unwritten" for part, x in got.items() if report.unwritten(x)]
    for part, error in errors.items():
        bound = BOUNDS[torch.promote_types(dtype, torch.float32)] if part == "log_sum" else BOUNDS[dtype]
        if not error <= bound:
            faults.append(f"the error of {part} is {error:.1e}, over {bound:.0e}")
        if dtype.itemsize == 2 and got[part].is_cuda and not error <= MARGIN * theirs.get(part, math.inf):
            faults.append(f"the error of {part} is {error:.2e}, that of FlashAttention-2 {theirs[part]:.2e}")
    return faults


# ---- the ways to compute it: `[B, H, N, D]` in, results over `[BH, N, D]` out ---------------------------------------


def by_op(kernels: ModuleType, q: Tensor, k: Tensor, v: Tensor, do: Tensor, scale: float) -> dict[str, Tensor]:
    """The three kernels through the Op class, into outputs full of NaN."""
    q, k, v, do = (x.flatten(0, 1) for x in (q, k, v, do))
    bh, n, d = q.shape
    op = kernels.FlashAttention2Op(head_dim=d)
    o, dq, dk, dv = (report.poisoned(q.shape, q) for _ in range(4))
    log_sum = report.poisoned((bh, n), q, torch.promote_types(q.dtype, torch.float32))
    op.forward[(n, bh)](q, k, v, o, log_sum, n, n, scale)
    op.backward_dq[(n, bh)](q, k, v, o, do, log_sum, dq, n, n, scale)
    op.backward_dkv[(n, bh)](q, k, v, o, do, log_sum, dk, dv, n, n, scale)
    return {"o": o, "dq": dq, "dk": dk, "dv": dv, "log_sum": log_sum}


def by_functional(q: Tensor, k: Tensor, v: Tensor, do: Tensor, scale: float) -> dict[str, Tensor]:
    """The torch operator, while torch fills every new tensor with NaN."""
    from teenyc.functional import flash_attention2

    torch.use_deterministic_algorithms(True, warn_only=True)  # fills what `torch.empty` gives
    try:
        return _with_gradients(flash_attention2, q, k, v, do, scale)
    finally:
        torch.use_deterministic_algorithms(False)


def by_torch(q: Tensor, k: Tensor, v: Tensor, do: Tensor, scale: float) -> dict[str, Tensor]:
    """Torch's own attention: FlashAttention-2 where it takes the type, on a GPU in 16 bits, else any of its kernels."""
    sdpa = torch.nn.functional.scaled_dot_product_attention
    takes_flash = q.is_cuda and q.dtype.itemsize == 2
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION) if takes_flash else nullcontext():
        return _with_gradients(lambda q, k, v, scale: sdpa(q, k, v, scale=scale), q, k, v, do, scale)


def _with_gradients(
    run: Callable[..., Tensor], q: Tensor, k: Tensor, v: Tensor, do: Tensor, scale: float
) -> dict[str, Tensor]:
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    o = run(*leaves, scale)
    results = (o.detach(), *torch.autograd.grad(o, leaves, do))
    return {part: x.flatten(0, 1) for part, x in zip(PARTS, results, strict=True)}


def gradients_are_right(device: str) -> bool:
    """Whether the gradients in f64 are those of finite differences, on a small case with more keys than queries."""
    from teenyc.functional import flash_attention2

    generator = torch.Generator(device).manual_seed(3)
    leaves = tuple(report.normal((2, n, 16), torch.float64, generator).requires_grad_() for n in (3, 5, 5))
    return bool(torch.autograd.gradcheck(flash_attention2, leaves, fast_mode=device == "cpu", raise_exception=False))


if __name__ == "__main__":
    sys.exit(main())
