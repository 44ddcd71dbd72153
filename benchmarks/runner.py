"""How fast the CPU runner is, beside Triton's interpreter on the same arrays in the same run.

    python benchmarks/runner.py

The limit is 20 times faster, in seconds of processor time. The interpreter runs the generated modules; of the attention
it is given a part of the programs, all of which do the same work, and its time is that of all by proportion. Both must
write the same.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import torch
import triton

import teenyc
from teenyc.runtime.files import decode
from teenyc.runtime.run import checked, run_checked

ATTENTION = Path(__file__).parent.parent / "kernels" / "flash_attn2.tk"
BH, ROWS, D = 8, 256, 64
SHARE = 32
"""The interpreter runs one in so many rows of the attention."""

ELEMENTWISE = """
#[kernel]
fn elementwise<D: Float, const BLOCK: i32>(x: Pointer<D>, y: Pointer<D>, out: Pointer<D>, n: i32) {
    let at = program_id(0) * BLOCK + arange(0, BLOCK);
    let inside = at < n;
    let a = load(x + at, mask = inside, other = 0.0);
    let b = load(y + at, mask = inside, other = 0.0);
    store(out + at, a * b + exp(a), mask = inside);
}
"""
COUNT, BLOCK = 1 << 20, 1024


def main() -> None:
    print(
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({platform.machine()}), Python "
        f"{platform.python_version()}, NumPy {np.__version__}, Triton {triton.__version__}"
    )
    print()
    print("| kernel | dtype | runner | Triton's interpreter | times faster |")
    print("|---|---|---|---|---|")
    for dtype in (torch.float32, torch.float16):
        row("flash_attn2 forward [8, 256, 64]", dtype, *attention(dtype))
        row("element-wise, 1,048,576 elements", dtype, *elementwise(dtype))


def row(name: str, dtype: torch.dtype, runner: float, interpreter: float) -> None:
    kind = str(dtype).removeprefix("torch.")
    print(f"| {name} | {kind} | {runner * 1e3:,.0f} ms | {interpreter:,.2f} s | {interpreter / runner:,.0f} |")


def attention(dtype: torch.dtype) -> tuple[float, float]:
    """Seconds of the runner and of the interpreter."""
    q, k, v = (torch.randn(BH, ROWS, D).to(dtype) for _ in range(3))
    given = {"q_ptr": q, "k_ptr": k, "v_ptr": v, "softmax_scale": D**-0.5}
    outputs = [{"o_ptr": torch.zeros_like(q), "l_ptr": torch.zeros(BH, ROWS)} for _ in range(2)]
    runner = timed_runner(ATTENTION, "flash_attention2_forward", (ROWS, BH), {**given, **outputs[0]}, {"HEAD_DIM": D})
    kernel = teenyc.load(ATTENTION, tile=False).flash_attention2_forward
    few = (ROWS // SHARE, BH)
    arguments = {**given, **outputs[1], "n_ctx_q": ROWS, "n_ctx_k": ROWS}
    interpreter = SHARE * timed(lambda: kernel[few](**arguments, HEAD_DIM=D))
    part = slice(0, ROWS // SHARE)
    torch.testing.assert_close(outputs[0]["o_ptr"][:, part], outputs[1]["o_ptr"][:, part], rtol=2e-3, atol=1e-4)
    return runner, interpreter


def elementwise(dtype: torch.dtype) -> tuple[float, float]:
    x, y = (torch.randn(COUNT).to(dtype) for _ in range(2))
    outputs = [torch.zeros_like(x) for _ in range(2)]
    grid = (COUNT // BLOCK,)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "elementwise.tk"
        path.write_text(ELEMENTWISE, encoding="utf-8")
        given = {"x": x, "y": y, "n": COUNT}
        runner = timed_runner(path, "elementwise", grid, {**given, "out": outputs[0]}, {"BLOCK": BLOCK})
        kernel = teenyc.load(path).elementwise
        interpreter = timed(lambda: kernel[grid](**given, out=outputs[1], BLOCK=BLOCK))
    torch.testing.assert_close(outputs[0], outputs[1], rtol=2e-3, atol=1e-5)
    return runner, interpreter


def timed_runner(path: Path, name: str, grid: Any, arguments: dict[str, Any], constants: dict[str, int]) -> float:
    """The fastest of three runs of a source that is checked already."""
    source = decode(path.read_bytes(), path.name)
    compiled = checked(source, constants, {})
    return min(timed(lambda: run_checked(compiled, name, grid, arguments, constants)) for _ in range(3))


def timed(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


if __name__ == "__main__":
    main()
