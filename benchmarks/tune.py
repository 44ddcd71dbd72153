"""Times the configurations of the bundled kernels, and writes the table of the fastest that is shipped with them.

    python benchmarks/tune.py [--cpu]

Needs a GPU, of which the table then is; rows of other devices stay. `--cpu` tries the script and writes nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import report
import torch

DTYPES = (torch.bfloat16, torch.float16, torch.float32)
HEAD_DIMS = (64, 128, 80, 96, 32, 256)
SIZES = ((64, 1024), (64, 4096), (64, 16384), (16, 256), (64, 64))
"""How many heads, and rows of each."""


def main() -> int:
    options = report.arguments(__doc__)
    kernels = report.flash_attn2()
    names = list(kernels.TEENYC["kernels"])
    for name in names:
        getattr(kernels, name).tables.clear()
    sizes, head_dims = (((1, 8),), (16,)) if options.cpu else (SIZES, HEAD_DIMS)
    for dtype in DTYPES:
        for head_dim in head_dims:
            for heads, rows in sizes:
                run(kernels, dtype, options.device, heads, rows, head_dim)
                print(f"{report.name_of(dtype)}, D {head_dim}, {heads} × {rows}", file=sys.stderr)
    if not options.cpu:
        write(kernels, names)
    return 0


def run(kernels: ModuleType, dtype: torch.dtype, device: str, heads: int, rows: int, head_dim: int) -> None:
    """Launches each kernel once, which times its configurations."""
    q, k, v, o, do, dq, dk, dv = (torch.randn(heads, rows, head_dim, device=device).to(dtype) for _ in range(8))
    log_sum = torch.zeros(heads, rows, device=device)
    op, scale = kernels.FlashAttention2Op(head_dim=head_dim), head_dim**-0.5
    op.forward[(rows, heads)](q, k, v, o, log_sum, rows, rows, scale)
    op.backward_dq[(rows, heads)](q, k, v, o, do, log_sum, dq, rows, rows, scale)
    op.backward_dkv[(rows, heads)](q, k, v, o, do, log_sum, dk, dv, rows, rows, scale)


def write(kernels: ModuleType, names: list[str]) -> None:
    """Writes the table beside the source."""
    from teenyc.resources import kernels_directory
    from teenyc.runtime.tables import table_path, table_text

    path = Path(table_path(kernels_directory() / "flash_attn2.tk"))
    table: dict[str, Any] = json.loads(table_text(kernels, names))
    devices = {row["device"] for row in table["rows"]}
    old = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    rows = [*table["rows"], *(row for row in old if row["device"] not in devices)]
    lines = sorted(json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text(f'{{"format": {table["format"]}, "rows": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")
    print(f"wrote {path}: {len(rows)} rows")


if __name__ == "__main__":
    sys.exit(main())
